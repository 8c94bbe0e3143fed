/*
 * Ranges of immutable objects in a cache of entries: cut into aligned blocks, each with a checksum.
 *
 *   object     |0        64K|        128K|        192K|
 *   put 40K..150K     [=====|============|===]
 *   blocks            0: 40K..64K   1: all    2: 128K..150K
 *   get 60K..140K         [=|============|=]            a hit: three pieces
 *
 * Queries ask for different ranges of the same column or dictionary, and coalescing merges them
 * differently each time, so exact ranges would rarely be asked for twice; blocks are.
 */

import { type Piece, add, clip, endOf, gaps, type Range } from "../io/pieces.js";
import type { ByteClass } from "../protocol.js";
import type { EntryCache } from "./contract.js";
import { readEntry, writeEntry } from "./entry.js";

const KIB = 1024;

/**
 * Length of the blocks of each class. Columns are read in long runs, so longer blocks halve the work for
 * each byte; all else is looked up in places, where a longer block is waste.
 */
const BLOCK_LENS: Record<ByteClass, number> = {
  manifest: 64 * KIB,
  head: 64 * KIB,
  dictionary: 64 * KIB,
  postings: 64 * KIB,
  "fast-field": 256 * KIB,
  "doc-store": 64 * KIB,
  "partial-result": 64 * KIB,
};

/** The length of the blocks of a class. */
export function blockLenOf(byteClass: ByteClass): number {
  return BLOCK_LENS[byteClass];
}

/** Counts of one search. */
export interface CacheCounts {
  /** Entries that were damaged, and counted as missing. */
  numDamaged: number;
}

/** Whether the search may spend one more operation of the cache. */
export type Admit = () => boolean;

/** Blocks of objects, and whole entries, in one cache. */
export class BlockCache {
  constructor(
    private readonly entries: EntryCache,
    /** Begins every key, so that guests and stores that know nothing of one another can share a cache. */
    private readonly namespace: string,
  ) {}

  /** Whether operations count as requests of the platform. */
  get costsRequests(): boolean {
    return this.entries.costsRequests ?? false;
  }

  /** The entry that the guest calls `key`. `admit` is asked before what costs is looked at. */
  async getEntry(key: string, admit: Admit, counts: CacheCounts): Promise<Uint8Array | undefined> {
    return (await this.read(`${this.namespace}/e/${key}`, admit, counts))?.payload;
  }

  /** Keeps an entry under the guest's key. */
  async putEntry(key: string, payload: Uint8Array): Promise<void> {
    await this.write(`${this.namespace}/e/${key}`, 0, payload);
  }

  /** What there is of `range`: pieces in order, not overlapping. */
  async get(
    object: string,
    range: Range,
    byteClass: ByteClass,
    admit: Admit,
    counts: CacheCounts,
  ): Promise<Piece[]> {
    const blockLen = blockLenOf(byteClass);
    const numbers = blocksOf(range, blockLen);
    const found = await Promise.all(
      numbers.map(async (number) => {
        const entry = await this.read(this.blockKey(object, blockLen, number), admit, counts);
        return entry && { offset: number * blockLen + entry.start, bytes: entry.payload };
      }),
    );
    const pieces: Piece[] = [];
    for (const piece of found) {
      const part = piece && clip(piece, range);
      if (part) pieces.push(part);
    }
    return pieces;
  }

  /**
   * Keeps the blocks of `range`, whose bytes `pieces` hold, with what they hold of the blocks around. A
   * block whose bytes do not all follow one another is kept from its longest run.
   */
  async put(
    object: string,
    range: Range,
    byteClass: ByteClass,
    pieces: readonly Piece[],
    admit: Admit,
  ): Promise<void> {
    const blockLen = blockLenOf(byteClass);
    await Promise.all(
      blocksOf(range, blockLen).map(async (number) => {
        const block = { start: number * blockLen, end: (number + 1) * blockLen };
        const run = longestRun(pieces, block);
        if (run === undefined || !admit()) return;
        const key = this.blockKey(object, blockLen, number);
        await this.write(key, run.offset - block.start, run.bytes);
      }),
    );
  }

  private blockKey(object: string, blockLen: number, number: number): string {
    return `${this.namespace}/b/${object}/${blockLen / KIB}k/${number}`;
  }

  private async read(key: string, admit: Admit, counts: CacheCounts) {
    const near = this.costsRequests ? await this.entries.near?.get(key) : undefined;
    if (near === undefined && this.costsRequests && !admit()) return undefined;
    const bytes = near ?? (await this.entries.get(key));
    if (bytes === undefined) return undefined;
    const entry = readEntry(key, bytes);
    if (entry === undefined) counts.numDamaged += 1;
    return entry;
  }

  private async write(key: string, start: number, payload: Uint8Array): Promise<void> {
    await this.entries.put(key, writeEntry(key, { start, payload }));
  }
}

/** The numbers of the blocks that `range` touches. */
export function blocksOf(range: Range, blockLen: number): number[] {
  if (range.end <= range.start) return [];
  const first = Math.floor(range.start / blockLen);
  const last = Math.floor((range.end - 1) / blockLen);
  return Array.from({ length: last - first + 1 }, (_, ord) => first + ord);
}

/** The longest run of bytes of `pieces` inside `block`; copied if it takes more than one piece. */
export function longestRun(pieces: readonly Piece[], block: Range): Piece | undefined {
  const inside: Piece[] = [];
  for (const piece of pieces) add(inside, piece, block);
  let best: Piece[] = [];
  let current: Piece[] = [];
  const lenOf = (run: readonly Piece[]) => run.reduce((sum, piece) => sum + piece.bytes.length, 0);
  for (const piece of inside) {
    const before = current.at(-1);
    current =
      before !== undefined && endOf(before) === piece.offset ? [...current, piece] : [piece];
    if (lenOf(current) > lenOf(best)) best = current;
  }
  const first = best[0];
  if (first === undefined || best.length === 1) return first;
  const bytes = new Uint8Array(lenOf(best));
  for (const piece of best) bytes.set(piece.bytes, piece.offset - first.offset);
  return { offset: first.offset, bytes };
}

/** Whether `pieces` hold all of `range`. */
export function covers(pieces: readonly Piece[], range: Range): boolean {
  return gaps(range, pieces).length === 0;
}
