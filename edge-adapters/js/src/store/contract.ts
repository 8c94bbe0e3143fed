/*
 * What this package asks of a source of bytes. Implementations: `http.ts` (any web server), `r2.ts`
 * (an R2 binding), `folder.ts` (files, on Node and Deno).
 */

/** One read of one object. */
export interface RangeRequest {
  /** Name of the object, with the index's name and a slash before it: `logs/splits/<id>.split`. */
  readonly object: string;
  /** First byte, from the start of the object. */
  readonly offset: number;
  /** Number of bytes, at least 1; without it, everything from `offset`. */
  readonly len?: number | undefined;
  /** The version that the caller holds: if it still is the object's, no byte needs to come. */
  readonly ifNoneMatch?: string | undefined;
  /** Aborted when nobody waits for the bytes any more. */
  readonly signal: AbortSignal;
}

/** What came. */
export interface FetchedRange {
  /** Exactly the bytes of the range; none if `isUnchanged`. */
  readonly bytes: Uint8Array;
  /** Whether the object still has the version of `ifNoneMatch`. */
  readonly isUnchanged?: boolean;
  /** The version that the bytes were read from, where the store tells. */
  readonly etag?: string | undefined;
  /** Length of the whole object, where the store tells. Nothing may depend on it. */
  readonly objectLen?: number | undefined;
}

/**
 * Reads a range: exactly the one asked for, or a `FetchFailure`. It never asks for an object's size,
 * repeats nothing, and caps reads to the end of an object.
 */
export type FetchRange = (request: RangeRequest) => Promise<FetchedRange>;

/** Default cap on a read to the end of an object: 64 MiB. */
export const MAX_WHOLE_OBJECT_BYTES = 64 * 1024 * 1024;
