/*
 * The controls of the builder's form: a choice of one, and a text that counts once it is finished.
 */

import { html } from "../ui/dom.js";

/**
 * @param {string} id
 * @param {string} label
 * @param {readonly (readonly [string, string])[]} options
 * @param {string} value
 * @param {(value: string) => void} onPick
 */
export function choice(id, label, options, value, onPick) {
  const select = html(
    "select",
    {
      id: `builder-${id}`,
      class: "select",
      "aria-label": label,
      onchange: () => onPick(select.value),
    },
    ...options.map(([name, text]) =>
      html("option", { value: name, selected: name === value }, text),
    ),
  );
  return select;
}

/**
 * @param {string} id
 * @param {string} label
 * @param {Record<string, string | number>} attributes
 * @param {string} value
 * @param {(value: string) => void} onPick
 */
export function text(id, label, attributes, value, onPick) {
  const input = html("input", {
    id: `builder-${id}`,
    class: "input",
    "aria-label": label,
    title: label,
    autocomplete: "off",
    value,
    ...attributes,
    onchange: () => onPick(input.value.trim()),
  });
  return input;
}
