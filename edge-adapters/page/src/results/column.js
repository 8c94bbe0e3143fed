/*
 * The head of a column: a menu to sort by it, move it, or take it away.
 */

import { html } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { menuItem, popover } from "../ui/popover.js";
import { toggleColumn } from "../search/fields.js";

/** @import { Session } from "../state/session.js" */
/** @import { Field } from "../api/index-info.js" */

/**
 * @param {Session} session
 * @param {Field} field
 * @param {number} ord
 * @param {readonly string[]} names
 */
export function columnHead(session, field, ord, names) {
  const { name } = field;
  const order = orderOf(session, name);
  const button = html(
    "button",
    { type: "button", class: "column-head", id: `column-${ord}` },
    html("span", { class: "column-name" }, name),
    order === "none" ? icon("down") : icon(order === "descending" ? "down" : "up"),
  );
  button.classList.toggle("sorted", order !== "none");
  const menu = popover(button, `Column ${name}`, (close) => {
    const item = (
      /** @type {string} */ text,
      /** @type {() => void} */ pick,
      /** @type {Parameters<typeof menuItem>[2]} */ options,
    ) =>
      menuItem(
        text,
        () => {
          close();
          pick();
          document.getElementById(button.id)?.focus();
        },
        options,
      );
    // A minus in front is the API's sign for ascending.
    const sort = (/** @type {string} */ value) => () => session.go({ sort: value });
    const move = (/** @type {number} */ to) => () => {
      const others = names.filter((one) => one !== name);
      session.go({ columns: others.toSpliced(to, 0, name) });
    };
    const isDefault = session.state.sort === "";
    return [
      item("Sort descending", sort(name), {
        icon: icon("down"),
        isCurrent: order === "descending",
        isDisabled: !field.isFast,
      }),
      item("Sort ascending", sort(`-${name}`), {
        icon: icon("up"),
        isCurrent: order === "ascending",
        isDisabled: !field.isFast,
      }),
      !isDefault && item("Back to the usual order", sort(""), { icon: icon("close") }),
      !field.isFast &&
        html("p", { class: "muted small menu-note" }, "Only fast fields can be sorted by."),
      item("Move left", move(ord - 1), { icon: icon("left"), isDisabled: ord === 0 }),
      item("Move right", move(ord + 1), {
        icon: icon("right"),
        isDisabled: ord === names.length - 1,
      }),
      item("Remove the column", () => toggleColumn(session, name), {
        icon: icon("trash"),
        isDisabled: names.length === 1,
      }),
    ];
  });
  const isNumber = /^(u64|i64|f64)$/.test(field.type);
  return html(
    "th",
    { role: "columnheader", scope: "col", class: isNumber ? "col-number" : "", "aria-sort": order },
    button,
    menu,
  );
}

/** @param {Session} session @param {string} name */
function orderOf({ state, info }, name) {
  const first = state.sort.split(",")[0] ?? "";
  if (first === name) return "descending";
  if (first === `-${name}`) return "ascending";
  // Without another order, hits are shown newest first.
  return state.sort === "" && info?.timestampField === name ? "descending" : "none";
}
