/*
 * What the search asked of the object store, wave by wave, and what that costs.
 */

import { PRICES_AS_OF, SERVICES, priceOf } from "../api/prices.js";
import { html, refill } from "../ui/dom.js";
import { bytes, count, counted, dollars, duration } from "../ui/format.js";
import { timeline } from "./timeline.js";

/** @import { Session, Result } from "../state/session.js" */
/** @import { Cost } from "../api/cost.js" */

/** @param {Session} session */
export function createCost(session) {
  const place = html("div", { class: "cost" });
  const draw = () => {
    const { result } = session;
    if (result === null || session.state.view !== "cost") return;
    refill(place, ...content(session, result));
  };
  session.on("result", draw);
  session.on("state", draw);
  return place;
}

/** @param {Session} session @param {Result} result */
function content({ total }, { cost, answer }) {
  if (!cost.isKnown) {
    return [
      html(
        "p",
        { class: "muted" },
        "The server does not tell what this search cost. Under a forced filter it never does, because the cost would tell of documents behind the filter.",
      ),
    ];
  }
  return [
    html(
      "dl",
      { class: "facts" },
      ...fact("Waves", count(cost.numWaves), "round trips, one after the other"),
      ...fact("Requests", count(cost.numRequests), "what object stores bill"),
      ...fact("Bytes", bytes(cost.numBytes), "what was transferred"),
      ...fact(
        "From the cache",
        count(cost.numCacheHits),
        cost.numCacheBytes ? bytes(cost.numCacheBytes) : "reads that cost nothing",
      ),
      ...fact("Time", duration(cost.elapsedUs), `${duration(cost.guestUs)} of computing`),
    ),
    html("h3", {}, "Timeline"),
    timeline(cost),
    html("h3", {}, "Price"),
    prices(cost),
    ...splits(answer.profile),
    html(
      "p",
      { class: "muted small" },
      `Since the page was opened: ${counted(total.numSearches, "answer")}, ${counted(total.numRequests, "request")}, ${bytes(total.numBytes)}.`,
    ),
  ];
}

/** @param {string} name @param {string} value @param {string} about */
function fact(name, value, about) {
  return [
    html(
      "div",
      { class: "fact" },
      html("dt", {}, name),
      html("dd", {}, html("b", {}, value), html("span", { class: "muted" }, about)),
    ),
  ];
}

/** @param {Cost} cost */
function prices(cost) {
  const cell = (/** @type {number} */ value) =>
    html("td", { class: "col-number" }, value === 0 ? "–" : dollars(value));
  return html(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Price" },
    html(
      "table",
      { class: "data" },
      html(
        "caption",
        {},
        `Of this search, as if the index were there. List prices of ${PRICES_AS_OF}, without free allowances and taxes.`,
      ),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html("th", { scope: "col" }, "Store"),
          ...["Requests", "Transfer", "Together", "A million of them"].map((name) =>
            html("th", { scope: "col", class: "col-number" }, name),
          ),
        ),
      ),
      html(
        "tbody",
        {},
        ...SERVICES.map((service) => {
          const { requests, transfer, total } = priceOf(cost, service);
          return html(
            "tr",
            {},
            html("th", { scope: "row" }, service.name),
            cell(requests),
            cell(transfer),
            cell(total),
            cell(total * 1e6),
          );
        }),
      ),
    ),
  );
}

/** What became of the splits. @param {Record<string, unknown> | undefined} profile */
function splits(profile) {
  if (profile === undefined) return [];
  const number = (/** @type {string} */ name) => Number(profile[`num_splits${name}`] ?? 0);
  /** @type {[string, number][]} */
  const rows = [
    ["in the index", number("")],
    ["searched", number("_searched")],
    ["left out by time", number("_pruned_by_time")],
    ["left out by tags", number("_pruned_by_tags")],
    ["left out by filters of their terms", number("_pruned_by_filter")],
    ["answered from their heads alone", number("_answered_from_head")],
    ["answered from the cache alone", number("_answered_from_cache")],
    ["not needed for the newest hits", number("_not_needed")],
  ];
  return [
    html("h3", {}, "Splits"),
    html(
      "ul",
      { class: "split-list" },
      ...rows
        .filter(([name, value]) => value > 0 || name === "searched")
        .map(([name, value]) => html("li", {}, html("b", {}, count(value)), ` ${name}`)),
    ),
  ];
}
