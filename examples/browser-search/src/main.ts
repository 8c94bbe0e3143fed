/*
 * The page: takes questions, asks the engine, draws answers. The question stands in the URL, so that it can
 * be sent to somebody.
 */

import { byId, html } from "./dom.js";
import { age, bytes, count, duration, moment } from "./format.js";
import { drawHistogram, drawLegend } from "./histogram.js";
import { drawHits } from "./hits.js";
import {
  type Bucket,
  type Found,
  type IndexInfo,
  type Question,
  Searcher,
  type Settings,
} from "./search.js";
import { costOf, drawTimeline, readsOf } from "./timeline.js";

const HITS = 10;
const MAX_HITS = 200;

let asked: AbortController | undefined;
let shown: Found | undefined;

async function main(): Promise<void> {
  if ("serviceWorker" in navigator) {
    // Without it the page works as well, but not off line.
    navigator.serviceWorker
      .register("service-worker.js", { type: "module" })
      .catch(() => undefined);
  }
  const settings = (await (await fetch("settings.json")).json()) as Settings;
  byId("title").textContent = settings.title;
  const searcher = await Searcher.start(settings);
  const info = await searcher.describe();
  const places = `${count(info.numDocs)} events, ${bytes(info.numBytes)} in ${info.numSplits} splits`;
  byId("about").textContent = places;
  const ask = (question: Question, isNew = true) => answer(searcher, info, question, isNew);
  listen(settings, ask);
  await ask(readQuestion(), false);
}

function listen(
  settings: Settings,
  ask: (question: Question, isNew?: boolean) => Promise<void>,
): void {
  const query = byId<HTMLInputElement>("query");
  byId("form").addEventListener("submit", (event) => {
    event.preventDefault();
    void ask({ query: query.value.trim() || "*", maxHits: HITS, range: readQuestion().range });
  });
  for (const example of settings.examples) {
    const chip = html("button", { type: "button", class: "chip" }, example);
    chip.addEventListener("click", () => void ask({ query: example, maxHits: HITS }));
    byId("examples").append(chip);
  }
  byId("range").addEventListener("click", () => {
    void ask({ query: readQuestion().query, maxHits: HITS });
  });
  byId("more").addEventListener("click", () => {
    const question = readQuestion();
    void ask({ ...question, maxHits: Math.min(question.maxHits + 40, MAX_HITS) });
  });
  addEventListener("popstate", () => void ask(readQuestion(), false));
  const showNetwork = () => (byId("offline").hidden = navigator.onLine);
  addEventListener("online", showNetwork);
  addEventListener("offline", showNetwork);
  showNetwork();
}

/** The question in the URL. */
function readQuestion(): Question {
  const parameters = new URLSearchParams(location.search);
  const [start, end] = [Number(parameters.get("from")), Number(parameters.get("to"))];
  const hits = Number(parameters.get("hits") ?? HITS);
  return {
    query: parameters.get("q") ?? "*",
    maxHits: hits > 0 && hits <= MAX_HITS ? hits : HITS,
    range: start > 0 && end > start ? { start, end } : undefined,
  };
}

function writeQuestion({ query, maxHits, range }: Question): void {
  const parameters = new URLSearchParams({ q: query });
  if (range !== undefined) {
    parameters.set("from", String(range.start));
    parameters.set("to", String(range.end));
  }
  if (maxHits !== HITS) parameters.set("hits", String(maxHits));
  history.pushState(null, "", `?${parameters}`);
}

async function answer(
  searcher: Searcher,
  info: IndexInfo,
  question: Question,
  isNew: boolean,
): Promise<void> {
  asked?.abort();
  const mine = new AbortController();
  asked = mine;
  if (isNew) writeQuestion(question);
  byId<HTMLInputElement>("query").value = question.query;
  document.body.classList.add("busy");
  try {
    const found = await searcher.search(question, info, mine.signal);
    if (asked === mine) show(found, question, searcher, info);
  } catch (error) {
    if (asked === mine) complain(error instanceof Error ? error.message : String(error));
  } finally {
    if (asked === mine) document.body.classList.remove("busy");
    byId("starting").hidden = true;
  }
}

function show(found: Found, question: Question, searcher: Searcher, info: IndexInfo): void {
  shown = found;
  const { settings } = searcher;
  byId("message").hidden = true;
  byId("results").hidden = false;
  const partial = found.isPartial ? " in a part of the index" : "";
  byId("count").replaceChildren(
    html("b", {}, count(found.numHits)),
    ` ${found.numHits === 1 ? "event" : "events"}${partial} in ${duration(found.report.elapsed_us)}`,
  );
  showRange(question, found);
  const draw = () =>
    drawHistogram(byId("histogram"), found.buckets, found.stepMs, (bucket) => {
      const range = rangeOf(bucket, found.stepMs);
      void answer(searcher, info, { query: question.query, maxHits: HITS, range }, true);
    });
  draw();
  onresize = () => shown === found && draw();
  drawLegend(byId("legend"), found.buckets);
  drawHits(byId("hits"), found, settings, info.timestampField);
  byId("more").hidden = found.hits.length >= Math.min(found.numHits, MAX_HITS);
  byId("reads").textContent = readsOf(found.report);
  byId("cost").textContent = costOf(found.report);
  drawTimeline(byId("timeline"), found.report);
  const stale = found.report.stale_manifest_ms;
  byId("offline").hidden = stale === undefined && navigator.onLine;
  byId("offline").textContent =
    stale === undefined ? "offline" : `offline: the index as it was ${age(stale)} ago`;
}

function showRange({ range }: Question, { stepMs }: Found): void {
  const chip = byId("range");
  chip.hidden = range === undefined;
  if (range === undefined) return;
  const step = Math.min(stepMs, 3_600_000);
  chip.textContent = `${moment(range.start * 1000, step)} – ${moment(range.end * 1000, step)} ✕`;
  chip.setAttribute("aria-label", `${chip.textContent}: search all times again`);
}

function rangeOf({ startMs }: Bucket, stepMs: number) {
  return { start: Math.floor(startMs / 1000), end: Math.floor((startMs + stepMs) / 1000) };
}

function complain(what: string): void {
  const message = byId("message");
  message.textContent = what;
  message.hidden = false;
}

main().catch((error: unknown) => {
  byId("starting").hidden = true;
  complain(error instanceof Error ? error.message : String(error));
});
