/*
 * What a `Canter` is made of, as plain data and a few functions, with a default for every limit.
 */

import type { EntryCache } from "./cache/contract.js";
import { CanterError } from "./errors.js";
import type { GuestSource, Log, ModuleSource } from "./guest.js";
import type { HttpManners } from "./http.js";
import type { CoalesceOptions } from "./io/planning.js";
import type { RetryOptions } from "./io/retry.js";
import type { FetchRange } from "./store/contract.js";
import type { ThreadSource } from "./thread/protocol.js";

/** What one search may take. A request can lower each, and raise none. */
export interface BudgetOptions {
  /** Most requests to the store, with repetitions; no limit by default. */
  readonly maxRequests?: number;
  /** Most bytes from the store; no limit by default. */
  readonly maxBytes?: number;
  /** Most dependent rounds to the store; no limit by default. */
  readonly maxWaves?: number;
  /** Time from call to answer, in milliseconds; 30,000 by default. */
  readonly deadlineMs?: number;
  /** Most requests, cache operations and leaf searches together, where the platform counts them. */
  readonly maxSubrequests?: number;
}

/** How a large search is divided. */
export interface FanOutOptions {
  /** Most leaves; the guest divides only what gains from it. */
  readonly maxLeaves: number;
  /** Runs one leaf request somewhere, such as `Canter.leaf` of another instance. Counts as a sub-request. */
  readonly runLeaf: (leaf: Uint8Array, signal: AbortSignal) => Promise<Uint8Array>;
}

/** Threads of the platform that run the guest, so that this one goes on while it computes. */
export interface ThreadOptions {
  /** Most threads; each has an instance of the guest. */
  readonly max: number;
  /** Starts one. */
  readonly start: ThreadSource;
}

/** What a `Canter` is made of. */
export interface CanterOptions {
  /** The guest's core modules by name; or else `guest`, or `threads`. */
  readonly module?: ModuleSource;
  /** Makes an instance of the guest. */
  readonly guest?: GuestSource;
  /** Runs the guest in threads. */
  readonly threads?: ThreadOptions;
  /** Names of the indexes that may be searched. */
  readonly indexes: readonly string[];
  /** Where the bytes come from: `httpStore`, or a function of your own. */
  readonly fetchRange: FetchRange;
  /** What keeps bytes between searches; nothing does by default. */
  readonly cache?: EntryCache;
  /** Begins every key of the cache: name the store, if caches are shared. */
  readonly cacheNamespace?: string;
  /** The guest's limits, such as `{ max_aggregation_bytes: 16777216 }`. */
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly budget?: BudgetOptions;
  /** A query that every hit of every search must match. */
  readonly forcedFilter?: string;
  /** Most requests at once; 6 by default. */
  readonly connections?: number;
  readonly coalesce?: Partial<CoalesceOptions>;
  readonly retry?: Partial<RetryOptions>;
  /** How long a manifest is used without asking whether it has changed, in ms; 0 by default. */
  readonly manifestTtlMs?: number;
  /** Answer from a cached manifest when the store cannot be reached, and say so; false by default. */
  readonly usesStaleManifest?: boolean;
  /** Keep the promises of searches apart, as Workers need it; false by default. */
  readonly isolatesSearches?: boolean;
  /** Most searches at once; 64 by default. More wait. */
  readonly maxSearches?: number;
  /** Memory at which the guest's instance is replaced as soon as it is idle; 256 MiB by default. */
  readonly maxMemoryBytes?: number;
  /** Longest body of a request in bytes, uncompressed; 1 MiB by default. */
  readonly maxBodyBytes?: number;
  /** How `fetch` reads bodies, and what media types it knows; bodies as they are, and none, by default. Servers pass `SERVING`. */
  readonly http?: HttpManners;
  /**
   * Takes what goes on behind an answer: entries on their way into the cache. Without it an answer waits
   * for them, as it must where nothing runs on behind an answer.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** Divides large searches; none is divided by default. */
  readonly fanOut?: FanOutOptions;
  /** Takes what no caller is told, such as why the guest trapped; `console.error` by default. */
  readonly log?: Log;
}

/** Throws what is wrong with the options, by name. */
export function checkOptions(options: CanterOptions): void {
  const refuse = (what: string) => new CanterError("invalid", what);
  const { module, guest, threads } = options;
  if ([module, guest, threads].filter((one) => one !== undefined).length !== 1) {
    throw refuse("give either module or guest or threads");
  }
  if (options.indexes.length === 0) throw refuse("indexes is empty: name at least one index");
  for (const name of options.indexes) {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) {
      throw refuse(
        `${JSON.stringify(name)} is no name of an index: use letters, digits, ".", "_" and "-"`,
      );
    }
  }
  const counts: Record<string, number | undefined> = {
    ...options.budget,
    connections: options.connections,
    maxSearches: options.maxSearches,
    maxMemoryBytes: options.maxMemoryBytes,
    maxBodyBytes: options.maxBodyBytes,
    "threads.max": threads?.max,
  };
  for (const [name, value] of Object.entries(counts)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
      throw refuse(`${name} is ${value}; give a whole number of at least 1`);
    }
  }
}
