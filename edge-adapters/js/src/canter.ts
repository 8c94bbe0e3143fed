/*
 * `createCanter`: carries requests to the search API into a session of the guest, and answers out.
 */

import { BlockCache } from "./cache/blocks.js";
import { dispose, drive, tooLate } from "./driver.js";
import { CanterError } from "./errors.js";
import { errorOf, plainAnswer, readBody, responseOf } from "./http.js";
import { guestSource, InstanceLost, Instances, type LiveGuest } from "./guest.js";
import { Gate } from "./io/gate.js";
import { DEFAULT_COALESCE } from "./io/planning.js";
import { newReport, type SearchReport } from "./io/report.js";
import { DEFAULT_RETRY } from "./io/retry.js";
import { SearchIo, SharedIo } from "./io/shared.js";
import { type BudgetOptions, type CanterOptions, checkOptions } from "./options.js";
import type {
  Budget,
  Guest,
  HttpRequest,
  HttpResponse,
  Outcome,
  QueryPlan,
  Session,
} from "./protocol.js";

const DEADLINE_MS = 30_000;
const CONNECTIONS = 6;
const MAX_SEARCHES = 64;
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;

/** Shares of the deadline after which reads, and reads of documents, are given up. */
const READS_SHARE = 0.85;
const DOCUMENTS_SHARE = 0.95;

/** What a caller may say about one call. */
export interface CallOptions {
  /** A query that every hit must match, besides that of the options. */
  readonly forcedFilter?: string;
  /** Ends the search when it is aborted. */
  readonly signal?: AbortSignal;
  /** Takes what goes on behind the answer: entries on their way into the cache. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** Lowers the budget of this call. */
  readonly budget?: BudgetOptions;
  /** `false` answers in one piece, whatever `fanOut` says. */
  readonly dividesSearches?: boolean;
}

/** An answer of the search API with what it cost. */
export interface Answer {
  readonly response: HttpResponse;
  readonly report: SearchReport;
}

/** A search: the fields of the search API's body, and the index if there are several. */
export interface SearchRequest {
  readonly index?: string;
  readonly query?: string;
  readonly [parameter: string]: unknown;
}

/** The body of an answer. */
export interface SearchResponse {
  readonly hits: readonly Record<string, unknown>[];
  readonly num_hits: number;
  readonly aggregations?: Record<string, unknown>;
  readonly [key: string]: unknown;
}

/** Searches indexes. */
export interface Canter {
  /** Answers a request to the search API. Never rejects: a failure is an answer, too. */
  fetch(request: Request, options?: CallOptions): Promise<Response>;
  /** The same without the types of `fetch`. */
  handle(request: HttpRequest, options?: CallOptions): Promise<Answer>;
  /** Searches one index. Rejects with a `CanterError`. */
  search(
    request: SearchRequest,
    options?: CallOptions,
  ): Promise<{ readonly response: SearchResponse; readonly report: SearchReport }>;
  /** Runs one leaf of a divided search: opaque bytes in and out. Rejects with a `CanterError`. */
  leaf(leaf: Uint8Array, options?: CallOptions): Promise<Uint8Array>;
  /** Makes the guest's instance, so that the first search need not wait for it; gives its version. */
  warmUp(): Promise<string>;
  /** Bytes of the guest's memory. */
  readonly memoryBytes: number;
}

/** Makes a `Canter`. Throws a `CanterError` of kind `invalid` if the options cannot work. */
export function createCanter(options: CanterOptions): Canter {
  checkOptions(options);
  return new Host(options);
}

/** Opens a session that may end with at most so many leaves. */
type Open = (guest: Guest, maxLeaves: number) => Session;

class Host implements Canter {
  private readonly shared: SharedIo;
  private readonly instances: Instances;

  constructor(private readonly options: CanterOptions) {
    const { cache, module } = options;
    const source = options.guest ?? guestSource(module ?? missingModule);
    this.instances = new Instances(source, {
      maxSearches: options.maxSearches ?? MAX_SEARCHES,
      maxMemoryBytes: options.maxMemoryBytes ?? MAX_MEMORY_BYTES,
      isolatesSearches: options.isolatesSearches ?? false,
    });
    const blocks = cache && new BlockCache(cache, options.cacheNamespace ?? "canter");
    this.shared = new SharedIo(options.fetchRange, blocks, {
      coalesce: { ...DEFAULT_COALESCE, ...options.coalesce },
      retry: { ...DEFAULT_RETRY, ...options.retry },
      connections: options.connections ?? CONNECTIONS,
      manifestTtlMs: options.manifestTtlMs ?? 0,
      usesStaleManifest: options.usesStaleManifest ?? false,
      isolatesSearches: options.isolatesSearches ?? false,
    });
  }

  get memoryBytes(): number {
    return this.instances.memoryBytes;
  }

  async warmUp(): Promise<string> {
    const { signal } = new AbortController();
    return this.instances.use(DEADLINE_MS, signal, async (live) =>
      live.call((guest) => guest.version()),
    );
  }

  async fetch(request: Request, options: CallOptions = {}): Promise<Response> {
    const url = new URL(request.url);
    let body: Uint8Array;
    try {
      body = await readBody(request, this.options.maxBodyBytes ?? MAX_BODY_BYTES);
    } catch (error) {
      const failure =
        error instanceof CanterError ? error : new CanterError("invalid", "the body broke off");
      return responseOf(plainAnswer(failure), newReport());
    }
    const { method } = request;
    const signal = options.signal ?? request.signal;
    const http = { method, path: url.pathname, query: url.search.replace(/^\?/, ""), body };
    const answer = await this.handle(http, { ...options, signal });
    return responseOf(answer.response, answer.report);
  }

  async handle(request: HttpRequest, options: CallOptions = {}): Promise<Answer> {
    const report = newReport();
    const settings = JSON.stringify(this.settings(options));
    const { fanOut } = this.options;
    const maxLeaves = options.dividesSearches === false ? 1 : (fanOut?.maxLeaves ?? 1);
    try {
      const open: Open = (guest, leaves) => guest.Session.http(request, settings, leaves);
      const outcome = await this.run(open, maxLeaves, report, options);
      if (outcome.tag === "http") return { response: outcome.val, report };
      throw new CanterError("internal", `the guest answered a request with ${outcome.tag}`);
    } catch (error) {
      return { response: this.errorAnswer(error), report };
    }
  }

  async search(request: SearchRequest, options: CallOptions = {}) {
    const { index = this.options.indexes[0] ?? "", ...parameters } = request;
    const body = new TextEncoder().encode(JSON.stringify(parameters));
    const path = `/api/v1/${encodeURIComponent(index)}/search`;
    const answer = await this.handle({ method: "POST", path, query: "", body }, options);
    const text = new TextDecoder().decode(answer.response.body);
    if (answer.response.status === 200) {
      return { response: JSON.parse(text) as SearchResponse, report: answer.report };
    }
    throw errorOf(answer.response.status, text);
  }

  async leaf(leaf: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const outcome = await this.run((guest) => guest.Session.leaf(leaf), 1, newReport(), options);
    if (outcome.tag === "partial") return outcome.val;
    throw new CanterError("internal", `the guest answered a leaf request with ${outcome.tag}`);
  }

  private settings(options: CallOptions): Record<string, unknown> {
    const filters = [this.options.forcedFilter, options.forcedFilter].filter(
      (filter) => filter !== undefined,
    );
    const settings: Record<string, unknown> = {
      indexes: this.options.indexes,
      limits: this.options.limits ?? {},
      keeps_partial_results: this.shared.cache !== undefined,
    };
    if (filters.length === 1) settings["forced_filter"] = filters[0];
    else if (filters.length > 1)
      settings["forced_filter"] = filters.map((f) => `(${f})`).join(" AND ");
    return settings;
  }

  /** Runs a session, and the leaves and the root of what it plans. */
  private async run(
    open: Open,
    maxLeaves: number,
    report: SearchReport,
    options: CallOptions,
  ): Promise<Outcome> {
    const startedMs = performance.now();
    const over = new AbortController();
    const signals = options.signal === undefined ? [over.signal] : [over.signal, options.signal];
    const signal = AbortSignal.any(signals);
    const hostMs = lower(
      this.options.budget?.deadlineMs ?? DEADLINE_MS,
      options.budget?.deadlineMs,
    );
    let timer = setTimeout(() => over.abort(), hostMs);
    let io: SearchIo | undefined;
    try {
      return await this.onInstance(hostMs, signal, async (live) => {
        // What the request asks of its host is known as soon as its session is open.
        let session: Session | undefined = live.call((guest) => open(guest, maxLeaves));
        const budget = live.call(() => (session as Session).budget());
        // Leaves do not know what the others have spent, so a search with a budget of its own is not divided.
        if (maxLeaves > 1 && hasBudget(budget)) {
          dispose(session);
          session = live.call((guest) => open(guest, 1));
        }
        const deadlineMs = lower(hostMs, numberOf(budget.deadlineMs));
        clearTimeout(timer);
        const leftMs = startedMs + deadlineMs - performance.now();
        timer = setTimeout(() => over.abort(), Math.max(leftMs, 0));
        const search = (io ??= this.searchIo(
          report,
          budget,
          options,
          startedMs,
          deadlineMs,
          signal,
        ));
        const outcome = await drive(live, search, () => {
          const opened = session as Session;
          session = undefined;
          return opened;
        });
        if (outcome.tag !== "plan") return outcome;
        return this.runPlan(live, search, outcome.val);
      });
    } finally {
      clearTimeout(timer);
      report.elapsed_us = Math.round((performance.now() - startedMs) * 1000);
      if (io !== undefined) {
        report.num_subrequests = io.gate.numSubrequests;
        const stored = io.settle();
        const waitUntil = options.waitUntil ?? this.options.waitUntil;
        // Without somebody to wait for it, the answer does.
        if (waitUntil === undefined) await stored;
        else waitUntil(stored);
      }
      over.abort();
    }
  }

  private searchIo(
    report: SearchReport,
    asked: Budget,
    options: CallOptions,
    startedMs: number,
    deadlineMs: number,
    signal: AbortSignal,
  ): SearchIo {
    const host = this.options.budget ?? {};
    const call = options.budget ?? {};
    const gate = new Gate({
      maxRequests: lowest(host.maxRequests, call.maxRequests, numberOf(asked.maxRequests)),
      maxBytes: lowest(host.maxBytes, call.maxBytes, numberOf(asked.maxBytes)),
      maxWaves: lowest(host.maxWaves, call.maxWaves, numberOf(asked.maxWaves)),
      maxSubrequests: lowest(host.maxSubrequests, call.maxSubrequests),
    });
    const readsUntilMs = startedMs + deadlineMs * READS_SHARE;
    const documentsUntilMs = startedMs + deadlineMs * DOCUMENTS_SHARE;
    return new SearchIo(
      this.shared,
      gate,
      report,
      startedMs,
      readsUntilMs,
      documentsUntilMs,
      signal,
    );
  }

  /** Runs the leaves side by side, wherever they run, and merges what they bring. */
  private async runPlan(live: LiveGuest, io: SearchIo, plan: QueryPlan): Promise<Outcome> {
    const { fanOut } = this.options;
    if (fanOut === undefined)
      throw new CanterError("internal", "the guest divided a search unasked");
    // All or none: a search that does not fit says so before it starts.
    for (const _ of plan.leaves) io.gate.admit("a leaf search", { offset: 0 });
    const partials = await Promise.all(
      plan.leaves.map((leaf) => inTime(fanOut.runLeaf(leaf, io.signal), io)),
    );
    return drive(live, io, (guest) => guest.Session.root(plan.root, partials));
  }

  /** Runs `work`, and once more on another instance if its own was broken by another search. */
  private async onInstance<T>(
    maxMs: number,
    signal: AbortSignal,
    work: (live: LiveGuest) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.instances.use(maxMs, signal, work);
    } catch (error) {
      if (!(error instanceof InstanceLost)) throw error;
      return await this.instances.use(maxMs, signal, work);
    }
  }

  /** The API's answer to a failure, made by the guest if one is there. Waits for nothing. */
  private errorAnswer(error: unknown): HttpResponse {
    const failure = asCanterError(error);
    const { kind, message, status } = failure;
    if (status === 504) return plainAnswer(failure);
    try {
      const answer = this.instances.callNow((guest) => guest.httpError(kind, message));
      return answer ?? plainAnswer(failure);
    } catch {
      return plainAnswer(failure);
    }
  }
}

function missingModule(): never {
  throw new CanterError("invalid", "give either module or guest");
}

function asCanterError(error: unknown): CanterError {
  if (error instanceof CanterError) return error;
  if (error instanceof InstanceLost) {
    return new CanterError("internal", "the guest's instance was lost twice; try again");
  }
  const what = error instanceof Error ? error.message : String(error);
  return new CanterError("internal", `the guest cannot be run: ${what}`);
}

/** Whether the request has a limit of its own. */
function hasBudget({ maxRequests, maxBytes, maxWaves, deadlineMs }: Budget): boolean {
  return [maxRequests, maxBytes, maxWaves, deadlineMs].some((limit) => limit !== undefined);
}

/** What `work` gives, unless the search is over before: a leaf may run where `signal` does not reach. */
function inTime<T>(work: Promise<T>, io: SearchIo): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(tooLate(io));
    io.signal.addEventListener("abort", giveUp);
    if (io.signal.aborted) giveUp();
    void work.then(resolve, reject).finally(() => io.signal.removeEventListener("abort", giveUp));
  });
}

function numberOf(value: bigint | undefined): number | undefined {
  return value === undefined ? undefined : Number(value);
}

function lower(limit: number, other: number | undefined): number {
  return other === undefined ? limit : Math.min(limit, other);
}

function lowest(...limits: (number | undefined)[]): number | undefined {
  const set = limits.filter((limit) => limit !== undefined);
  return set.length === 0 ? undefined : Math.min(...set);
}
