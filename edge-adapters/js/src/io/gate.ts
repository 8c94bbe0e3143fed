/*
 * The budget of one search: counts what it sends, and refuses what would be too much.
 *
 * Two things are counted. `maxRequests`, `maxBytes` and `maxWaves` are what the search may ask of the
 * store, and mean the same on every host. `maxSubrequests` is what the platform allows one invocation:
 * there, operations of a cache count as well.
 */

import { FetchFailure, type NamedRange } from "../errors.js";

/** What one search may ask of the store; what is not set is no limit. */
export interface SearchBudget {
  /** Most requests, with repetitions. */
  readonly maxRequests?: number | undefined;
  /** Most bytes. */
  readonly maxBytes?: number | undefined;
  /** Most waves: dependent rounds. */
  readonly maxWaves?: number | undefined;
  /** Most requests and cache operations together, where the platform counts both. */
  readonly maxSubrequests?: number | undefined;
}

/** The name of a limit, as the answer says it. */
export type LimitName = "max_requests" | "max_bytes" | "max_waves";

/** The share of sub-requests that looking into the cache may take: reads of the store come first. */
const CACHE_READ_SHARE = 0.4;

/** What one search has used. Shared by its sessions. */
export class Gate {
  numRequests = 0;
  numBytes = 0;
  numCacheOperations = 0;
  /** Whether reads were given up because the time was up. */
  isTimedOut = false;
  /** The first limit that a read went without its bytes for. */
  exhausted: LimitName | undefined;
  private refused: LimitName | undefined;

  constructor(
    readonly budget: SearchBudget,
    /** What earlier runs of the same search have taken of the platform's allowance. */
    private readonly numSubrequestsBefore = 0,
  ) {}

  /** Requests and cache operations so far. */
  get numSubrequests(): number {
    return this.numSubrequestsBefore + this.numRequests + this.numCacheOperations;
  }

  /** Counts one request, or throws. */
  admit(object: string, range: NamedRange): void {
    const { maxBytes, maxRequests, maxSubrequests } = this.budget;
    const len = range.len ?? 0;
    const refuse = (limit: LimitName, text: string) => {
      this.refused ??= limit;
      return FetchFailure.of("budget", object, range, text);
    };
    if (maxBytes !== undefined && (this.numBytes + len > maxBytes || this.numBytes >= maxBytes)) {
      throw refuse("max_bytes", usedUp("max_bytes", maxBytes));
    }
    if (maxRequests !== undefined && this.numRequests >= maxRequests) {
      throw refuse("max_requests", usedUp("max_requests", maxRequests));
    }
    if (maxSubrequests !== undefined && this.numSubrequests >= maxSubrequests) {
      const text = `the ${maxSubrequests} sub-requests that the platform allows are used up; narrow the query`;
      throw refuse("max_requests", text);
    }
    this.numBytes += len;
    this.numRequests += 1;
  }

  /** Counts the bytes of an answer whose length was not known when it was asked for. */
  countOpenEnded(range: NamedRange, numBytes: number): void {
    if (range.len === undefined) this.numBytes += numBytes;
  }

  /** Whether one more look into a cache that costs may be taken; counted if so. */
  admitCacheRead(): boolean {
    return this.admitCache((this.budget.maxSubrequests ?? Infinity) * CACHE_READ_SHARE);
  }

  /** Whether one more entry may be stored; counted if so. Asked when the answer is done. */
  admitCacheWrite(): boolean {
    return this.admitCache(this.budget.maxSubrequests ?? Infinity);
  }

  private admitCache(max: number): boolean {
    const isAdmitted = this.numSubrequests < max;
    if (isAdmitted) this.numCacheOperations += 1;
    return isAdmitted;
  }

  /** Why wave number `waveOrd` (from 0) is one too many; nothing if it is not. */
  refuseWave(waveOrd: number): string | undefined {
    const { maxWaves } = this.budget;
    if (maxWaves === undefined || waveOrd < maxWaves) return undefined;
    this.exhausted ??= "max_waves";
    return usedUp("max_waves", maxWaves);
  }

  /** Notes that a read did not get its bytes because a request was refused. */
  noteExhausted(): void {
    this.exhausted ??= this.refused;
  }
}

function usedUp(limit: string, max: number): string {
  return `the search has used up its ${limit} of ${max}; raise it or narrow the query`;
}
