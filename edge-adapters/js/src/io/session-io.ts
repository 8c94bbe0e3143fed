/*
 * One session's waves: everything a demand names, answered at once. The same steps as
 * `runtime/src/io/session_io.rs`: look up, join what others are fetching, align, coalesce, fetch within
 * the budget, assemble, store.
 */

import { blockLenOf } from "../cache/blocks.js";
import { FetchFailure, messageOf } from "../errors.js";
import type { CacheLookup, CacheStore, Demand, ReadRequest, Supply } from "../protocol.js";
import type { FetchedRange } from "../store/contract.js";
import { type Landed, wasSent } from "./flights.js";
import { flyManifest, lookUpManifest } from "./manifest.js";
import { add, gaps, join, type Piece, type Range } from "./pieces.js";
import {
  align,
  type Missing,
  type Request,
  requestsOf,
  within,
  withoutMerging,
} from "./planning.js";
import { failRest, PendingRead } from "./reads.js";
import { type Awaited, pushWave, recordOf, type RequestRecord } from "./report.js";
import type { SearchIo } from "./shared.js";

/** What a read that was given up at the deadline says. */
const TIME_IS_UP =
  "the bytes had not come when the time was up; raise deadline_ms or narrow the query";

/**
 * How often a wave is planned again, because a merged request ran past the end of an object or a flight
 * of another search failed for that search's own reasons.
 */
const MAX_ROUNDS = 3;

/** The waves of one session. */
export class SessionIo {
  /** What the guest has asked for: again means that what came was no good. */
  private readonly asked = new Set<string>();

  /** What the guest has offered to the cache, which may take it later: for the guest it is there. */
  private readonly offered = new Map<string, Uint8Array>();

  constructor(private readonly io: SearchIo) {}

  /** Answers every read and every lookup of `demand`. */
  async answer(demand: Demand): Promise<Supply[]> {
    for (const store of demand.stores) this.store(store);
    const manifests = demand.reads.filter(isManifest);
    const ranges = demand.reads.filter((read) => !isManifest(read));
    const records: RequestRecord[] = [];
    const [lookups, whole, parts] = await Promise.all([
      Promise.all(demand.lookups.map((lookup) => this.lookUp(lookup))),
      Promise.all(manifests.map((read) => this.readManifest(read, records))),
      this.readRanges(ranges, records),
    ]);
    records.sort((a, b) =>
      a.object < b.object ? -1 : a.object > b.object ? 1 : a.offset - b.offset,
    );
    pushWave(this.io.report, records);
    return [...lookups, ...whole, ...parts];
  }

  /** Answers reads of ranges: from the cache, and with requests. */
  private async readRanges(
    requests: readonly ReadRequest[],
    records: RequestRecord[],
  ): Promise<Supply[]> {
    const seenLanded = this.io.shared.flights.numLanded;
    const reads = await this.lookUpReads(requests);
    await this.fetch(reads, seenLanded, records);
    return reads.map((read) => read.supply());
  }

  private store({ key, bytes }: CacheStore): void {
    const { cache } = this.io.shared;
    if (cache === undefined) return;
    this.offered.set(key, bytes);
    this.io.keep(async () => {
      if (cache.costsRequests && !this.io.gate.admitCacheWrite()) return;
      await cache.putEntry(key, bytes);
    });
  }

  private async lookUp({ id, key }: CacheLookup): Promise<Supply> {
    const admit = () => this.io.admitCacheRead();
    const own = this.offered.get(key);
    const bytes = own ?? (await this.io.shared.cache?.getEntry(key, admit, this.io.counts));
    this.countRead(bytes !== undefined, bytes?.length ?? 0);
    return { id, outcome: bytes === undefined ? { tag: "miss" } : { tag: "bytes", val: bytes } };
  }

  /** Counts a read or a lookup that the cache could have answered, if there is a cache. */
  private countRead(isHit: boolean, numBytes: number): void {
    const { report, shared } = this.io;
    if (shared.cache === undefined) return;
    if (isHit) report.num_cache_hits += 1;
    else report.num_cache_misses += 1;
    report.num_cache_bytes += numBytes;
  }

  private isAskedAgain(object: string, start: number, end: number): boolean {
    const place = `${object} ${start} ${end}`;
    const isAgain = this.asked.has(place);
    this.asked.add(place);
    return isAgain;
  }

  /** What the cache has of each read. */
  private async lookUpReads(requests: readonly ReadRequest[]): Promise<PendingRead[]> {
    const { shared } = this.io;
    return Promise.all(
      requests.map(async (request) => {
        const read = new PendingRead(request);
        read.mustAsk = this.isAskedAgain(read.object, read.start, read.end);
        const isCachable = request.class !== "manifest" && read.end !== Infinity;
        if (shared.cache === undefined || read.mustAsk || !isCachable || read.isDone) return read;
        const blocks = align(read, blockLenOf(request.class), shared.objectLen(read.object));
        const admit = () => this.io.admitCacheRead();
        read.around = await shared.cache.get(
          read.object,
          blocks,
          request.class,
          admit,
          this.io.counts,
        );
        for (const piece of read.around) read.take(piece, read);
        this.countRead(read.isDone, read.numBytes);
        return read;
      }),
    );
  }

  /** The manifest: from the cache, revalidated, or fetched. */
  private async readManifest(request: ReadRequest, records: RequestRecord[]): Promise<Supply> {
    const { io } = this;
    const read = new PendingRead(request);
    // Asked for again, what came before was no good: neither the cache nor its version counts.
    const mustAsk = this.isAskedAgain(read.object, 0, Infinity);
    const held = mustAsk ? undefined : await lookUpManifest(io, read.object);
    this.countRead(held?.isFresh === true, held?.isFresh === true ? held.kept.bytes.length : 0);
    if (held?.isFresh === true) {
      read.take({ offset: 0, bytes: held.kept.bytes }, read);
      return read.supply();
    }
    const { object } = read;
    const whole = {
      object,
      start: 0,
      end: Infinity,
      class: "manifest",
      numReads: 1,
      firstReadOrd: 0,
      parts: [],
    } as const;
    for (let round = 0; round < MAX_ROUNDS && !read.isDone; round++) {
      const refused = io.gate.refuseWave(io.report.num_waves);
      if (refused !== undefined) {
        read.fail("budget", refused);
        break;
      }
      const flights = io.shared.flights;
      const [joined] = mustAsk || read.isAlone ? [] : flights.claim(object, whole).joined;
      const flight =
        joined ??
        flights.launch(object, whole, io.documentsUntilMs, (signal) =>
          flyManifest(io, object, held?.kept, signal),
        );
      const awaited = { request: whole, flight, isOurs: joined === undefined };
      await this.awaitAll([awaited], [read], round + 1 === MAX_ROUNDS, records);
    }
    failRest([read], "unavailable", "the fetcher gave no answer");
    return read.supply();
  }

  /** What a read misses, extended to the blocks of the cache. */
  private missingOf(readOrd: number, read: PendingRead): Missing[] {
    const { object } = read;
    const byteClass = read.request.class;
    const missing = (range: Range): Missing => ({ ...range, object, class: byteClass, readOrd });
    // A manifest changes, and a head has the length that the manifest names: both are read as they are.
    const isAsItIs = byteClass === "manifest" || byteClass === "head" || read.isExact;
    const isWidened = this.io.shared.cache !== undefined && !isAsItIs;
    return read.gaps().flatMap((gap) => {
      if (gap.end === Infinity || !isWidened) return [missing(gap)];
      // Whole blocks, but not what is cached of them already.
      const blocks = align(gap, blockLenOf(byteClass), this.io.shared.objectLen(object));
      const holes = gaps(blocks, read.around);
      return holes.filter((hole) => hole.start < gap.end && gap.start < hole.end).map(missing);
    });
  }

  /** Fetches what is missing, and gives each read its bytes or its error. */
  private async fetch(
    reads: readonly PendingRead[],
    seenLanded: number,
    records: RequestRecord[],
  ): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      if (reads.every((read) => read.isDone)) return;
      const refused = this.io.gate.refuseWave(this.io.report.num_waves);
      if (refused !== undefined) return failRest(reads, "budget", refused);
      const awaited = this.launch(reads, seenLanded);
      await this.awaitAll(awaited, reads, round + 1 === MAX_ROUNDS, records);
    }
    failRest(reads, "unavailable", "the fetcher gave no answer");
  }

  /** Joins the flights of others and launches what they do not bring. */
  private launch(reads: readonly PendingRead[], seenLanded: number): Awaited[] {
    const { flights, options } = this.io.shared;
    const awaited: Awaited[] = [];
    const merged: Missing[] = [];
    const exact: Missing[] = [];
    for (const [readOrd, read] of reads.entries()) {
      for (const missing of this.missingOf(readOrd, read)) {
        if (read.isExact) exact.push(missing);
        else if (read.mustAsk || read.isAlone) merged.push(missing);
        else {
          const { joined, free } = flights.claim(missing.object, missing);
          for (const flight of joined) {
            const request = { ...missing, numReads: 1, firstReadOrd: readOrd, parts: [missing] };
            awaited.push({ request, flight, isOurs: false });
          }
          merged.push(...free.map((part) => ({ ...missing, ...part })));
        }
      }
    }
    const apart = withoutMerging(options.coalesce);
    const requests = requestsOf(merged, options.coalesce).flatMap((request) => {
      // A gap must not be closed over what is on its way already.
      const isFree = flights.claim(request.object, request).joined.length === 0;
      return isFree ? [request] : requestsOf(within(merged, request), apart);
    });
    for (const request of [...requests, ...requestsOf(exact, apart)]) {
      const mustAsk =
        flights.numLanded === seenLanded ||
        reads.some((read) => read.mustAsk && read.overlaps(request));
      const around = reads.filter((read) => read.overlaps(request)).flatMap((read) => read.around);
      const fly = (signal: AbortSignal) => this.fly(request, around, mustAsk, signal);
      const flight = flights.launch(request.object, request, this.io.documentsUntilMs, fly);
      awaited.push({ request, flight, isOurs: true });
    }
    return awaited;
  }

  /** The flight of one request. Unless it `mustAsk`, the cache may have been filled since it was looked at. */
  private async fly(
    request: Request,
    around: readonly Piece[],
    mustAsk: boolean,
    signal: AbortSignal,
  ): Promise<Landed> {
    const { io } = this;
    let startMs = performance.now();
    const landed = (result: Landed["result"], wasSent: boolean, numRetries = 0): Landed => ({
      result,
      startMs,
      endMs: performance.now(),
      numRetries,
      wasSent,
      numBytes: result instanceof FetchFailure || !wasSent ? 0 : result.bytes.length,
    });
    const found = mustAsk ? undefined : await this.cachedSince(request);
    if (found !== undefined) return landed({ bytes: found }, false);
    const { object, start, end } = request;
    const named = { object, offset: start, len: end === Infinity ? undefined : end - start };
    try {
      const { value, numRetries } = await io.fetch(named, signal, undefined, () => {
        startMs = performance.now();
      });
      io.checkEtag(request, value.etag);
      this.keep(request, value, around);
      return landed(value, true, numRetries);
    } catch (error) {
      const isKnown = error instanceof FetchFailure;
      const failure = isKnown
        ? error
        : FetchFailure.of("unavailable", object, named, messageOf(error));
      return landed(failure, wasSent(failure), failure.numRetries);
    }
  }

  /** What another search has put into the cache since this one looked, if looking is free. */
  private async cachedSince(request: Request): Promise<Uint8Array | undefined> {
    const { cache } = this.io.shared;
    if (cache === undefined || cache.costsRequests || request.end === Infinity) return undefined;
    const pieces = await cache.get(
      request.object,
      request,
      request.class,
      () => true,
      this.io.counts,
    );
    return gaps(request, pieces).length === 0 ? join(pieces) : undefined;
  }

  /** Stores the blocks of each part under the class that will look for them. */
  private keep(request: Request, fetched: FetchedRange, around: readonly Piece[]): void {
    const { cache } = this.io.shared;
    if (cache === undefined || request.end === Infinity || request.class === "manifest") return;
    const pieces: Piece[] = [{ offset: request.start, bytes: fetched.bytes }];
    const whole = { start: 0, end: Infinity };
    for (const piece of around) add(pieces, piece, whole);
    const admit = () => !cache.costsRequests || this.io.gate.admitCacheWrite();
    const lens = new Set(request.parts.map((part) => blockLenOf(part.class)));
    for (const blockLen of lens) {
      const parts = request.parts.filter((part) => blockLenOf(part.class) === blockLen);
      const [first] = parts;
      if (first === undefined) continue;
      const start = Math.min(...parts.map((part) => part.start));
      const end = Math.min(Math.max(...parts.map((part) => part.end)), request.end);
      const range = { start: Math.max(start, request.start), end };
      this.io.keep(() => cache.put(request.object, range, first.class, pieces, admit));
    }
  }

  /** Waits for flights until the time is up, and deals out what they bring. */
  private async awaitAll(
    awaited: readonly Awaited[],
    reads: readonly PendingRead[],
    isLast: boolean,
    records: RequestRecord[],
  ): Promise<void> {
    const { io } = this;
    const hasDocuments = reads.some((read) => read.request.class === "doc-store");
    const until = hasDocuments ? io.documentsUntilMs : io.readsUntilMs;
    const timeUp = new AbortController();
    const timer = setTimeout(() => timeUp.abort(), Math.max(until - performance.now(), 0));
    const signal = AbortSignal.any([timeUp.signal, io.signal]);
    try {
      await Promise.all(
        awaited.map(async (one) => {
          const landed = await one.flight.wait(signal, one.isOurs ? Infinity : io.shared.maxJoinMs);
          if (landed !== undefined) this.dealOut(one, landed, reads, isLast, records);
          else if (signal.aborted) this.recordLate(one, records);
          else for (const read of reads) read.isAlone ||= read.overlaps(one.request);
        }),
      );
    } finally {
      clearTimeout(timer);
    }
    if (signal.aborted && reads.some((read) => !read.isDone)) {
      io.gate.isTimedOut = true;
      failRest(reads, "budget", TIME_IS_UP);
    }
  }

  private recordLate({ request, isOurs }: Awaited, records: RequestRecord[]): void {
    if (!isOurs) return;
    const failure = FetchFailure.of(
      "budget",
      request.object,
      { offset: request.start },
      TIME_IS_UP,
    );
    const now = performance.now();
    const landed = {
      result: failure,
      startMs: now,
      endMs: now,
      numRetries: 0,
      wasSent: true,
      numBytes: 0,
    };
    records.push(recordOf(request, landed, this.io.startedMs));
  }

  /** Gives each read its part of what a flight brought. */
  private dealOut(
    { request, isOurs, flight }: Awaited,
    landed: Landed,
    reads: readonly PendingRead[],
    isLast: boolean,
    records: RequestRecord[],
  ): void {
    const { result } = landed;
    // A request that the budget refused was neither sent nor shared.
    const isShared = landed.wasSent || !(result instanceof FetchFailure);
    if (landed.wasSent && isOurs) records.push(recordOf(request, landed, this.io.startedMs));
    else if (isShared) this.io.report.num_shared_requests += 1;
    const concerned = reads.filter((read) => read.overlaps(request));
    if (!(result instanceof FetchFailure)) {
      const piece = { offset: flight.start, bytes: result.bytes };
      for (const read of concerned) read.take(piece, request);
      return;
    }
    // Another search's flight may have failed by that search's budget, by the end of an object that its
    // merged request ran past, or against a version that only that search has seen.
    const isTheirs = !isOurs && ["budget", "truncated", "protocol"].includes(result.kind);
    for (const read of concerned) {
      if (read.isDone) continue;
      // A merged request that ran past the end of the object must not take its other reads with it: each
      // is asked for by itself.
      const isMerged = request.numReads > 1 || request.start < read.start || read.end < request.end;
      const wasMerged = result.kind === "truncated" && isMerged && !read.isExact;
      if (!isLast && (wasMerged || isTheirs)) {
        read.isExact ||= wasMerged;
        read.isAlone ||= isTheirs;
        continue;
      }
      if (isOurs && result.kind === "budget") this.io.gate.noteExhausted();
      read.error = result;
    }
  }
}

function isManifest(read: ReadRequest): boolean {
  return read.class === "manifest" && read.offset === 0n && read.len === undefined;
}
