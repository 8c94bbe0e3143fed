/*
 * The Worker's environment as settings, checked once: a wrong one is an answer that names it.
 */

import { type BudgetOptions, CanterError } from "canter-search/cloudflare";

import type { AccessSettings } from "./access/access.js";
import type { JwtSettings } from "./access/jwt.js";

/** What `wrangler.jsonc` binds. Vars may come as JSON or as text. */
export interface Env {
  readonly BUCKET?: R2Bucket;
  readonly SELF?: LeafService;
  readonly INDEXES?: unknown;
  readonly PLAN?: unknown;
  readonly MANIFEST_TTL_MS?: unknown;
  readonly BUDGET?: unknown;
  readonly LIMITS?: unknown;
  readonly MAX_LEAVES?: unknown;
  readonly ALLOWED_ORIGINS?: unknown;
  readonly API_KEYS?: unknown;
  readonly JWKS?: unknown;
  readonly JWT_CLAIM?: unknown;
  readonly JWT_ISSUER?: unknown;
  readonly JWT_AUDIENCE?: unknown;
  readonly CACHE_NAMESPACE?: unknown;
  /** `off` keeps nothing, neither in the Cache API nor in memory: for tests. */
  readonly CACHE?: unknown;
}

/** What came of a leaf. A failure is a value: exceptions lose their kind on the way. */
export type LeafResult =
  | { readonly partial: Uint8Array }
  | { readonly kind: CanterError["kind"]; readonly message: string };

/** The entry point `LeafSearch` as its binding shows it. */
export interface LeafService {
  leaf(leaf: Uint8Array): Promise<LeafResult>;
}

/** The settings, checked. */
export interface Settings {
  readonly indexes: Readonly<Record<string, string>>;
  readonly plan: "free" | "paid";
  readonly manifestTtlMs: number;
  readonly budget: BudgetOptions;
  readonly limits: Readonly<Record<string, unknown>>;
  readonly maxLeaves: number;
  readonly allowedOrigins: readonly string[];
  /** Nothing if no token is asked for. */
  readonly access: AccessSettings | undefined;
  readonly usesCache: boolean;
  readonly cacheNamespace: string;
}

/** Names of the budget as the API has them, and as `BudgetOptions` has them. */
const BUDGET_NAMES: Readonly<Record<string, keyof BudgetOptions>> = {
  max_requests: "maxRequests",
  max_bytes: "maxBytes",
  max_waves: "maxWaves",
  max_subrequests: "maxSubrequests",
  deadline_ms: "deadlineMs",
};

/** Reads the environment. Throws a `CanterError` that names the variable. */
export function readSettings(env: Env): Settings {
  const indexes = texts("INDEXES", env.INDEXES);
  if (Object.keys(indexes).length === 0) {
    throw wrong("INDEXES", 'is empty; set it to {"name": "prefix in the bucket"}');
  }
  const plan = env.PLAN ?? "free";
  if (plan !== "free" && plan !== "paid") throw wrong("PLAN", 'is neither "free" nor "paid"');
  return {
    indexes,
    plan,
    manifestTtlMs: count("MANIFEST_TTL_MS", env.MANIFEST_TTL_MS ?? 0),
    budget: readBudget(env.BUDGET),
    limits: record("LIMITS", env.LIMITS),
    maxLeaves: Math.max(count("MAX_LEAVES", env.MAX_LEAVES ?? 1), 1),
    allowedOrigins: String(env.ALLOWED_ORIGINS ?? "")
      .split(",")
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ""),
    access: readAccess(env),
    usesCache: env.CACHE !== "off",
    cacheNamespace: String(env.CACHE_NAMESPACE ?? ""),
  };
}

function readBudget(value: unknown): BudgetOptions {
  const budget: Record<string, number> = {};
  for (const [name, limit] of Object.entries(record("BUDGET", value))) {
    const known = Object.hasOwn(BUDGET_NAMES, name) ? BUDGET_NAMES[name] : undefined;
    if (known === undefined) {
      throw wrong("BUDGET", `has ${name}; there are ${Object.keys(BUDGET_NAMES).join(", ")}`);
    }
    budget[known] = count(`BUDGET.${name}`, limit);
  }
  return budget;
}

/** Where tokens are known from. What it says is read when the first request is checked. */
function readAccess(env: Env): AccessSettings | undefined {
  const keys = text("API_KEYS", env.API_KEYS);
  const jwt = readJwt(env);
  if (keys === undefined && jwt === undefined) return undefined;
  return {
    ...(keys === undefined ? {} : { keys: { setting: "API_KEYS", text: keys } }),
    ...(jwt === undefined ? {} : { jwt }),
  };
}

function readJwt(env: Env): JwtSettings | undefined {
  const claim = text("JWT_CLAIM", env.JWT_CLAIM);
  const issuer = text("JWT_ISSUER", env.JWT_ISSUER);
  const audience = text("JWT_AUDIENCE", env.JWT_AUDIENCE);
  if (env.JWKS === undefined) {
    const others = { JWT_CLAIM: claim, JWT_ISSUER: issuer, JWT_AUDIENCE: audience };
    const given = Object.entries(others).find(([, value]) => value !== undefined);
    if (given !== undefined) throw wrong(given[0], "is of no use without JWKS");
    return undefined;
  }
  return {
    setting: "JWKS",
    keySet: record("JWKS", env.JWKS),
    claim: claim ?? "canter",
    ...(issuer === undefined ? {} : { issuer }),
    ...(audience === undefined ? {} : { audience }),
  };
}

/** An empty one is a mistake: of keys it would let everybody in, or nobody. */
function text(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw wrong(name, "is no text");
  if (value.trim() === "") throw wrong(name, "is empty; leave it out");
  return value;
}

function texts(name: string, value: unknown): Record<string, string> {
  const entries = record(name, value);
  for (const [key, entry] of Object.entries(entries)) {
    if (typeof entry !== "string") throw wrong(name, `has no text for ${JSON.stringify(key)}`);
  }
  return entries as Record<string, string>;
}

function record(name: string, value: unknown): Record<string, unknown> {
  let parsed: unknown = value ?? {};
  if (typeof parsed === "string") {
    try {
      parsed = JSON.parse(parsed === "" ? "{}" : parsed);
    } catch {
      throw wrong(name, "is not JSON");
    }
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw wrong(name, "is not a JSON object");
  }
  return parsed as Record<string, unknown>;
}

function count(name: string, value: unknown): number {
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number === "number" && Number.isSafeInteger(number) && number >= 0) return number;
  throw wrong(name, "is not a whole number");
}

function wrong(name: string, what: string): CanterError {
  return wrongSetting(`${name} ${what}`);
}

/** What is answered until a setting is mended; `problem` begins with its name. */
export function wrongSetting(problem: string): CanterError {
  return new CanterError("internal", `the Worker's setting ${problem}`);
}
