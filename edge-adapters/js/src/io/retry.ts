/*
 * Repeats reads that failed for a reason that passes, after pauses that grow and differ.
 */

import { xxh32 } from "../cache/checksum.js";
import { FetchFailure, messageOf } from "../errors.js";
import type { RangeRequest } from "../store/contract.js";

/** How often and how soon a read is repeated. */
export interface RetryOptions {
  /** Repetitions after the first attempt; 0 turns retrying off. */
  readonly maxRetries: number;
  /** Pause before the first repetition; it doubles each time. */
  readonly initialBackoffMs: number;
}

/** Two repetitions after about 50 and 100 ms. */
export const DEFAULT_RETRY: RetryOptions = { maxRetries: 2, initialBackoffMs: 50 };

/** Runs `attempt` until it succeeds, fails for good, or has been repeated often enough. */
export async function withRetries<T>(
  request: RangeRequest,
  options: RetryOptions,
  attempt: () => Promise<T>,
): Promise<{ readonly value: T; readonly numRetries: number }> {
  for (let numRetries = 0; ; numRetries++) {
    try {
      return { value: await attempt(), numRetries };
    } catch (error) {
      const failure = asFailure(error, request);
      failure.numRetries = numRetries;
      const mayRepeat = failure.isTransient && numRetries < options.maxRetries;
      if (!mayRepeat || request.signal.aborted) throw failure;
      await pause(backoffMs(request, options, numRetries), request.signal);
    }
  }
}

/** A store of the caller's may throw anything. */
function asFailure(error: unknown, request: RangeRequest): FetchFailure {
  if (error instanceof FetchFailure) return error;
  return FetchFailure.of("unavailable", request.object, request, messageOf(error));
}

/**
 * Between half of the step and the whole step. The jitter comes from the read itself, so that different
 * reads that failed together do not come back together.
 */
function backoffMs(request: RangeRequest, options: RetryOptions, attempt: number): number {
  const step = options.initialBackoffMs * 2 ** attempt;
  const seed = (request.offset ^ attempt) >>> 0;
  const jitter = xxh32(new TextEncoder().encode(request.object), seed) / 2 ** 32;
  return step / 2 + (step / 2) * jitter;
}

/** Waits, and not longer than until `signal` is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
