/*
 * Runs of bytes of one object: which parts of a read are there, and putting them together. Pure.
 */

/** From the first byte to the byte after the last. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Bytes, and where they stand in their object. */
export interface Piece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The byte after the last of a piece. */
export function endOf(piece: Piece): number {
  return piece.offset + piece.bytes.length;
}

/** The part of `piece` that lies in `range`, not copied. */
export function clip(piece: Piece, range: Range): Piece | undefined {
  const start = Math.max(piece.offset, range.start);
  const end = Math.min(endOf(piece), range.end);
  if (start >= end) return undefined;
  return { offset: start, bytes: piece.bytes.subarray(start - piece.offset, end - piece.offset) };
}

/** Adds the part of `piece` that `pieces` (in order, not overlapping) lack and `range` has. */
export function add(pieces: Piece[], piece: Piece, range: Range): void {
  for (const gap of gaps(range, pieces)) {
    const part = clip(piece, gap);
    if (part === undefined) continue;
    const after = pieces.findIndex((held) => held.offset >= part.offset);
    pieces.splice(after === -1 ? pieces.length : after, 0, part);
  }
}

/** The parts of `range` that `pieces` (in order, not overlapping) lack. */
export function gaps(range: Range, pieces: readonly Piece[]): Range[] {
  const missing: Range[] = [];
  let { start } = range;
  for (const piece of pieces) {
    const end = Math.min(piece.offset, range.end);
    if (end > start) missing.push({ start, end });
    start = Math.max(start, endOf(piece));
  }
  if (start < range.end) missing.push({ start, end: range.end });
  return missing;
}

/** The bytes of a range out of pieces that cover it. Copies only if it takes more than one. */
export function join(pieces: readonly Piece[]): Uint8Array {
  const [first] = pieces;
  if (first === undefined) return new Uint8Array(0);
  if (pieces.length === 1) return first.bytes;
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.bytes.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece.bytes, at);
    at += piece.bytes.length;
  }
  return bytes;
}
