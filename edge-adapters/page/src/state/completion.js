/*
 * What is being typed at the caret of a query: the name of a field, or a value of one.
 *
 *   service:checkout AND sta|        a field that begins with `sta`
 *   status:50|                       a value of `status` that begins with `50`
 *   service:"shop fr|                the same, in quotes
 */

/**
 * `start` and `end` are the part of the text that a completion replaces.
 * @typedef {{ kind: "field", prefix: string, start: number, end: number }
 *   | { kind: "value", field: string, prefix: string, start: number, end: number }} Typed
 */

const QUOTED = /(?:^|[\s(+-])([^\s():"]+):"((?:[^"\\]|\\.)*)$/;
const VALUE = /(?:^|[\s(+-])([^\s():"]+):([^\s()"[\]{}<>=]*)$/;
const NAME = /(?:^|[\s(+-])([\p{L}_@][^\s():"]*)?$/u;

/**
 * @param {string} text
 * @param {number} caret
 * @returns {Typed | null}
 */
export function typedAt(text, caret) {
  const before = text.slice(0, caret);
  const quoted = QUOTED.exec(before);
  if (quoted !== null && isOpenQuote(before)) {
    const prefix = quoted[2] ?? "";
    // A closing quote behind the caret goes with it.
    const end = text[caret] === '"' ? caret + 1 : caret;
    return { kind: "value", field: quoted[1] ?? "", prefix, start: caret - prefix.length - 1, end };
  }
  if (isOpenQuote(before)) return null;
  const value = VALUE.exec(before);
  if (value !== null) {
    const prefix = value[2] ?? "";
    return {
      kind: "value",
      field: value[1] ?? "",
      prefix,
      start: caret - prefix.length,
      end: caret,
    };
  }
  const name = NAME.exec(before);
  if (name === null) return null;
  const prefix = name[1] ?? "";
  return { kind: "field", prefix, start: caret - prefix.length, end: caret };
}

/** @param {string} before */
function isOpenQuote(before) {
  return (before.replace(/\\./g, "").match(/"/g)?.length ?? 0) % 2 === 1;
}

/**
 * Names that fit, those that begin with what was typed before those that only have it inside.
 * @template {{ name: string }} Named
 * @param {readonly Named[]} fields
 * @param {string} typed
 */
export function namesThatFit(fields, typed) {
  const wanted = typed.toLowerCase();
  const rank = (/** @type {string} */ name) => {
    const at = name.toLowerCase().indexOf(wanted);
    return at <= 0 ? at : /[._]$/.test(name.slice(0, at)) ? 1 : 2;
  };
  return fields
    .filter(({ name }) => rank(name) >= 0)
    .sort((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
}
