/*
 * Values of hits as they are shown: dates in the zone of the page, what was searched for marked.
 */

import { valueAt } from "../api/index-info.js";
import { markedWhole, readSnippet } from "../api/snippets.js";
import { gravityOf } from "../chart/colors.js";
import { zoneName } from "../state/prefs.js";
import { html } from "../ui/dom.js";
import { timeOf, timestamp } from "../ui/format.js";

/** @import { Field } from "../api/index-info.js" */
/** @import { Piece } from "../api/snippets.js" */

/** So many characters of a line are seen in most windows. */
const SEEN = 90;

/** @param {unknown} value */
export function textOf(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value) && value.every((one) => typeof one !== "object"))
    return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {readonly Piece[]} pieces */
function marks(pieces) {
  return pieces.map(({ text, isMarked }) => (isMarked ? html("mark", {}, text) : text));
}

/**
 * A cell of the table: the value, or if what is marked stands too far behind to be seen, a passage of it.
 * @param {Record<string, unknown>} hit
 * @param {Field} field
 * @param {Record<string, string[]> | null | undefined} snippets
 * @param {{ isLevel: boolean, isWhole: boolean }} options `isWhole` if there is room for all of it
 * @returns {(Node | string)[]}
 */
export function cellOf(hit, field, snippets, { isLevel, isWhole }) {
  const value = valueAt(hit, field.name);
  const time = field.type === "datetime" ? timeOf(value, field.format) : undefined;
  if (time !== undefined) return [timeElement(time)];
  const text = textOf(value);
  const passages = snippets?.[field.name] ?? [];
  const [passage] = passages;
  if (passage !== undefined) {
    const whole = markedWhole(text, passages);
    const first = whole.find((piece) => piece.isMarked);
    const isSeen = first !== undefined && text.indexOf(first.text) < SEEN;
    return isWhole || isSeen ? marks(whole) : ["… ", ...marks(readSnippet(passage))];
  }
  const gravity = isLevel ? gravityOf(text) : undefined;
  return gravity === undefined ? [text] : [html("span", { class: `level ink-${gravity}` }, text)];
}

/**
 * A value in full.
 * @param {unknown} value
 * @param {Field} field
 * @param {readonly string[]} snippets
 * @returns {(Node | string)[]}
 */
export function wholeOf(value, field, snippets) {
  const time = field.type === "datetime" ? timeOf(value, field.format) : undefined;
  return time === undefined ? marks(markedWhole(textOf(value), snippets)) : [timeElement(time)];
}

/** @param {number} ms */
function timeElement(ms) {
  return html("time", { datetime: new Date(ms).toISOString() }, timestamp(ms, zoneName()));
}

/**
 * A value as a filter compares it: dates in RFC 3339.
 * @param {unknown} value
 * @param {Field} field
 */
export function filterValueOf(value, field) {
  const time = field.type === "datetime" ? timeOf(value, field.format) : undefined;
  return time === undefined ? textOf(value) : new Date(time).toISOString().replace(".000Z", "Z");
}
