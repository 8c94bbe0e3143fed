/*
 * The timeline of requests: a row for each, a bar from when it was sent to when its last byte came. Rows of
 * one wave stand together, because a wave is what one waits for.
 */

import type { RequestRecord, SearchReport } from "canter-search/browser";

import { html } from "./dom.js";
import { bytes, duration } from "./format.js";

/** What classes of bytes are called. */
const NAMES: Readonly<Record<string, string>> = {
  manifest: "manifest",
  head: "head",
  dictionary: "dictionary",
  postings: "postings",
  "fast-field": "columns",
  "doc-store": "documents",
};

/** Draws the requests of one search into `place`. */
export function drawTimeline(place: HTMLElement, report: SearchReport): void {
  const end = Math.max(
    report.elapsed_us,
    ...report.waves.flatMap((wave) => wave.requests.map((r) => r.end_us)),
    1,
  );
  const rows = report.waves.flatMap(({ requests }, ord) => [
    html("p", { class: "wave" }, `Wave ${ord + 1}`),
    ...[...requests]
      .sort((a, b) => a.start_us - b.start_us)
      .map((request) => drawRequest(request, end)),
  ]);
  if (rows.length === 0) {
    place.replaceChildren(html("p", { class: "empty" }, "Nothing: all came from the cache."));
    return;
  }
  const axis = html(
    "div",
    { class: "request scale", "aria-hidden": "true" },
    html("span", {}),
    html(
      "span",
      { class: "track" },
      html("i", {}, "0"),
      html("i", {}, duration(end / 2)),
      html("i", {}, duration(end)),
    ),
    html("span", {}),
  );
  place.replaceChildren(html("div", { class: "timeline" }, ...rows, axis));
}

function drawRequest(request: RequestRecord, end: number): HTMLElement {
  const { start_us, end_us, length, offset, error } = request;
  const bar = html("i", {
    class: error === undefined ? `bar class-${request.class}` : "bar failed",
  });
  bar.style.left = `${(100 * start_us) / end}%`;
  bar.style.width = `${Math.max((100 * (end_us - start_us)) / end, 0.6)}%`;
  const object = shortName(request.object);
  const range = request.class === "manifest" ? "" : ` from byte ${offset}`;
  const title = `${request.object}${range}, ${bytes(length)}, ${duration(end_us - start_us)}${error === undefined ? "" : `: ${error}`}`;
  const size = error === undefined ? (length === 0 ? "not changed" : bytes(length)) : "failed";
  return html(
    "div",
    { class: "request", title },
    html(
      "span",
      { class: "what" },
      html("b", {}, NAMES[request.class] ?? request.class),
      ` ${object}`,
    ),
    html("span", { class: "track" }, bar),
    html("span", { class: "size" }, size),
  );
}

/** `logs/splits/97869412….split` → `split 978694` */
function shortName(object: string): string {
  const split = /splits\/([0-9a-f]{6})/.exec(object)?.[1];
  return split === undefined ? "" : `split ${split}`;
}

/** A few words on what was read. */
export function readsOf({ num_requests, num_bytes }: SearchReport): string {
  return num_requests === 0
    ? "no request"
    : `${number(num_requests, "request")}, ${bytes(num_bytes)}`;
}

function number(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** One line on what a search cost. */
export function costOf(report: SearchReport): string {
  const { num_requests, num_bytes, num_waves, num_cache_bytes, elapsed_us, guest_us } = report;
  const waves = `${number(num_requests, "request")} in ${number(num_waves, "wave")}, ${bytes(num_bytes)}`;
  const store = num_requests === 0 ? "No request" : waves;
  const cache = num_cache_bytes === 0 ? "" : `, ${bytes(num_cache_bytes)} from the cache`;
  return `${store}${cache}. ${duration(elapsed_us)}, of which ${duration(guest_us)} of computing.`;
}
