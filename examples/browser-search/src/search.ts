/*
 * The page's questions to the search API, and its answers as types. The engine runs in a Web Worker.
 */

import { type BrowserCanter, type SearchReport, startCanter } from "canter-search/browser";

/** `settings.json`: which index is searched, and which of its fields are shown. */
export interface Settings {
  readonly title: string;
  readonly index: string;
  /** Where the index is, relative to the page or absolute. */
  readonly url: string;
  /** A fast text field with few values, that colours the histogram. */
  readonly levelField: string;
  /** The text of a hit. */
  readonly messageField: string;
  /** A short label of a hit, such as its service. */
  readonly labelField: string;
  readonly examples: readonly string[];
}

/** What is known of the index before anything is searched. */
export interface IndexInfo {
  readonly numDocs: number;
  readonly numSplits: number;
  readonly numBytes: number;
  readonly timestampField: string;
  /** First and last time of a document, in seconds since 1970. */
  readonly minTime: number;
  readonly maxTime: number;
}

/** A question. */
export interface Question {
  readonly query: string;
  readonly maxHits: number;
  /** Seconds since 1970; the end is not part of it. */
  readonly range?: { readonly start: number; readonly end: number } | undefined;
}

/** A bar of the histogram: how many documents of each level. */
export interface Bucket {
  readonly startMs: number;
  readonly numDocs: number;
  readonly levels: readonly { readonly name: string; readonly numDocs: number }[];
}

/** An answer. */
export interface Found {
  readonly numHits: number;
  readonly hits: readonly Record<string, unknown>[];
  /** For each hit, the message with `<b>` around what was searched for, if there is something. */
  readonly snippets: readonly (string | undefined)[];
  readonly buckets: readonly Bucket[];
  readonly stepMs: number;
  readonly isPartial: boolean;
  readonly report: SearchReport;
}

/** Lengths of bars to choose from, in seconds. */
const STEPS = [1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 12 * 3600, 86_400, 7 * 86_400, 30 * 86_400];
const MAX_BARS = 40;

/** Asks the engine. */
export class Searcher {
  private constructor(
    private readonly canter: BrowserCanter,
    readonly settings: Settings,
  ) {}

  /** Starts the worker with the engine. */
  static async start(settings: Settings): Promise<Searcher> {
    const worker = new Worker("canter-worker.js", { type: "module" });
    const canter = await startCanter(worker, {
      indexes: { [settings.index]: settings.url },
      guestUrl: "guest/",
      budget: { deadlineMs: 30_000 },
    });
    return new Searcher(canter, settings);
  }

  async describe(): Promise<IndexInfo> {
    const { body } = await this.ask(
      "GET",
      `/api/v1/indexes/${encodeURIComponent(this.settings.index)}`,
    );
    const info = body as Record<string, unknown>;
    return {
      numDocs: Number(info["num_published_docs"]),
      numSplits: Number(info["num_published_splits"]),
      numBytes: Number(info["size_published_splits"]),
      timestampField: String(info["timestamp_field_name"]),
      minTime: Number(info["min_timestamp"]),
      maxTime: Number(info["max_timestamp"]),
    };
  }

  async search(question: Question, info: IndexInfo, signal: AbortSignal): Promise<Found> {
    const { query, maxHits, range } = question;
    const { index, levelField, messageField } = this.settings;
    const { start, end } = range ?? { start: info.minTime, end: info.maxTime + 1 };
    const step = STEPS.find((len) => (end - start) / len <= MAX_BARS) ?? 365 * 86_400;
    const levels = { terms: { field: levelField, size: 6, order: { _count: "desc" } } };
    const request = {
      query,
      max_hits: maxHits,
      ...(range === undefined ? {} : { start_timestamp: range.start, end_timestamp: range.end }),
      ...(query === "*" ? {} : { snippet_fields: [messageField] }),
      aggs: {
        events: {
          date_histogram: { field: info.timestampField, fixed_interval: `${step}s` },
          aggs: { levels },
        },
      },
    };
    const path = `/api/v1/${encodeURIComponent(index)}/search`;
    const { body, report } = await this.ask("POST", path, JSON.stringify(request), signal);
    return readFound(body as Answer, report, step * 1000, messageField);
  }

  private async ask(method: string, path: string, body = "", signal?: AbortSignal) {
    const request = { method, path, query: "", body: new TextEncoder().encode(body) };
    const { response, report } = await this.canter.handle(request, signal);
    const answer: unknown = JSON.parse(new TextDecoder().decode(response.body));
    if (response.status !== 200) throw new Error(String((answer as { message?: unknown }).message));
    return { body: answer, report };
  }
}

interface Answer {
  readonly num_hits: number;
  readonly hits: readonly Record<string, unknown>[];
  readonly snippets?: readonly Record<string, readonly string[]>[] | null;
  readonly aggregations: { readonly events: { readonly buckets: readonly AnswerBucket[] } };
  readonly skipped_splits: readonly unknown[];
  readonly failed_splits: readonly unknown[];
}

interface AnswerBucket {
  readonly key: number;
  readonly doc_count: number;
  readonly levels: { readonly buckets: readonly { key: string; doc_count: number }[] };
}

function readFound(
  answer: Answer,
  report: SearchReport,
  stepMs: number,
  messageField: string,
): Found {
  const { buckets } = answer.aggregations.events;
  return {
    numHits: answer.num_hits,
    hits: answer.hits,
    snippets: answer.hits.map((_, ord) => answer.snippets?.[ord]?.[messageField]?.[0]),
    buckets: buckets.map(({ key, doc_count, levels }) => ({
      startMs: key,
      numDocs: doc_count,
      levels: levels.buckets.map((level) => ({ name: level.key, numDocs: level.doc_count })),
    })),
    stepMs,
    isPartial: answer.skipped_splits.length + answer.failed_splits.length > 0,
    report,
  };
}
