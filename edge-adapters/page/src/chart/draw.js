/*
 * Charts in SVG, drawn for the width that there is. An axis of times or numbers lies at the bottom, with bars or
 * lines above it; names stand at the left, each with a bar to its right, where there is room for long ones.
 */

import { html, svg } from "../ui/dom.js";
import { quantity, short } from "../ui/format.js";
import { colorsOf } from "./colors.js";
import { ticksOf } from "./scale.js";

/** @import { Data, Series } from "./series.js" */
/** @import { ChartKind } from "./spec.js" */

/** @typedef {Series & { className: string }} Drawn */

const HEIGHT = 300;
const TOP = 12;
const BOTTOM = 24;
const ROW = 26;

/**
 * @param {HTMLElement} place
 * @param {Data} data
 * @param {ChartKind} kind
 * @returns {Drawn[]} the series in the order of the legend
 */
export function drawChart(place, data, kind) {
  const colors = colorsOf(data.series.map((one) => one.name));
  const series = colors.flatMap(({ name, className }) => {
    const found = data.series.find((one) => one.name === name);
    return found === undefined ? [] : [{ ...found, className }];
  });
  const width = Math.max(place.clientWidth, 240);
  const isStacked = kind === "stacked";
  const label = `${data.what}: ${series.length} series at ${data.places.length} places. The table has the same numbers.`;
  const isUpright = data.isOrdered || kind === "line";
  const chart = isUpright
    ? upright(data, series, width, kind)
    : sideways(data, series, width, isStacked);
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", label);
  const tip = html("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  place.replaceChildren(chart, tip);
  if (isUpright) followPointer(place, chart, tip, data, series, width);
  return series;
}

/**
 * The least and the largest number on the axis of values.
 * @param {readonly Drawn[]} series
 * @param {number} numPlaces
 * @param {boolean} isStacked
 * @returns {[number, number]}
 */
function extremes(series, numPlaces, isStacked) {
  const ords = Array.from({ length: numPlaces }, (_, ord) => ord);
  const values = isStacked
    ? ords.map((ord) =>
        series.reduce((sum, { values: one }) => sum + Math.max(0, one[ord] ?? 0), 0),
      )
    : series.flatMap(({ values: all }) => all.map((value) => value ?? 0));
  return [Math.min(0, ...values), Math.max(0, ...values)];
}

/** How wide labels of the axis of values are. @param {readonly number[]} ticks */
function axisWidthOf(ticks) {
  return 14 + 7 * Math.max(...ticks.map((tick) => short(tick).length));
}

/** @param {Data} data @param {readonly Drawn[]} series @param {number} width @param {ChartKind} kind */
function upright({ places }, series, width, kind) {
  const ticks = ticksOf(...extremes(series, places.length, kind === "stacked"));
  const [low, high] = [ticks[0] ?? 0, ticks.at(-1) ?? 1];
  const axis = axisWidthOf(ticks);
  const slot = (width - axis) / Math.max(places.length, 1);
  const y = (/** @type {number} */ value) =>
    HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (value - low)) / (high - low);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT });
  for (const tick of ticks) {
    chart.append(
      svg("line", { class: "grid", x1: axis, x2: width, y1: y(tick), y2: y(tick) }),
      svg(
        "text",
        { class: "axis", x: axis - 6, y: y(tick) + 4, "text-anchor": "end" },
        short(tick),
      ),
    );
  }
  const longest = Math.max(...places.map(({ label }) => label.length), 1);
  const every = Math.ceil(Math.min(16 + longest * 7, 140) / slot);
  for (let ord = 0; ord < places.length; ord += every) {
    const text = cut(places[ord]?.label ?? "", 18);
    const x = axis + (ord + 0.5) * slot;
    // The last label must end within the picture.
    const anchor =
      x + text.length * 3.5 > width ? "end" : x - text.length * 3.5 < 0 ? "start" : "middle";
    chart.append(
      svg(
        "text",
        { class: "axis", x: anchor === "end" ? width : x, y: HEIGHT - 6, "text-anchor": anchor },
        text,
      ),
    );
  }
  const middle = (/** @type {number} */ ord) => axis + (ord + 0.5) * slot;
  chart.append(
    svg("rect", { class: "cursor", x: 0, y: TOP, width: 0, height: HEIGHT - TOP - BOTTOM }),
  );
  chart.dataset["axis"] = String(axis);
  if (kind === "line") chart.append(...lines(series, middle, y));
  else chart.append(...bars(series, places.length, slot, axis, y, kind === "stacked"));
  return chart;
}

/**
 * @param {readonly Drawn[]} series
 * @param {(ord: number) => number} x
 * @param {(value: number) => number} y
 */
function lines(series, x, y) {
  return series.flatMap(({ values, className }) => {
    let path = "";
    let isDown = false;
    for (const [ord, value] of values.entries()) {
      // A place without a number is a gap, not a zero.
      if (value === null) isDown = false;
      else {
        path += `${isDown ? "L" : "M"}${x(ord).toFixed(1)} ${y(value).toFixed(1)}`;
        isDown = true;
      }
    }
    const isSparse = values.length <= 60;
    const dots = values.flatMap((value, ord) =>
      value === null || !isSparse
        ? []
        : [svg("circle", { class: className, cx: x(ord), cy: y(value), r: 2.5 })],
    );
    return [svg("path", { class: `line ${className}`, d: path }), ...dots];
  });
}

/**
 * @param {readonly Drawn[]} series
 * @param {number} numPlaces
 * @param {number} slot
 * @param {number} axis
 * @param {(value: number) => number} y
 * @param {boolean} isStacked
 */
function bars(series, numPlaces, slot, axis, y, isStacked) {
  const gap = Math.min(slot * 0.2, 12);
  const width = Math.max((slot - gap) / (isStacked ? 1 : Math.max(series.length, 1)), 0.8);
  const drawn = [];
  for (let ord = 0; ord < numPlaces; ord += 1) {
    let below = 0;
    for (const [at, { values, className }] of series.entries()) {
      const value = values[ord] ?? 0;
      if (value === 0) continue;
      const base = isStacked ? below : 0;
      const [from, to] = [y(base), y(base + value)];
      const x = axis + ord * slot + gap / 2 + (isStacked ? 0 : at * width);
      const height = Math.max(Math.abs(from - to), 1);
      drawn.push(svg("rect", { class: className, x, y: Math.min(from, to), width, height }));
      below += Math.max(0, value);
    }
  }
  return drawn;
}

/** @param {Data} data @param {readonly Drawn[]} series @param {number} width @param {boolean} isStacked */
function sideways({ places }, series, width, isStacked) {
  const [low, high] = extremes(series, places.length, isStacked);
  const room = Math.min(260, Math.max(80, width * 0.32));
  const numLines = isStacked ? 1 : Math.max(series.length, 1);
  const line = numLines === 1 ? 16 : Math.max(6, 18 / numLines + 4);
  const row = Math.max(ROW, numLines * line + 10);
  const numbers = 64;
  const x = (/** @type {number} */ value) =>
    room + ((width - room - numbers) * (value - low)) / (high - low || 1);
  const height = places.length * row + 8;
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, height });
  for (const [ord, { label }] of places.entries()) {
    const top = ord * row + 4;
    const text = svg(
      "text",
      { class: "axis name", x: room - 8, y: top + row / 2 + 4, "text-anchor": "end" },
      cut(label, Math.floor(room / 7)),
    );
    text.append(svg("title", {}, label));
    chart.append(text);
    let below = 0;
    for (const [at, { values, className, name }] of series.entries()) {
      const value = values[ord] ?? 0;
      const base = isStacked ? below : 0;
      const [from, to] = [x(base), x(base + value)];
      const y = top + (row - numLines * line) / 2 + (isStacked ? 0 : at * line);
      const size = {
        x: Math.min(from, to),
        y,
        width: Math.max(Math.abs(to - from), value === 0 ? 0 : 1),
        height: line - 2,
      };
      const bar = svg("rect", { class: className, rx: 2, ...size });
      bar.append(svg("title", {}, `${label}, ${name}: ${quantity(value)}`));
      chart.append(bar);
      if (isStacked) below += Math.max(0, value);
      if (!isStacked && line >= 10)
        chart.append(numberAt(x(Math.max(value, 0)) + 5, y + line / 2 + 3, value));
    }
    if (isStacked) chart.append(numberAt(x(below) + 5, top + row / 2 + 4, below));
  }
  return chart;
}

/** @param {number} x @param {number} y @param {number} value */
function numberAt(x, y, value) {
  return svg("text", { class: "axis", x, y }, short(value));
}

/** @param {string} text @param {number} length */
function cut(text, length) {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}

/**
 * Shows the numbers of the place that the pointer is at.
 * @param {HTMLElement} place
 * @param {SVGSVGElement} chart
 * @param {HTMLElement} tip
 * @param {Data} data
 * @param {readonly Drawn[]} series
 * @param {number} width
 */
function followPointer(place, chart, tip, data, series, width) {
  const axis = Number(chart.dataset["axis"]);
  const slot = (width - axis) / Math.max(data.places.length, 1);
  const cursor = chart.querySelector(".cursor");
  chart.addEventListener("pointermove", (event) => {
    const ord = Math.floor((event.clientX - place.getBoundingClientRect().left - axis) / slot);
    const at = data.places[ord];
    tip.hidden = at === undefined;
    cursor?.setAttribute("width", at === undefined ? "0" : String(slot));
    if (at === undefined) return;
    cursor?.setAttribute("x", String(axis + ord * slot));
    const rows = [...series]
      .reverse()
      .filter(({ values }) => values[ord] !== null && values[ord] !== undefined)
      .map(({ name, values, className }) =>
        html(
          "li",
          {},
          html("i", { class: `dot ${className}` }),
          name,
          html("b", {}, quantity(values[ord] ?? 0)),
        ),
      );
    tip.replaceChildren(html("p", {}, at.long), html("ul", {}, ...rows));
    const half = tip.offsetWidth / 2;
    tip.style.left = `${Math.max(half, Math.min(axis + (ord + 0.5) * slot, width - half))}px`;
  });
  chart.addEventListener("pointerleave", () => {
    tip.hidden = true;
    cursor?.setAttribute("width", "0");
  });
}
