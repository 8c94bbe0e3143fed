/*
 * Times of a search. An end is written as
 *
 *   now-15m            before the clock's time
 *   newest-1d          before the end of the index's newest second
 *   2026-05-01T10:00Z  then
 *
 * and stays so in the URL: a link with `now-15m` means the last fifteen minutes whenever it is opened.
 */

/** Milliseconds of what the two names stand for. @typedef {{ nowMs: number, newestMs: number | null }} Anchors */

/** Seconds since 1970; the start is included, the end is not. @typedef {{ start?: number, end?: number }} Range */

const RELATIVE = /^(now|newest)(?:-(\d+)([smhdwMy]))?$/;

/** @type {Readonly<Record<string, readonly [number, string]>>} */
const UNITS = {
  s: [1000, "second"],
  m: [60_000, "minute"],
  h: [3_600_000, "hour"],
  d: [86_400_000, "day"],
  w: [7 * 86_400_000, "week"],
  M: [30 * 86_400_000, "month"],
  y: [365 * 86_400_000, "year"],
};

/** Lengths that the time picker offers. */
export const QUICK = ["15m", "1h", "6h", "1d", "7d", "30d", "1y"];

/**
 * Milliseconds since 1970, or nothing if it cannot be read.
 * @param {string} text
 * @param {Anchors} anchors
 */
export function readMoment(text, { nowMs, newestMs }) {
  const relative = RELATIVE.exec(text.trim());
  if (relative === null) {
    const ms = Date.parse(text);
    return Number.isNaN(ms) ? undefined : ms;
  }
  const [, anchor, count = "0", unit = "s"] = relative;
  const from = anchor === "now" ? nowMs : (newestMs ?? nowMs);
  const ms = from - Number(count) * (UNITS[unit]?.[0] ?? 0);
  // A link may say `now-99999999y`.
  return Number.isNaN(new Date(ms).getTime()) ? undefined : ms;
}

/**
 * @param {string} from
 * @param {string} to
 * @param {Anchors} anchors
 * @returns {Range}
 */
export function readRange(from, to, anchors) {
  /** @type {Range} */
  const range = {};
  const start = from === "" ? undefined : readMoment(from, anchors);
  const end = to === "" ? undefined : readMoment(to, anchors);
  if (start !== undefined) range.start = Math.floor(start / 1000);
  if (end !== undefined) range.end = Math.ceil(end / 1000);
  return range;
}

/** Milliseconds, of `15m`; nothing if it is no length. @param {string} length */
export function readLength(length) {
  const [, count, unit = ""] = /^(\d{1,4})(\w)$/.exec(length) ?? [];
  const unitMs = UNITS[unit]?.[0];
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}

/** `15 minutes`, of `15m` @param {string} length */
export function lengthName(length) {
  const [, count = "", unit = ""] = /^(\d+)(\w)$/.exec(length) ?? [];
  const name = UNITS[unit]?.[1] ?? "";
  return count === "1" ? name : `${count} ${name}s`;
}

/**
 * What a range is called; `show` writes an absolute moment.
 * @param {string} from
 * @param {string} to
 * @param {(ms: number) => string} show
 */
export function rangeName(from, to, show) {
  if (from === "" && to === "") return "All time";
  const [, anchor, count, unit = ""] = RELATIVE.exec(from) ?? [];
  if (anchor !== undefined && count !== undefined && to === (anchor === "now" ? "" : "newest")) {
    const length = lengthName(count + unit);
    return anchor === "now" ? `Last ${length}` : `Newest ${length}`;
  }
  const name = (/** @type {string} */ text) => {
    const ms = Date.parse(text);
    return RELATIVE.test(text) || Number.isNaN(ms) ? text : show(ms);
  };
  if (from === "") return `Until ${name(to)}`;
  return to === "" ? `Since ${name(from)}` : `${name(from)} – ${name(to)}`;
}

/** A moment as it stands in the URL: `2026-05-01T10:00:00Z` @param {number} ms */
export function momentText(ms) {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}

/**
 * How wide the bars of a histogram are.
 * @typedef {{ ms: number, param: Record<string, string> }} Step
 */

/** @type {readonly [number, string][]} */
const FIXED = [
  [1, "1s"],
  [5, "5s"],
  [10, "10s"],
  [30, "30s"],
  [60, "1m"],
  [300, "5m"],
  [600, "10m"],
  [1800, "30m"],
  [3600, "1h"],
  [10_800, "3h"],
  [43_200, "12h"],
  [86_400, "1d"],
];
/** @type {readonly [number, string][]} */
const CALENDAR = [
  [7 * 86_400, "week"],
  [30.5 * 86_400, "month"],
  [91 * 86_400, "quarter"],
  [365 * 86_400, "year"],
];

/**
 * The narrowest step that needs at most `maxBars` bars.
 * @param {number} seconds
 * @param {number} maxBars
 * @returns {Step}
 */
export function stepFor(seconds, maxBars) {
  const fixed = FIXED.find(([length]) => seconds / length <= maxBars);
  if (fixed !== undefined) return { ms: fixed[0] * 1000, param: { fixed_interval: fixed[1] } };
  const calendar = CALENDAR.find(([length]) => seconds / length <= maxBars) ?? [
    365 * 86_400,
    "year",
  ];
  return { ms: calendar[0] * 1000, param: { calendar_interval: calendar[1] } };
}
