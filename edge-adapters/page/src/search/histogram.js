/*
 * Events over time: the caption with its choices, and the bars (histogram-bars.js).
 */

import { onPrefs, zoneName } from "../state/prefs.js";
import { momentText } from "../state/time.js";
import { html, refill } from "../ui/dom.js";
import { counted } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { colorsOf } from "../chart/colors.js";
import { fieldsForBucket } from "../chart/spec.js";
import { drawBars } from "./histogram-bars.js";

/** @import { Session, Result } from "../state/session.js" */
/** @import { Colored } from "../chart/colors.js" */

/** @typedef {{ startMs: number, endMs: number, numDocs: number, levels: { name: string, numDocs: number }[] }} Bar */

/** What is left of a bar behind its most frequent values. */
const REST = "other";

/** @param {Session} session */
export function createHistogram(session) {
  const place = html("div", { class: "histogram" });
  const legend = html("ul", { id: "legend", class: "legend", "aria-label": "Colours" });
  const step = html("span", { class: "muted" });
  const select = html("select", { id: "breakdown", class: "select small" });
  select.addEventListener("change", () => session.go({ breakdown: select.value }));
  const out = html(
    "button",
    { type: "button", class: "button quiet small", onclick: () => zoomOut(session) },
    icon("minus"),
    "Zoom out",
  );
  const figure = html(
    "figure",
    { class: "card figure" },
    html(
      "figcaption",
      {},
      html("h2", {}, "Events over time"),
      step,
      legend,
      html("span", { class: "spacer" }),
      out,
      html(
        "span",
        { class: "row" },
        html("label", { for: "breakdown", class: "muted" }, "by"),
        select,
      ),
    ),
    place,
  );
  const draw = () => {
    const { result, info } = session;
    figure.hidden = info !== undefined && info.timestampField === null;
    if (result === null || info === undefined || figure.hidden) return;
    const bars = readBars(result);
    const names = namesOf(bars);
    const colors = colorsOf(names).map((one) =>
      one.name === REST ? { ...one, className: "series-rest" } : one,
    );
    refill(step, result.asked.step === null ? "" : `per ${stepName(result.asked.step.param)}`);
    refill(legend, ...[...colors].reverse().map(legendItem));
    drawBars(place, bars, {
      colors,
      stepMs: stepOf(result.asked, result.answer.aggregations?.["histogram"]?.buckets ?? []),
      zone: zoneName(),
      onPick: (first, last) => session.go({ from: momentText(first), to: momentText(last) }),
    });
  };
  const drawChoices = () => {
    const { info, state } = session;
    if (info === undefined) return;
    out.hidden = state.from === "" && state.to === "";
    const names = fieldsForBucket("terms", info.fields).map((field) => field.name);
    refill(
      select,
      html("option", { value: "-" }, "nothing"),
      ...names.map((name) => html("option", { value: name }, name)),
    );
    select.value = state.breakdown === "" ? (session.levelField ?? "-") : state.breakdown;
  };
  let width = 0;
  new ResizeObserver(() => {
    if (width === place.clientWidth) return;
    width = place.clientWidth;
    draw();
  }).observe(place);
  session.on("result", draw);
  session.on("state", drawChoices);
  session.on("indexes", drawChoices);
  onPrefs(draw);
  return figure;
}

/** @param {Colored} colored */
export function legendItem({ name, className }) {
  return html("li", {}, html("i", { class: `dot ${className}` }), name);
}

/** How wide a bar is, in milliseconds. @param {Result["asked"]} asked @param {any[]} buckets */
function stepOf({ step }, buckets) {
  return step?.ms ?? (buckets.length > 1 ? buckets[1].key - buckets[0].key : 60_000);
}

/** @param {Result} result @returns {Bar[]} */
function readBars({ answer, asked }) {
  /** @type {any[]} */
  const buckets = answer.aggregations?.["histogram"]?.buckets ?? [];
  const last = stepOf(asked, buckets);
  return buckets.map((bucket, ord) => {
    const levels = (bucket.levels?.buckets ?? []).map((/** @type {any} */ level) => ({
      name: String(level.key_as_string ?? level.key),
      numDocs: level.doc_count,
    }));
    const rest = bucket.levels?.sum_other_doc_count ?? 0;
    return {
      startMs: bucket.key,
      endMs: buckets[ord + 1]?.key ?? bucket.key + last,
      numDocs: bucket.doc_count,
      levels: rest > 0 ? [...levels, { name: REST, numDocs: rest }] : levels,
    };
  });
}

/** Names of all levels, the most frequent first. @param {readonly Bar[]} bars */
function namesOf(bars) {
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const { name, numDocs } of bars.flatMap((bar) => bar.levels)) {
    totals.set(name, (totals.get(name) ?? 0) + numDocs);
  }
  const sorted = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  // Each bar has its own most frequent values: together they may be more than there are colours.
  const most = sorted.filter((name) => name !== REST).slice(0, 7);
  return sorted.length > most.length ? [...most, REST] : most;
}

const UNITS = /** @type {const} */ ({ s: "second", m: "minute", h: "hour", d: "day" });

/** @param {Record<string, string>} param */
function stepName(param) {
  const calendar = param["calendar_interval"];
  if (calendar !== undefined) return calendar;
  const [, length = "1", unit = "s"] = /^(\d+)(\w)$/.exec(param["fixed_interval"] ?? "") ?? [];
  const name = UNITS[/** @type {keyof typeof UNITS} */ (unit)];
  return length === "1" ? name : counted(Number(length), name);
}

/** Three times the range that was searched, with the same middle. @param {Session} session */
function zoomOut(session) {
  const bounds = session.result?.asked.bounds;
  if (bounds == null) return session.go({ from: "", to: "" });
  const length = bounds.endMs - bounds.startMs;
  const info = session.info;
  const [start, end] = [bounds.startMs - length, bounds.endMs + length];
  const isAll =
    info?.minTime != null &&
    info.maxTime != null &&
    start <= info.minTime * 1000 &&
    end > info.maxTime * 1000;
  session.go(isAll ? { from: "", to: "" } : { from: momentText(start), to: momentText(end) });
}
