/*
 * The list of fields: which are columns, which there are, and the top values of those that are opened.
 */

import { getPrefs, onPrefs } from "../state/prefs.js";
import { namesThatFit } from "../state/completion.js";
import { html, refill } from "../ui/dom.js";
import { counted } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { typeName, typeSign } from "./field-type.js";
import { topValues } from "./top-values.js";

/** @import { Session } from "../state/session.js" */
/** @import { Field } from "../api/index-info.js" */

/** @param {Session} session */
export function createFields(session) {
  /** Fields whose values are shown, with what shows them. @type {Map<string, HTMLElement>} */
  const open = new Map();
  let typed = "";
  const lists = html("div", { class: "field-lists" });
  const input = html("input", {
    id: "field-filter",
    class: "input",
    type: "search",
    autocomplete: "off",
    placeholder: "Find a field",
    "aria-label": "Find a field",
    oninput: () => {
      typed = input.value.trim();
      draw();
    },
  });
  const aside = html(
    "aside",
    { class: "fields", id: "fields", "aria-label": "Fields" },
    html("div", { class: "fields-head" }, input),
    lists,
  );

  const row = (/** @type {Field} */ field) => {
    const values = open.get(field.name);
    const isColumn = session.columns.includes(field.name);
    const toggle = () => {
      if (open.has(field.name)) open.delete(field.name);
      else open.set(field.name, topValues(session, field));
      draw(field.name);
    };
    return html(
      "li",
      { class: "field" },
      html(
        "div",
        { class: "field-row" },
        html(
          "button",
          {
            type: "button",
            class: "field-name",
            "data-field": field.name,
            "aria-expanded": String(values !== undefined),
            title: `${field.name} (${typeName(field)})`,
            onclick: toggle,
          },
          typeSign(field),
          html("span", { class: "field-text" }, field.name),
        ),
        html(
          "button",
          {
            type: "button",
            class: "button quiet square small field-add",
            "aria-label": `${isColumn ? "Remove" : "Add"} the column ${field.name}`,
            title: isColumn ? "Remove the column" : "Add as a column",
            "data-column": field.name,
            onclick: () => toggleColumn(session, field.name),
          },
          icon(isColumn ? "minus" : "plus"),
        ),
      ),
      values,
    );
  };
  const group = (/** @type {string} */ title, /** @type {Field[]} */ fields) =>
    fields.length > 0 &&
    html("section", {}, html("h2", {}, title), html("ul", {}, ...fields.map(row)));

  const draw = (/** @type {string | undefined} */ focused = undefined) => {
    const fields = namesThatFit(session.fields, typed);
    const { columns } = session;
    const chosen = columns.flatMap((name) => fields.find((field) => field.name === name) ?? []);
    const others = fields.filter((field) => !columns.includes(field.name));
    const active = document.activeElement;
    const kept =
      active instanceof HTMLElement && lists.contains(active) ? { ...active.dataset } : {};
    refill(
      lists,
      group("Columns", chosen),
      group("Fields", others),
      fields.length === 0 &&
        html(
          "p",
          { class: "muted" },
          typed === "" ? "No fields are known." : "No field has this in its name.",
        ),
      typed !== "" &&
        html("p", { class: "hidden", role: "status" }, counted(fields.length, "field")),
    );
    // Rows are new, and the one with the focus has it again.
    const wanted = focused ?? kept["field"];
    const again =
      wanted === undefined
        ? kept["column"] && lists.querySelector(`[data-column="${CSS.escape(kept["column"])}"]`)
        : lists.querySelector(`[data-field="${CSS.escape(wanted)}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  };
  let index = session.info;
  session.on("result", () => {
    if (session.info !== index) open.clear();
    index = session.info;
    for (const name of open.keys()) {
      const field = session.field(name);
      if (field === undefined) open.delete(name);
      else open.set(name, topValues(session, field, open.get(name)));
    }
    draw();
  });
  session.on("state", () => draw());
  const show = () => aside.classList.toggle("collapsed", !getPrefs().showsFields);
  show();
  onPrefs(show);
  return aside;
}

/** @param {Session} session @param {string} name */
export function toggleColumn(session, name) {
  const { columns } = session;
  const others = columns.filter((column) => column !== name);
  if (others.length === 0) return;
  session.go({ columns: others.length === columns.length ? [...columns, name] : others });
}
