/*
 * The Worker's environment as settings, checked once: a wrong one is an answer that names it.
 */

import { type BudgetOptions, CanterError } from "canter-search/cloudflare";

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
  readonly TOKENS?: unknown;
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

/** What the holder of a token may see; everything, where nothing is said. */
export interface TokenAccess {
  readonly forcedFilter?: string;
  readonly indexes?: readonly string[];
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
  readonly tokens: ReadonlyMap<string, TokenAccess> | undefined;
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
    tokens: readTokens(env.TOKENS, Object.keys(indexes)),
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

/** Tokens are called by their number: what is wrong with one is told to everybody. */
function readTokens(
  value: unknown,
  open: readonly string[],
): ReadonlyMap<string, TokenAccess> | undefined {
  if (value === undefined || value === "") return undefined;
  const tokens = new Map<string, TokenAccess>();
  for (const [token, access] of Object.entries(record("TOKENS", value))) {
    const refuse = (what: string) => wrong("TOKENS", `has a token ${what} (no. ${tokens.size + 1})`);
    if (token.length < 16) throw refuse("of less than 16 characters");
    tokens.set(token, readAccess(access, open, refuse));
  }
  if (tokens.size === 0) throw wrong("TOKENS", 'is empty; set it to {"token": "forced filter"}');
  return tokens;
}

/** A forced filter by itself, or what the holder of the token may see. */
function readAccess(
  access: unknown,
  open: readonly string[],
  refuse: (what: string) => CanterError,
): TokenAccess {
  if (typeof access === "string") return access === "" ? {} : { forcedFilter: access };
  if (typeof access !== "object" || access === null || Array.isArray(access)) {
    throw refuse('that is given neither a filter nor {"indexes": [...], "forced_filter": "..."}');
  }
  const { indexes, forced_filter: filter, ...rest } = access as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw refuse(`with ${JSON.stringify(unknown)}; there are indexes and forced_filter`);
  }
  if (filter !== undefined && typeof filter !== "string") {
    throw refuse("whose forced_filter is no text");
  }
  if (indexes === undefined) return filter ? { forcedFilter: filter } : {};
  if (!Array.isArray(indexes) || indexes.length === 0) {
    throw refuse("whose indexes are no list of names; leave them out for all");
  }
  const missing = indexes.find((name) => !open.includes(name));
  if (missing !== undefined) {
    throw refuse(`that names the index ${JSON.stringify(missing)}, which INDEXES does not`);
  }
  return { indexes: indexes as string[], ...(filter ? { forcedFilter: filter } : {}) };
}

function texts(name: string, value: unknown): Record<string, string> {
  const entries = record(name, value);
  for (const [key, text] of Object.entries(entries)) {
    if (typeof text !== "string") throw wrong(name, `has no text for ${JSON.stringify(key)}`);
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
  return new CanterError("internal", `the Worker's setting ${name} ${what}`);
}
