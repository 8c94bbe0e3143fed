/*
 * `createCanter`: carries requests to the search API into a session of the guest, and answers out.
 */

import { BlockCache } from "./cache/blocks.js";
import { drive, run, tooLate } from "./driver.js";
import { CanterError, FetchFailure } from "./errors.js";
import { errorOf, type Manner, PLAIN, responseOf } from "./http.js";
import {
  GivenUp,
  guestSource,
  type Instance,
  InstanceLost,
  LocalInstance,
  type Log,
  type Opening,
} from "./guest.js";
import { Instances } from "./instances.js";
import { Gate } from "./io/gate.js";
import { DEFAULT_COALESCE } from "./io/planning.js";
import { addCosts, newReport, type SearchReport } from "./io/report.js";
import { DEFAULT_RETRY } from "./io/retry.js";
import { SearchIo, SharedIo } from "./io/shared.js";
import { type BudgetOptions, type CanterOptions, checkOptions } from "./options.js";
import type { Budget, HttpRequest, HttpResponse, Outcome, QueryPlan } from "./protocol.js";
import { ThreadInstance } from "./thread/instance.js";

const DEADLINE_MS = 30_000;
const CONNECTIONS = 6;
const MAX_SEARCHES = 64;
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;
const MAX_BODY_BYTES = 1024 * 1024;

/** Shares of the deadline after which reads, and reads of documents, are given up. */
const READS_SHARE = 0.85;
const DOCUMENTS_SHARE = 0.95;

/**
 * How often a search is run again because another broke its instance. The last time it has an instance of
 * its own: however many searches break theirs, those that do not are answered.
 */
const MAX_RERUNS = 2;

/** What a caller may say about one call. */
export interface CallOptions {
  /** A query that every hit must match, besides that of the options. */
  readonly forcedFilter?: string;
  /** The indexes that this call may know of; those of the options without it, and none that they lack. */
  readonly indexes?: readonly string[];
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
  /** Ends the guest's instances and threads. Searches under way, and later ones, are refused. */
  close(): Promise<void>;
}

/** Makes a `Canter`. Throws a `CanterError` of kind `invalid` if the options cannot work. */
export function createCanter(options: CanterOptions): Canter {
  checkOptions(options);
  return new Host(options);
}

class Host implements Canter {
  private readonly shared: SharedIo;
  private readonly instances: Instances;
  private readonly log: Log;

  constructor(private readonly options: CanterOptions) {
    const { cache, threads } = options;
    this.log = options.log ?? ((what, error) => console.error(`canter: ${what}:`, error));
    this.instances = new Instances(instanceSource(options, this.log), {
      maxInstances: threads?.max ?? 1,
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
    const use = { maxMs: DEADLINE_MS, signal, isAlone: false };
    const versions = Array.from({ length: this.instances.options.maxInstances }, () =>
      this.instances.use(use, (instance) => instance.version(signal)),
    );
    return (await Promise.all(versions))[0] ?? "";
  }

  close(): Promise<void> {
    return this.instances.close();
  }

  async fetch(request: Request, options: CallOptions = {}): Promise<Response> {
    const url = new URL(request.url);
    const { http: manners = PLAIN, maxBodyBytes = MAX_BODY_BYTES } = this.options;
    let manner: Manner | undefined;
    let body: Uint8Array;
    try {
      manner = manners.mannerOf?.(url.pathname, request.headers);
      body = await manners.readBody(request, maxBodyBytes);
    } catch (error) {
      const failure =
        error instanceof CanterError ? error : new CanterError("invalid", "the body broke off");
      return responseOf(manners.refuse(failure, url.pathname, request.headers), newReport());
    }
    const { method } = request;
    const signal = options.signal ?? request.signal;
    const given = url.search.replace(/^\?/, "");
    const query = manner?.query(given) ?? given;
    const answer = await this.handle(
      { method, path: url.pathname, query, body },
      { ...options, signal },
    );
    const response = manner?.shape(answer.response) ?? answer.response;
    return responseOf(response, answer.report, !this.isFiltered(options));
  }

  async handle(request: HttpRequest, options: CallOptions = {}): Promise<Answer> {
    const report = newReport();
    const settings = this.settings(options);
    const { fanOut, http: manners = PLAIN } = this.options;
    const maxLeaves = options.dividesSearches === false ? 1 : (fanOut?.maxLeaves ?? 1);
    try {
      const opening = { kind: "http", request, settings, maxLeaves } as const;
      const outcome = await this.run(opening, report, options);
      if (outcome.tag === "http") return { response: outcome.val, report };
      throw new CanterError("internal", `the guest answered a request with ${outcome.tag}`);
    } catch (error) {
      return { response: manners.refuse(this.asCanterError(error), request.path), report };
    }
  }

  async search(request: SearchRequest, options: CallOptions = {}) {
    const { index = this.indexesOf(options)[0] ?? "", ...parameters } = request;
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
    const outcome = await this.run({ kind: "leaf", leaf }, newReport(), options).catch((error) => {
      throw this.asCanterError(error);
    });
    if (outcome.tag === "partial") return outcome.val;
    throw new CanterError("internal", `the guest answered a leaf request with ${outcome.tag}`);
  }

  /** The indexes that a call may know of. */
  private indexesOf({ indexes: allowed }: CallOptions): readonly string[] {
    const { indexes } = this.options;
    return allowed === undefined ? indexes : indexes.filter((name) => allowed.includes(name));
  }

  /** Whether a caller sees a part of the documents only. */
  private isFiltered(options: CallOptions): boolean {
    return this.filtersOf(options).length > 0;
  }

  /** What every hit must match: the filter of the host, that of the call, or both. */
  private filtersOf(options: CallOptions): string[] {
    const filters = [this.options.forcedFilter, options.forcedFilter];
    return filters.filter((filter) => filter !== undefined);
  }

  private settings(options: CallOptions): string {
    const filters = this.filtersOf(options);
    return JSON.stringify({
      indexes: this.indexesOf(options),
      limits: this.options.limits ?? {},
      keeps_partial_results: this.shared.cache !== undefined,
      now_ms: Date.now(),
      ...(filters.length === 0 ? {} : { forced_filter: filters }),
    });
  }

  /** Runs a search, and again if another breaks the instance that it runs on. */
  private async run(
    opening: Opening,
    report: SearchReport,
    options: CallOptions,
  ): Promise<Outcome> {
    const startedMs = performance.now();
    const over = new AbortController();
    const signals = options.signal === undefined ? [over.signal] : [over.signal, options.signal];
    const signal = AbortSignal.any(signals);
    const maxMs = lower(
      this.options.budget?.deadlineMs ?? DEADLINE_MS,
      options.budget?.deadlineMs,
    );
    const timer = new Timer(over, startedMs, maxMs);
    const search: Search = { report, options, startedMs, maxMs, signal, timer, runs: [] };
    try {
      for (let numReruns = 0; ; numReruns++) {
        const isAlone = numReruns === MAX_RERUNS;
        try {
          return await this.instances.use({ maxMs, signal, isAlone }, (instance) =>
            this.runOn(instance, opening, search),
          );
        } catch (error) {
          if (error instanceof GivenUp) throw tooLate(startedMs);
          if (!(error instanceof InstanceLost) || isAlone) throw error;
          if (signal.aborted) throw tooLate(startedMs);
        }
      }
    } finally {
      timer.stop();
      report.elapsed_us = Math.round((performance.now() - startedMs) * 1000);
      for (const io of search.runs) addCosts(report, costsOf(io));
      if (search.runs.length > 0) {
        const stored = Promise.all(search.runs.map((io) => io.settle()));
        const waitUntil = options.waitUntil ?? this.options.waitUntil;
        // Without somebody to wait for it, the answer does.
        if (waitUntil === undefined) await stored;
        else waitUntil(stored);
      }
      over.abort();
    }
  }

  /** One run of a search: its session, and the leaves and the root of what that plans. */
  private async runOn(instance: Instance, opening: Opening, search: Search): Promise<Outcome> {
    const { signal, timer, maxMs } = search;
    let session = await instance.open(opening, signal);
    let { budget } = session;
    // Leaves do not know what the others have spent, so a search with a budget of its own is not divided.
    if (opening.kind === "http" && opening.maxLeaves > 1 && hasBudget(budget)) {
      session.close();
      session = await instance.open({ ...opening, maxLeaves: 1 }, signal);
      ({ budget } = session);
    }
    // What the request asks of its host is known as soon as its session is open.
    const deadlineMs = lower(maxMs, numberOf(budget.deadlineMs));
    timer.set(deadlineMs);
    const io = this.searchIo(budget, search, deadlineMs);
    search.runs.push(io);
    const outcome = await drive(session, io);
    return outcome.tag === "plan" ? this.runPlan(instance, io, outcome.val) : outcome;
  }

  private searchIo(asked: Budget, search: Search, deadlineMs: number): SearchIo {
    const { startedMs, signal } = search;
    const host = this.options.budget ?? {};
    const call = search.options.budget ?? {};
    const budget = {
      maxRequests: lowest(host.maxRequests, call.maxRequests, numberOf(asked.maxRequests)),
      maxBytes: lowest(host.maxBytes, call.maxBytes, numberOf(asked.maxBytes)),
      maxWaves: lowest(host.maxWaves, call.maxWaves, numberOf(asked.maxWaves)),
      maxSubrequests: lowest(host.maxSubrequests, call.maxSubrequests),
    };
    // A further run has the search's budget anew, or its answer would tell of another's trap. What the
    // platform allows it does not have anew.
    const gate = new Gate(budget, search.runs.at(-1)?.gate.numSubrequests);
    const readsUntilMs = startedMs + deadlineMs * READS_SHARE;
    const documentsUntilMs = startedMs + deadlineMs * DOCUMENTS_SHARE;
    return new SearchIo(
      this.shared,
      gate,
      newReport(),
      startedMs,
      readsUntilMs,
      documentsUntilMs,
      signal,
    );
  }

  /** Runs the leaves side by side, wherever they run, and merges what they bring. */
  private async runPlan(instance: Instance, io: SearchIo, plan: QueryPlan): Promise<Outcome> {
    const { fanOut } = this.options;
    if (fanOut === undefined)
      throw new CanterError("internal", "the guest divided a search unasked");
    // All or none: a search that does not fit says so before it starts.
    for (const _ of plan.leaves) io.gate.admit("a leaf search", { offset: 0 });
    const partials = await Promise.all(
      plan.leaves.map((leaf) => inTime(fanOut.runLeaf(leaf, io.signal), io)),
    );
    return run(instance, io, { kind: "root", root: plan.root, partials });
  }

  /** What a caller is told of a failure; the log has the rest of what is nobody's but the operator's. */
  private asCanterError(error: unknown): CanterError {
    if (error instanceof CanterError) return error;
    if (error instanceof InstanceLost) {
      return new CanterError("internal", "the engine was lost again and again; try again");
    }
    if (error instanceof FetchFailure) return new CanterError("limit", error.message);
    this.log("a search broke off", error);
    return new CanterError("internal", "the search broke off; the log of this host says why");
  }
}

/** A search, however often it is run. */
interface Search {
  readonly report: SearchReport;
  readonly options: CallOptions;
  readonly startedMs: number;
  /** How long it may take, unless the request asks for less. */
  readonly maxMs: number;
  readonly signal: AbortSignal;
  readonly timer: Timer;
  /** The traffic of each run. */
  readonly runs: SearchIo[];
}

/** Ends a search when its time is up. */
class Timer {
  private handle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly over: AbortController,
    private readonly startedMs: number,
    maxMs: number,
  ) {
    this.set(maxMs);
  }

  /** The search may take so long from its beginning. */
  set(maxMs: number): void {
    this.stop();
    const leftMs = this.startedMs + maxMs - performance.now();
    this.handle = setTimeout(() => this.over.abort(), Math.max(leftMs, 0));
  }

  stop(): void {
    clearTimeout(this.handle);
  }
}

/** Makes the instances that the options describe. */
function instanceSource(options: CanterOptions, log: Log): () => Promise<Instance> {
  const { threads, module } = options;
  if (threads !== undefined) return () => ThreadInstance.start(threads.start, log);
  const source = options.guest ?? guestSource(module ?? missingModule);
  return async () => {
    try {
      return new LocalInstance(await source(), log);
    } catch (error) {
      if (error instanceof CanterError) throw error;
      log("the guest cannot be started", error);
      throw new CanterError("internal", "the engine cannot be started; the log of this host says why");
    }
  };
}

function missingModule(): never {
  throw new CanterError("invalid", "give either module or guest");
}

/** What a run has cost. */
function costsOf({ report, gate }: SearchIo): SearchReport {
  return { ...report, num_subrequests: gate.numSubrequests };
}

/** Whether the request has a limit of its own. */
function hasBudget({ maxRequests, maxBytes, maxWaves, deadlineMs }: Budget): boolean {
  return [maxRequests, maxBytes, maxWaves, deadlineMs].some((limit) => limit !== undefined);
}

/** What `work` gives, unless the search is over before: a leaf may run where `signal` does not reach. */
function inTime<T>(work: Promise<T>, io: SearchIo): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(tooLate(io.startedMs));
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
