/*
 * What types of fields are called, and the small signs that stand for them.
 */

import { html } from "../ui/dom.js";

/** @import { Field } from "../api/index-info.js" */

/** @type {Readonly<Record<string, readonly [string, string]>>} */
const TYPES = {
  text: ["T", "text"],
  datetime: ["D", "date"],
  u64: ["#", "whole number"],
  i64: ["#", "whole number"],
  f64: ["#", "number"],
  bool: ["B", "true or false"],
  ip: ["IP", "address"],
  bytes: ["01", "bytes"],
  json: ["{}", "JSON"],
  unknown: ["?", "not mapped"],
};

/** @param {Field} field */
export function typeName({ type, isWords }) {
  return isWords ? "text in words" : (TYPES[type]?.[1] ?? type);
}

/** @param {Field} field */
export function typeSign(field) {
  const sign = TYPES[field.type]?.[0] ?? "?";
  const kind = field.isWords ? "words" : field.type;
  return html(
    "span",
    { class: `type type-${kind}`, title: typeName(field), "aria-hidden": "true" },
    sign,
  );
}
