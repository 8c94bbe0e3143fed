/*
 * The bars of the histogram, in SVG for the width that there is. They are a list box: one stop of the Tab key,
 * arrow keys move, with Shift they select, Enter narrows the search to what is selected. A pointer that is
 * dragged over bars does the same; one that is not picks a single bar.
 *
 *   max ┤      ░▂░░░░
 *       ┤  ▄ █ ░▆░█░▅░
 *     0 ┼───────────────
 *        Apr 13   Apr 20
 */

import { niceCount } from "../chart/scale.js";
import { html, svg } from "../ui/dom.js";
import { count, longMoment, moment, short } from "../ui/format.js";

/** @import { Bar } from "./histogram.js" */
/** @import { Colored } from "../chart/colors.js" */

const HEIGHT = 136;
const TOP = 8;
const BOTTOM = 20;
const LABEL_WIDTH = 92;

/**
 * @param {HTMLElement} place
 * @param {readonly Bar[]} bars
 * @param {{ colors: readonly Colored[], stepMs: number, zone: string, onPick: (startMs: number, endMs: number) => void }} options
 */
export function drawBars(place, bars, options) {
  if (bars.length === 0) {
    place.replaceChildren(html("p", { class: "muted empty-chart" }, "No events in this time."));
    return;
  }
  const width = Math.max(place.clientWidth, 240);
  const max = niceCount(Math.max(...bars.map((bar) => bar.numDocs)));
  const axisWidth = 14 + 7 * Math.max(short(max).length, short(max / 2).length);
  const slot = (width - axisWidth) / bars.length;
  const y = (/** @type {number} */ value) =>
    HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * value) / max;
  const chart = svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT });
  for (const value of [0, max / 2, max]) {
    chart.append(
      svg("line", { class: "grid", x1: axisWidth, x2: width, y1: y(value), y2: y(value) }),
      svg(
        "text",
        { class: "axis", x: axisWidth - 6, y: y(value) + 4, "text-anchor": "end" },
        short(value),
      ),
    );
  }
  const every = Math.ceil(LABEL_WIDTH / slot);
  for (let ord = 0; ord < bars.length; ord += every) {
    const x = axisWidth + ord * slot;
    if (x + LABEL_WIDTH > width && ord > 0) break;
    const label = moment(bars[ord]?.startMs ?? 0, options.stepMs, options.zone);
    chart.append(svg("text", { class: "axis", x, y: HEIGHT - 4 }, label));
  }
  const brush = svg("rect", {
    class: "brush",
    x: 0,
    y: TOP,
    width: 0,
    height: HEIGHT - TOP - BOTTOM,
  });
  const list = svg("g", {
    class: "bars",
    role: "listbox",
    tabindex: 0,
    "aria-multiselectable": "true",
    "aria-label": `Events over time in ${bars.length} bars. Arrow keys move, with Shift they select, Enter narrows the search.`,
  });
  for (const [ord, bar] of bars.entries()) {
    list.append(drawBar(bar, ord, axisWidth + ord * slot, slot, y, options));
  }
  chart.append(list, brush);
  const tip = html("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  // A drawing that replaces the one with the focus takes it over.
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren(chart, tip);
  listen({ list, brush, tip, bars, axisWidth, slot, width, options });
  if (hadFocus) list.focus();
}

/**
 * @param {Bar} bar
 * @param {number} ord
 * @param {number} x
 * @param {number} slot
 * @param {(value: number) => number} y
 * @param {{ colors: readonly Colored[], stepMs: number, zone: string }} options
 */
function drawBar(bar, ord, x, slot, y, { colors, stepMs, zone }) {
  const gap = Math.min(slot * 0.2, 3);
  const label = `${longMoment(bar.startMs, stepMs, zone)}: ${count(bar.numDocs)}`;
  const group = svg("g", {
    class: "bucket",
    id: `bar-${ord}`,
    role: "option",
    "aria-selected": "false",
    "aria-label": label,
  });
  group.append(svg("rect", { class: "hitbox", x, y: 0, width: slot, height: HEIGHT - BOTTOM }));
  let below = 0;
  for (const { className, numDocs } of partsOf(bar, colors)) {
    const [bottom, top] = [y(below), y(below + numDocs)];
    // Even one error in thousands is seen.
    const height = Math.max(bottom - top, 1.5);
    const size = { x: x + gap / 2, y: bottom - height, width: Math.max(slot - gap, 1), height };
    group.append(svg("rect", { class: className, ...size }));
    below += numDocs;
  }
  return group;
}

/**
 * What a bar is made of, from below; values without a colour of their own are one part.
 * @param {Bar} bar
 * @param {readonly Colored[]} colors
 */
function partsOf(bar, colors) {
  const parts = colors.map(({ name, className }) => {
    const numDocs = bar.levels.find((level) => level.name === name)?.numDocs ?? 0;
    return { name, className, numDocs };
  });
  const named = parts.reduce((sum, part) => sum + part.numDocs, 0);
  const rest = {
    name: "other",
    className: colors.length === 0 ? "series-0" : "series-rest",
    numDocs: bar.numDocs - named,
  };
  return [rest, ...parts].filter(({ numDocs }) => numDocs > 0);
}

/**
 * @param {{ list: SVGGElement, brush: SVGRectElement, tip: HTMLElement, bars: readonly Bar[], axisWidth: number,
 *   slot: number, width: number, options: Parameters<typeof drawBars>[2] }} parts
 */
function listen({ list, brush, tip, bars, axisWidth, slot, width, options }) {
  let anchor = -1;
  let head = -1;
  const last = bars.length - 1;
  const show = () => {
    const [first, final] = [Math.min(anchor, head), Math.max(anchor, head)];
    const isSome = anchor >= 0;
    brush.setAttribute("x", String(axisWidth + first * slot));
    brush.setAttribute("width", isSome ? String((final - first + 1) * slot) : "0");
    for (const [ord, bar] of [...list.children].entries()) {
      bar.setAttribute("aria-selected", String(isSome && ord >= first && ord <= final));
    }
    if (head >= 0) list.setAttribute("aria-activedescendant", `bar-${head}`);
    else list.removeAttribute("aria-activedescendant");
  };
  const select = (/** @type {number} */ from, /** @type {number} */ to) => {
    anchor = from;
    head = to;
    show();
    const [first, final] = [bars[Math.min(from, to)], bars[Math.max(from, to)]];
    if (first === undefined || final === undefined) tip.hidden = true;
    else
      showTip(
        tip,
        first,
        final,
        bars.slice(Math.min(from, to), Math.max(from, to) + 1),
        axisWidth + (to + 0.5) * slot,
        width,
        options,
      );
  };
  const pick = () => {
    const [first, final] = [bars[Math.min(anchor, head)], bars[Math.max(anchor, head)]];
    if (first !== undefined && final !== undefined) options.onPick(first.startMs, final.endMs);
  };
  const at = (/** @type {PointerEvent} */ event) => {
    const left = list.ownerSVGElement?.getBoundingClientRect().left ?? 0;
    return Math.max(0, Math.min(last, Math.floor((event.clientX - left - axisWidth) / slot)));
  };
  let isDragging = false;
  list.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    isDragging = true;
    list.setPointerCapture(event.pointerId);
    select(at(event), at(event));
  });
  list.addEventListener("pointermove", (event) => {
    const ord = at(event);
    if (isDragging) select(anchor, ord);
    else if (event.pointerType === "mouse") select(ord, ord);
  });
  list.addEventListener("pointerup", () => {
    if (!isDragging) return;
    isDragging = false;
    pick();
  });
  // The browser took the gesture for scrolling.
  list.addEventListener("pointercancel", () => {
    isDragging = false;
    select(-1, -1);
  });
  list.addEventListener("pointerleave", () => {
    if (!isDragging) select(-1, -1);
  });
  list.addEventListener("blur", () => select(-1, -1));
  list.addEventListener("focus", () => {
    if (head < 0 && list.matches(":focus-visible")) select(last, last);
  });
  list.addEventListener("keydown", (event) => {
    const next = { ArrowLeft: head - 1, ArrowRight: head + 1, Home: 0, End: last }[event.key];
    if (next !== undefined) {
      const to = Math.max(0, Math.min(last, next));
      select(event.shiftKey && anchor >= 0 ? anchor : to, to);
    } else if (event.key === "Enter" || event.key === " ") pick();
    else if (event.key === "Escape" && anchor >= 0) select(head, head);
    else return;
    event.preventDefault();
  });
}

/**
 * @param {HTMLElement} tip
 * @param {Bar} first
 * @param {Bar} final
 * @param {readonly Bar[]} bars
 * @param {number} x
 * @param {number} width
 * @param {Parameters<typeof drawBars>[2]} options
 */
function showTip(tip, first, final, bars, x, width, { colors, stepMs, zone }) {
  const when = longMoment(first.startMs, stepMs, zone);
  const title = first === final ? when : `${when} – ${longMoment(final.endMs, stepMs, zone)}`;
  const numDocs = bars.reduce((sum, bar) => sum + bar.numDocs, 0);
  const parts = bars.flatMap((bar) => partsOf(bar, colors));
  const rows = [...colors].reverse().map(({ name, className }) => {
    const sum = parts
      .filter((part) => part.name === name)
      .reduce((total, part) => total + part.numDocs, 0);
    return (
      sum > 0 &&
      html("li", {}, html("i", { class: `dot ${className}` }), name, html("b", {}, count(sum)))
    );
  });
  tip.replaceChildren(
    html("p", {}, title),
    html(
      "ul",
      {},
      html("li", { class: "total" }, "events", html("b", {}, count(numDocs))),
      ...rows,
    ),
  );
  tip.hidden = false;
  const half = tip.offsetWidth / 2;
  tip.style.left = `${Math.max(half, Math.min(x, width - half))}px`;
}
