/*
 * What all searches of one `Canter` share of their traffic, and what all sessions of one search do.
 */

import type { BlockCache } from "../cache/blocks.js";
import { FetchFailure } from "../errors.js";
import type { FetchedRange, FetchRange, RangeRequest } from "../store/contract.js";
import { checkObjectName } from "../store/object-name.js";
import { Flights } from "./flights.js";
import type { Gate } from "./gate.js";
import type { CoalesceOptions, Request } from "./planning.js";
import type { SearchReport } from "./report.js";
import { type RetryOptions, withRetries } from "./retry.js";
import { Semaphore } from "./semaphore.js";

/** Settings of the traffic; all are filled in. */
export interface TrafficOptions {
  readonly coalesce: CoalesceOptions;
  readonly retry: RetryOptions;
  /** Most requests at once. */
  readonly connections: number;
  /** How long a confirmed manifest is used without asking, in milliseconds. */
  readonly manifestTtlMs: number;
  /** Whether a manifest that cannot be revalidated is used as it is, and the report says so. */
  readonly usesStaleManifest: boolean;
  /**
   * Whether promises of one search may be awaited by another. Workers end a request together with its
   * I/O, so there a search waits for another's flight only so long, and has connections of its own.
   */
  readonly isolatesSearches: boolean;
}

/** How long a search waits for the flight of one that may have been ended. */
const MAX_JOIN_MS = 500;

/** Objects whose length is remembered. */
const MAX_KNOWN_OBJECTS = 10_000;

/** What all searches share. */
export class SharedIo {
  readonly flights = new Flights();
  private readonly semaphore: Semaphore;
  /** Lengths of objects, as a store told them; only a hint. */
  private readonly objectLens = new Map<string, number>();

  constructor(
    readonly fetchRange: FetchRange,
    readonly cache: BlockCache | undefined,
    readonly options: TrafficOptions,
  ) {
    this.semaphore = new Semaphore(options.connections);
  }

  /** The permits of a new search. */
  connections(): Semaphore {
    return this.options.isolatesSearches ? new Semaphore(this.options.connections) : this.semaphore;
  }

  /** Longest wait for another's flight. */
  get maxJoinMs(): number {
    return this.options.isolatesSearches ? MAX_JOIN_MS : Infinity;
  }

  objectLen(object: string): number | undefined {
    return this.objectLens.get(object);
  }

  noteObjectLen(object: string, len: number | undefined): void {
    if (len === undefined) return;
    const [oldest] = this.objectLens.keys();
    if (this.objectLens.size >= MAX_KNOWN_OBJECTS && oldest !== undefined) {
      this.objectLens.delete(oldest);
    }
    this.objectLens.set(object, len);
  }
}

/** What all sessions of one search share. */
export class SearchIo {
  /** Whether the cache had no manifest. */
  isNewHere = false;
  private readonly etags = new Map<string, string>();
  private readonly connections: Semaphore;
  /** Entries that are put into the cache when the answer is done. */
  private readonly afterwards: (() => Promise<void>)[] = [];
  private readonly storing: Promise<void>[] = [];

  constructor(
    readonly shared: SharedIo,
    readonly gate: Gate,
    readonly report: SearchReport,
    /** When the search began, and when reads are given up, so that there is still time to answer. */
    readonly startedMs: number,
    readonly readsUntilMs: number,
    /** The same for the documents of the hits, which are read last. */
    readonly documentsUntilMs: number,
    /** Aborted when the search is over. */
    readonly signal: AbortSignal,
  ) {
    this.connections = shared.connections();
  }

  /**
   * Whether one more look into a cache that costs may be taken. An index whose manifest such a cache
   * lacks has hardly anything else there, so the first search over it is spared the looking.
   */
  admitCacheRead(): boolean {
    return !this.isNewHere && this.gate.admitCacheRead();
  }

  get counts() {
    const { report } = this;
    return {
      get numDamaged() {
        return report.num_damaged_entries;
      },
      set numDamaged(count: number) {
        report.num_damaged_entries = count;
      },
    };
  }

  /** One read of the store, repeated if that may help, checked and counted; `onSent` when it begins. */
  async fetch(
    what: { readonly object: string; readonly offset: number; readonly len?: number | undefined },
    signal: AbortSignal,
    ifNoneMatch?: string,
    onSent: () => void = () => undefined,
  ): Promise<{ readonly value: FetchedRange; readonly numRetries: number }> {
    const request: RangeRequest = { ...what, signal, ifNoneMatch };
    checkObjectName(request.object, request);
    const attempt = async () => {
      this.gate.admit(request.object, request);
      const fetched = await this.shared.fetchRange(request);
      this.gate.countOpenEnded(request, fetched.bytes.length);
      return fetched;
    };
    const fetched = await this.connections.with(() => {
      onSent();
      return withRetries(request, this.shared.options.retry, attempt);
    });
    this.check(request, fetched.value);
    this.shared.noteObjectLen(request.object, fetched.value.objectLen);
    return fetched;
  }

  /** A store of the caller's may bring too much or too little. */
  private check(request: RangeRequest, fetched: FetchedRange): void {
    const { len, object } = request;
    if (len !== undefined && fetched.bytes.length !== len) {
      const seen = `only ${fetched.bytes.length} of ${len} bytes came`;
      throw FetchFailure.misbehaved(object, request, "past_the_end", seen);
    }
  }

  /** Throws if an immutable object is not what it was when this search first read it. */
  checkEtag(request: Request, etag: string | undefined): void {
    if (etag === undefined || request.class === "manifest") return;
    const first = this.etags.get(request.object) ?? etag;
    this.etags.set(request.object, first);
    if (first === etag) return;
    const seen = `the object was replaced while it was read (ETag ${first}, then ${etag})`;
    const named = { offset: request.start, len: request.end - request.start };
    throw FetchFailure.misbehaved(request.object, named, "etag_changed", seen);
  }

  /** Stores entries: at once, or behind the answer where each costs a request that a read may need. */
  keep(store: () => Promise<void>): void {
    if (this.shared.cache?.costsRequests === true) this.afterwards.push(store);
    else this.storing.push(store());
  }

  /** Ends when everything is stored. Called once, when the answer is done. */
  async settle(): Promise<void> {
    for (const store of this.afterwards) this.storing.push(store());
    await Promise.allSettled(this.storing);
  }
}
