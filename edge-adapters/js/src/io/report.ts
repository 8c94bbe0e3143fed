/*
 * What a search cost: the same counts as the profile of `runtime`, for headers and timelines.
 */

import type { ByteClass } from "../protocol.js";
import type { Request } from "./planning.js";
import type { Flight, Landed } from "./flights.js";
import { FetchFailure } from "../errors.js";

/** One request that went to the store. */
export interface RequestRecord {
  readonly object: string;
  /** First byte. */
  readonly offset: number;
  /** Number of bytes that came back; of a failed request, the number asked for (0 if open-ended). */
  readonly length: number;
  /** Class of the largest read in it (several reads may have been coalesced). */
  readonly class: ByteClass;
  /** How many of the guest's reads it answers. */
  readonly num_reads: number;
  readonly num_retries: number;
  /** Microseconds since the search began. */
  readonly start_us: number;
  readonly end_us: number;
  /** What went wrong, if it failed. */
  readonly error?: string;
}

/** What a search cost. */
export interface SearchReport {
  /** Dependent rounds to the store: waves in which nothing had to be fetched are not counted. */
  num_waves: number;
  /** Requests that went to the store, repetitions included. */
  num_requests: number;
  /** Bytes that came from the store. */
  num_bytes: number;
  num_retries: number;
  /** Requests of other searches that this one waited for instead of sending its own. */
  num_shared_requests: number;
  /** Reads and lookups that the cache answered in full, and those it could have answered. */
  num_cache_hits: number;
  num_cache_misses: number;
  num_cache_bytes: number;
  /** Entries of the cache that were damaged, and so counted as missing. */
  num_damaged_entries: number;
  /** Requests, operations of a cache that the platform counts as requests, and leaf searches. */
  num_subrequests: number;
  /** Microseconds in the guest, and calls into it. */
  guest_us: number;
  num_steps: number;
  /** Microseconds from call to answer. */
  elapsed_us: number;
  /** Milliseconds since the manifest was last confirmed, if the store could not be asked. */
  stale_manifest_ms?: number;
  waves: { requests: RequestRecord[] }[];
}

/** A report of nothing yet. */
export function newReport(): SearchReport {
  return {
    num_waves: 0,
    num_requests: 0,
    num_bytes: 0,
    num_retries: 0,
    num_shared_requests: 0,
    num_cache_hits: 0,
    num_cache_misses: 0,
    num_cache_bytes: 0,
    num_damaged_entries: 0,
    num_subrequests: 0,
    guest_us: 0,
    num_steps: 0,
    elapsed_us: 0,
    waves: [],
  };
}

/** Adds what a further run of the same search has cost. */
export function addCosts(report: SearchReport, run: SearchReport): void {
  const { waves, stale_manifest_ms, elapsed_us: _, num_subrequests, ...counts } = run;
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) report[name] += counts[name];
  // Counted on from run to run.
  report.num_subrequests = Math.max(report.num_subrequests, num_subrequests);
  report.waves.push(...waves);
  if (stale_manifest_ms !== undefined) report.stale_manifest_ms = stale_manifest_ms;
}

/** The record of one request. */
export function recordOf(request: Request, landed: Landed, startedMs: number): RequestRecord {
  const us = (ms: number) => Math.max(Math.round((ms - startedMs) * 1000), 0);
  const { result } = landed;
  const hasFailed = result instanceof FetchFailure;
  const asked = Number.isFinite(request.end) ? request.end - request.start : 0;
  return {
    object: request.object,
    offset: request.start,
    length: hasFailed ? asked : landed.numBytes,
    class: request.class,
    num_reads: request.numReads,
    num_retries: landed.numRetries,
    start_us: us(landed.startMs),
    end_us: us(landed.endMs),
    ...(hasFailed ? { error: result.message } : {}),
  };
}

/** Adds a wave that was sent. */
export function pushWave(report: SearchReport, requests: RequestRecord[]): void {
  if (requests.length === 0) return;
  for (const request of requests) {
    report.num_requests += 1 + request.num_retries;
    report.num_retries += request.num_retries;
    if (request.error === undefined) report.num_bytes += request.length;
  }
  report.num_waves += 1;
  report.waves.push({ requests });
}

/** A flight that a wave waits for. */
export interface Awaited {
  readonly request: Request;
  readonly flight: Flight;
  /** Whether this search began it; otherwise it is another's. */
  readonly isOurs: boolean;
}
