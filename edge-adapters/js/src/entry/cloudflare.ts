/*
 * Cloudflare Workers: an R2 bucket or web servers, the Cache API, and the limits of the free and the paid
 * plan. The guest's modules are imported statically, because Workers compile nothing while they run.
 */

import core from "../../guest/canter-guest.core.wasm";
import core2 from "../../guest/canter-guest.core2.wasm";
import core3 from "../../guest/canter-guest.core3.wasm";
import { cacheApiCache, type CacheLike } from "../cache/cache-api.js";
import type { EntryCache } from "../cache/contract.js";
import { memoryCache } from "../cache/memory.js";
import { namespaceOf } from "../cache/namespace.js";
import { tieredCache } from "../cache/tiered.js";
import { type Canter, createCanter } from "../canter.js";
import { CanterError } from "../errors.js";
import type { BudgetOptions, CanterOptions, FanOutOptions } from "../options.js";
import { SERVING } from "../serving.js";
import { httpStore } from "../store/http.js";
import { type R2BucketLike, r2Store } from "../store/r2.js";

export * from "../index.js";
export { r2Store, SERVING };

/** Settings of `createCloudflareCanter`. */
export interface CloudflareOptions {
  /** Where each index is, by its name: a prefix of `bucket`, or a URL if there is no bucket. */
  readonly indexes: Readonly<Record<string, string>>;
  readonly bucket?: R2BucketLike;
  /** Sets the budgets: 50 sub-requests on `free`, 10,000 on `paid`. */
  readonly plan: "free" | "paid";
  /** `caches.default`; without it only memory caches, with `null` nothing does. */
  readonly cache?: CacheLike | null;
  /**
   * Tells this bucket from others of the zone with the same prefixes: Workers of a zone share its cache, and
   * a bucket does not know its own name.
   */
  readonly cacheNamespace?: string;
  /** Lowers what the plan allows. */
  readonly budget?: BudgetOptions;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly forcedFilter?: string;
  readonly manifestTtlMs?: number;
  readonly fanOut?: FanOutOptions;
  /** For web servers. */
  readonly headers?: Readonly<Record<string, string>>;
}

const MIB = 1024 * 1024;

/**
 * What a plan allows, less what a Worker needs for itself. An isolate has 128 MB for the guest's memory
 * and all JavaScript; the guest's own limits keep ten searches at once below that.
 */
export const PLANS = {
  free: {
    // 50 sub-requests an invocation.
    budget: { maxSubrequests: 48, deadlineMs: 10_000, maxBytes: 16 * MIB },
    limits: { max_aggregation_bytes: 4 * MIB, max_manifest_bytes: 4 * MIB, max_resident_bytes: 16 * MIB },
  },
  paid: {
    // 10,000 sub-requests; a search that takes a thousand is not meant for an edge.
    budget: { maxSubrequests: 1000, deadlineMs: 25_000, maxBytes: 48 * MIB },
    limits: { max_aggregation_bytes: 8 * MIB, max_manifest_bytes: 8 * MIB, max_resident_bytes: 24 * MIB },
  },
} as const;

/** Connections that may wait for headers at once. */
const CONNECTIONS = 6;
const MEMORY_CACHE_BYTES = 12 * MIB;
/** At this size the guest's instance takes no further search until it is replaced. */
const MAX_GUEST_BYTES = 64 * MIB;
const MAX_SEARCHES = 16;

const MODULES: Readonly<Record<string, WebAssembly.Module>> = {
  "canter-guest.core.wasm": core,
  "canter-guest.core2.wasm": core2,
  "canter-guest.core3.wasm": core3,
};

/** A `Canter` in a Worker. Make one for each isolate, and pass `ctx.waitUntil` to each call. */
export function createCloudflareCanter(options: CloudflareOptions): Canter {
  const plan = PLANS[options.plan];
  const limits = { ...plan.limits, ...options.limits };
  const shared: Omit<CanterOptions, "indexes" | "fetchRange" | "cache"> = {
    module: moduleOf,
    // No index has an empty name.
    cacheNamespace: namespaceOf({ ...options.indexes, "": options.cacheNamespace ?? "" }),
    budget: lowest(plan.budget, options.budget ?? {}),
    limits,
    connections: CONNECTIONS,
    isolatesSearches: true,
    http: SERVING,
    maxSearches: MAX_SEARCHES,
    maxMemoryBytes: MAX_GUEST_BYTES,
    manifestTtlMs: options.manifestTtlMs ?? 0,
    ...(options.forcedFilter === undefined ? {} : { forcedFilter: options.forcedFilter }),
    ...(options.fanOut === undefined ? {} : { fanOut: options.fanOut }),
  };
  return createCanter({
    ...shared,
    indexes: Object.keys(options.indexes),
    fetchRange: storeOf(options, limits.max_manifest_bytes),
    ...(options.cache === null ? {} : { cache: cacheOf(options.cache) }),
  });
}

function moduleOf(name: string): WebAssembly.Module {
  const module = MODULES[name];
  if (module === undefined) throw new CanterError("internal", `the guest has no module ${name}`);
  return module;
}

/** Only manifests are read whole, so one that the guest would refuse is not even fetched. */
function storeOf({ bucket, indexes, headers }: CloudflareOptions, maxManifestBytes: unknown) {
  // What is no number is the guest's to complain of.
  const cap = typeof maxManifestBytes === "number" ? { maxWholeObjectBytes: maxManifestBytes } : {};
  if (bucket !== undefined) return r2Store(bucket, indexes, cap);
  return httpStore({ indexes, ...cap, ...(headers === undefined ? {} : { headers }) });
}

function cacheOf(cache: CacheLike | undefined): EntryCache {
  const near = memoryCache(MEMORY_CACHE_BYTES);
  return cache === undefined
    ? near
    : tieredCache(near, cacheApiCache(cache, { costsRequests: true }));
}

/** The lower of two budgets, limit by limit. */
function lowest(plan: BudgetOptions, asked: BudgetOptions): BudgetOptions {
  const merged: Record<string, number> = { ...plan };
  for (const [name, value] of Object.entries(asked) as [string, number | undefined][]) {
    if (value !== undefined) merged[name] = Math.min(merged[name] ?? Infinity, value);
  }
  return merged;
}
