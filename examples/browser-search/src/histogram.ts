/*
 * The histogram: stacked bars in SVG, drawn for the width that there is.
 *
 *   max ┤        ▂
 *       ┤  ▄ █ ▆ █ ▅        click a bar: only its time is searched
 *     0 ┼──────────────
 *        Apr 13   Apr 20
 */

import { html, svg } from "./dom.js";
import { count, moment } from "./format.js";
import { gravity, levelClass } from "./levels.js";
import type { Bucket } from "./search.js";

const HEIGHT = 190;
const TOP = 10;
const BOTTOM = 24;
/** Room for a label of the time axis, in pixels. */
const LABEL_WIDTH = 76;

/** Draws `buckets` into `place`; `onPick` hears of the bar that was picked. */
export function drawHistogram(
  place: HTMLElement,
  buckets: readonly Bucket[],
  stepMs: number,
  onPick: (bucket: Bucket) => void,
): void {
  if (buckets.length === 0) {
    place.replaceChildren(html("p", { class: "muted" }, "No events."));
    return;
  }
  const width = Math.max(place.clientWidth, 240);
  const max = niceMax(Math.max(...buckets.map((bucket) => bucket.numDocs)));
  const axisWidth = 12 + 7 * count(max).length;
  const slot = (width - axisWidth) / buckets.length;
  const y = (numDocs: number) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * numDocs) / max;
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    height: HEIGHT,
    role: "img",
    "aria-label": `Events over time in ${buckets.length} bars, at most ${count(max)} in one`,
  });
  for (const value of [0, max / 2, max]) {
    chart.append(
      svg("line", { class: "grid", x1: axisWidth, x2: width, y1: y(value), y2: y(value) }),
      svg(
        "text",
        { class: "axis", x: axisWidth - 6, y: y(value) + 4, "text-anchor": "end" },
        count(value),
      ),
    );
  }
  const every = Math.ceil(LABEL_WIDTH / slot);
  const tip = html("div", { class: "tip", hidden: "" });
  for (const [ord, bucket] of buckets.entries()) {
    const x = axisWidth + ord * slot;
    const bar = drawBar(bucket, x, slot, y, stepMs);
    bar.addEventListener("click", () => onPick(bucket));
    bar.addEventListener("keydown", (event) => {
      if ((event as KeyboardEvent).key === "Enter") onPick(bucket);
    });
    const show = () => showTip(tip, bucket, stepMs, x + slot / 2, width);
    bar.addEventListener("pointerenter", show);
    bar.addEventListener("focus", show);
    bar.addEventListener("pointerleave", () => (tip.hidden = true));
    bar.addEventListener("blur", () => (tip.hidden = true));
    chart.append(bar);
    if (ord % every === 0 && x + LABEL_WIDTH / 2 < width) {
      const label = moment(bucket.startMs, stepMs);
      chart.append(svg("text", { class: "axis", x, y: HEIGHT - 6 }, label));
    }
  }
  place.replaceChildren(chart, tip);
}

function drawBar(
  bucket: Bucket,
  x: number,
  slot: number,
  y: (numDocs: number) => number,
  stepMs: number,
): SVGElement {
  const gap = Math.min(slot * 0.2, 4);
  const label = `${moment(bucket.startMs, stepMs)}: ${count(bucket.numDocs)}`;
  const bar = svg("g", { class: "bucket", tabindex: 0, role: "button", "aria-label": label });
  bar.append(svg("rect", { class: "hitbox", x, y: 0, width: slot, height: HEIGHT - BOTTOM }));
  const levels = [...bucket.levels].sort((a, b) => gravity(a.name) - gravity(b.name));
  const named = levels.reduce((sum, level) => sum + level.numDocs, 0);
  const rest = { name: "other", numDocs: bucket.numDocs - named };
  let below = 0;
  for (const { name, numDocs } of [...levels, rest]) {
    if (numDocs <= 0) continue;
    const [bottom, top] = [y(below), y(below + numDocs)];
    // Even one error in thousands is seen.
    const height = Math.max(bottom - top, 1.5);
    const place = { x: x + gap / 2, y: bottom - height, width: Math.max(slot - gap, 1), height };
    bar.append(svg("rect", { class: levelClass(name), ...place }));
    below += numDocs;
  }
  return bar;
}

function showTip(tip: HTMLElement, bucket: Bucket, stepMs: number, x: number, width: number): void {
  const rows = [...bucket.levels]
    .sort((a, b) => gravity(b.name) - gravity(a.name))
    .map(({ name, numDocs }) =>
      html(
        "li",
        {},
        html("i", { class: `dot ${levelClass(name)}` }),
        `${name} `,
        html("b", {}, count(numDocs)),
      ),
    );
  tip.replaceChildren(html("p", {}, moment(bucket.startMs, stepMs)), html("ul", {}, ...rows));
  tip.style.left = `${Math.min(Math.max(x, 70), width - 70)}px`;
  tip.hidden = false;
}

/** Draws which colour is which level. */
export function drawLegend(place: HTMLElement, buckets: readonly Bucket[]): void {
  const names = new Set(buckets.flatMap((bucket) => bucket.levels.map((level) => level.name)));
  const items = [...names]
    .sort((a, b) => gravity(b) - gravity(a))
    .map((name) => html("li", {}, html("i", { class: `dot ${levelClass(name)}` }), name));
  place.replaceChildren(...items);
}

/** The next of 1, 2, 4, 5, 8 or 10 times a power of ten: halves are whole, too, from 2 on. */
function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 2)));
  const factor = [1, 2, 4, 6, 8, 10].find((factor) => factor * power >= value) ?? 10;
  return Math.max(factor * power, 2);
}
