/*
 * From what is missing to requests: align to cache blocks, coalesce, cut. Pure, no I/O.
 *
 *   blocks        |      |      |      |      |      |      |      |      |
 *   missing          ██        █                          ███
 *   aligned       ███████████████                         ██████      whole blocks, if cached
 *   coalesced     ███████████████                         ██████      gaps up to maxGapBytes
 *   cut           ████████|██████                         ██████      parts of at most maxPartBytes
 */

import type { ByteClass } from "../protocol.js";
import type { Range } from "./pieces.js";

/** A range of an object that must come from the store. */
export interface Missing extends Range {
  readonly object: string;
  readonly class: ByteClass;
  /** Place in the demand of the read it belongs to. */
  readonly readOrd: number;
}

/** One request to the store. */
export interface Request extends Range {
  readonly object: string;
  /** Class of its largest part. */
  readonly class: ByteClass;
  /** How many reads it answers, in whole or in part. */
  readonly numReads: number;
  /** The first of them: requests go out in the order in which the guest asked. */
  readonly firstReadOrd: number;
  /** What it was made of. */
  readonly parts: readonly Missing[];
}

/** When ranges are fetched together, and when apart. */
export interface CoalesceOptions {
  /** Largest number of bytes between two ranges that are fetched as one. */
  readonly maxGapBytes: number;
  /** Largest request that merging may make. A single range may be longer. */
  readonly maxRequestBytes: number;
  /** A request longer than this is sent in parts, side by side. */
  readonly maxPartBytes: number;
}

/** Gaps up to 128 KiB, requests up to 8 MiB; measured in `stores/src/ranges/coalesce.rs`. */
export const DEFAULT_COALESCE: CoalesceOptions = {
  maxGapBytes: 128 * 1024,
  maxRequestBytes: 8 * 1024 * 1024,
  maxPartBytes: Number.MAX_SAFE_INTEGER,
};

/** No merging, except of ranges that contain one another. */
export function withoutMerging(options: CoalesceOptions): CoalesceOptions {
  return { ...options, maxGapBytes: 0, maxRequestBytes: 0 };
}

/**
 * `range` extended to whole blocks, but not past the end of the object; only as far as the read goes if
 * the end is not known, because a range past it is an error.
 */
export function align(range: Range, blockLen: number, objectLen: number | undefined): Range {
  const start = range.start - (range.start % blockLen);
  if (objectLen === undefined) return { start, end: range.end };
  const end = Math.ceil(range.end / blockLen) * blockLen;
  return { start, end: Math.max(Math.min(end, objectLen), range.end) };
}

/** What of `missing` lies within `request`. */
export function within(missing: readonly Missing[], request: Request): Missing[] {
  return missing
    .filter((part) => part.object === request.object)
    .map((part) => ({
      ...part,
      start: Math.max(part.start, request.start),
      end: Math.min(part.end, request.end),
    }))
    .filter((part) => part.start < part.end);
}

/** The requests that bring everything that is missing, in the order of the demand. */
export function requestsOf(missing: readonly Missing[], options: CoalesceOptions): Request[] {
  const requests: Request[] = [];
  for (const { object, start, end, parts } of coalesce(missing, options)) {
    const longest = parts.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
    for (const piece of cut({ start, end }, options.maxPartBytes)) {
      const inside = parts.filter((part) => part.start < piece.end && piece.start < part.end);
      requests.push({
        object,
        ...piece,
        class: longest.class,
        numReads: new Set(inside.map((part) => part.readOrd)).size,
        firstReadOrd: Math.min(...parts.map((part) => part.readOrd)),
        parts: inside,
      });
    }
  }
  return requests.sort(
    (a, b) => a.firstReadOrd - b.firstReadOrd || compare(a.object, b.object) || a.start - b.start,
  );
}

interface Merged extends Range {
  readonly object: string;
  readonly parts: readonly [Missing, ...Missing[]];
}

/** Merges near ranges of one object. Every part ends up in exactly one of them. */
function coalesce(missing: readonly Missing[], options: CoalesceOptions): Merged[] {
  // Longer first among equal starts, so that a contained range follows what contains it.
  const sorted = [...missing].sort(
    (a, b) => compare(a.object, b.object) || a.start - b.start || b.end - a.end,
  );
  const merged: Merged[] = [];
  for (const part of sorted) {
    const last = merged.at(-1);
    if (last !== undefined && joins(last, part, options)) {
      const parts: Merged["parts"] = [...last.parts, part];
      merged[merged.length - 1] = { ...last, end: Math.max(last.end, part.end), parts };
    } else {
      merged.push({ object: part.object, start: part.start, end: part.end, parts: [part] });
    }
  }
  return merged;
}

function joins(last: Merged, part: Missing, options: CoalesceOptions): boolean {
  if (last.object !== part.object) return false;
  if (part.end <= last.end) return true;
  const gap = Math.max(part.start - last.end, 0);
  return gap <= options.maxGapBytes && part.end - last.start <= options.maxRequestBytes;
}

/** `range` in parts of about the same length, none longer than `maxPartBytes`. */
function cut(range: Range, maxPartBytes: number): Range[] {
  // To an end that nobody knows there is one request.
  if (range.end === Infinity) return [range];
  const len = range.end - range.start;
  const numParts = Math.max(Math.ceil(len / Math.max(maxPartBytes, 1)), 1);
  const partLen = Math.max(Math.ceil(len / numParts), 1);
  return Array.from({ length: numParts }, (_, part) => {
    const start = Math.min(range.start + part * partLen, range.end);
    return { start, end: Math.min(start + partLen, range.end) };
  }).filter((part) => part.start < part.end);
}

/** By code points, as Rust orders text. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
