/*
 * What the page shows, as the query string of its URL: a link is all that somebody else needs to see the same.
 */

/** @import { Filter } from "./query-text.js" */
/** @import { ChartSpec } from "../chart/spec.js" */

import { readChart } from "../chart/spec.js";
import { readLength } from "./time.js";

/** @typedef {"documents" | "patterns" | "chart" | "cost"} View */

/** @type {readonly View[]} */
const VIEWS = ["documents", "patterns", "chart", "cost"];

/** The language of the query. @typedef {"canter" | "kql"} Language */

/**
 * Empty texts are what was not chosen: the first index, all time, guessed columns, the newest first, a guessed
 * field to break the histogram down by (`-` is none), a guessed field of messages, no pattern marked as new.
 * @typedef {{
 *   index: string, query: string, language: Language, filters: Filter[], from: string, to: string, columns: string[],
 *   sort: string, breakdown: string, view: View, numHits: number, doc: number | null, chart: ChartSpec | null,
 *   patternsOf: string, newSince: string,
 * }} State
 */

export const PAGE_OF_HITS = 50;
/** More would be slow to draw, and nobody reads them. */
export const MAX_HITS = 2000;

/** @returns {State} */
export function emptyState() {
  return {
    index: "",
    query: "",
    language: "canter",
    filters: [],
    from: "",
    to: "",
    columns: [],
    sort: "",
    breakdown: "",
    view: "documents",
    numHits: PAGE_OF_HITS,
    doc: null,
    chart: null,
    patternsOf: "",
    newSince: "",
  };
}

/**
 * @param {string} search
 * @returns {State}
 */
export function readState(search) {
  const parameters = new URLSearchParams(search);
  const text = (/** @type {string} */ name) => parameters.get(name) ?? "";
  const numHits = Number.parseInt(text("hits"), 10);
  const doc = Number.parseInt(text("doc"), 10);
  const view = text("view");
  return {
    index: text("index"),
    query: text("q"),
    language: text("language") === "kql" ? "kql" : "canter",
    filters: [...parameters].flatMap(([name, value]) => readFilter(name, value)),
    from: text("from"),
    to: text("to"),
    columns: text("columns")
      .split(",")
      .filter((name) => name !== ""),
    sort: text("sort"),
    breakdown: text("by"),
    view: VIEWS.find((one) => one === view) ?? "documents",
    numHits: numHits > 0 ? Math.min(numHits, MAX_HITS) : PAGE_OF_HITS,
    doc: doc > 0 ? doc - 1 : null,
    chart: readChart(text("chart")),
    patternsOf: text("patterns"),
    newSince: readLength(text("new")) === undefined ? "" : text("new"),
  };
}

/**
 * @param {State} state
 * @returns {string} with the question mark, or empty
 */
export function writeState(state) {
  const parameters = new URLSearchParams();
  const set = (/** @type {string} */ name, /** @type {string} */ value) => {
    if (value !== "") parameters.set(name, value);
  };
  set("index", state.index);
  set("q", state.query);
  if (state.language !== "canter") set("language", state.language);
  for (const { field, value, isNot } of state.filters) {
    const name = value === null ? (isNot ? "lacks" : "has") : isNot ? "not" : "is";
    parameters.append(name, value === null ? field : `${field}:${value}`);
  }
  set("from", state.from);
  set("to", state.to);
  set("columns", state.columns.join(","));
  set("sort", state.sort);
  set("by", state.breakdown);
  if (state.view !== "documents") set("view", state.view);
  if (state.numHits !== PAGE_OF_HITS) set("hits", String(state.numHits));
  if (state.doc !== null) set("doc", String(state.doc + 1));
  if (state.chart !== null) set("chart", JSON.stringify(state.chart));
  set("patterns", state.patternsOf);
  set("new", state.newSince);
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/**
 * @param {string} name
 * @param {string} value
 * @returns {Filter[]}
 */
function readFilter(name, value) {
  if (name === "has" || name === "lacks")
    return [{ field: value, value: null, isNot: name === "lacks" }];
  if (name !== "is" && name !== "not") return [];
  const colon = value.indexOf(":");
  if (colon <= 0) return [];
  return [{ field: value.slice(0, colon), value: value.slice(colon + 1), isNot: name === "not" }];
}

/** What decides which documents are found, and in what order. @param {State} state */
export function searchKey({ index, query, language, filters, from, to, sort, breakdown }) {
  return JSON.stringify([index, query, language, filters, from, to, sort, breakdown]);
}
