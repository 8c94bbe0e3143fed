/*
 * A read on its way to its bytes.
 */

import { FetchFailure, type NamedRange } from "../errors.js";
import type { FetchErrorKind, ReadRequest, Supply } from "../protocol.js";
import { add, endOf, gaps, join, type Piece, type Range } from "./pieces.js";

/** Longest range that the guest may ask for at once: it must fit in its memory besides all else. */
const MAX_READ_BYTES = 256 * 1024 * 1024;

/** A read, and what is known of its bytes. */
export class PendingRead {
  readonly object: string;
  /** What it asks for; the end is infinite until it is known where the object ends. */
  start: number;
  end: number;
  /** In order, not overlapping. */
  private readonly pieces: Piece[] = [];
  /** What the cache has of the blocks that it lies in. */
  around: Piece[] = [];
  /** The guest asks again for what it has had: it was no good, so the cache is passed by. */
  mustAsk = false;
  /** Another search's flight failed it, perhaps for reasons of that search: no other is joined. */
  isAlone = false;
  /** Ask for exactly this range and nothing around it. */
  isExact = false;
  error: FetchFailure | undefined;

  constructor(readonly request: ReadRequest) {
    this.object = request.object;
    this.start = Number(request.offset);
    this.end = request.len === undefined ? Infinity : this.start + Number(request.len);
    if (request.len !== undefined && request.len > MAX_READ_BYTES) {
      this.fail("budget", `a single read may have at most ${MAX_READ_BYTES} bytes`);
    } else if (
      !Number.isSafeInteger(this.start) ||
      (this.end !== Infinity && !Number.isSafeInteger(this.end))
    ) {
      this.fail("past_the_end", "no object is as long as this");
    }
  }

  /** Whether it asks for the whole of the one mutable object. */
  get isManifest(): boolean {
    return this.request.class === "manifest" && this.start === 0 && this.end === Infinity;
  }

  get named(): NamedRange {
    return { offset: this.start, len: this.end === Infinity ? undefined : this.end - this.start };
  }

  /** The parts that are still to come. */
  gaps(): Range[] {
    return this.error === undefined ? gaps(this, this.pieces) : [];
  }

  /** Whether it has its bytes or its error. */
  get isDone(): boolean {
    return this.gaps().length === 0;
  }

  /** Bytes that it has so far. */
  get numBytes(): number {
    return this.pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  }

  overlaps(range: Range & { readonly object: string }): boolean {
    return this.object === range.object && this.start < range.end && range.start < this.end;
  }

  /**
   * Takes what it misses out of `piece`, which came for `asked`. What came to the end of the object ends
   * the read.
   */
  take(piece: Piece, asked: Range): void {
    const isToEnd = this.end === Infinity && asked.end === Infinity;
    if (isToEnd && piece.offset <= this.start) this.end = Math.max(endOf(piece), this.start);
    if (this.end !== Infinity) add(this.pieces, piece, this);
  }

  fail(kind: FetchErrorKind | "past_the_end", what: string): void {
    this.error =
      kind === "past_the_end"
        ? FetchFailure.misbehaved(this.object, this.named, kind, what)
        : FetchFailure.of(kind, this.object, this.named, what);
  }

  supply(): Supply {
    const { id } = this.request;
    const { error } = this;
    if (error === undefined) return { id, outcome: { tag: "bytes", val: join(this.pieces) } };
    return {
      id,
      outcome: { tag: "failed", val: { kind: error.suppliedKind, message: error.message } },
    };
  }
}

/** Gives up the reads that still miss bytes. */
export function failRest(reads: readonly PendingRead[], kind: FetchErrorKind, what: string): void {
  for (const read of reads) {
    if (!read.isDone) read.fail(kind, what);
  }
}
