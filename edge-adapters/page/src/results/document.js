/*
 * One document in full, in a drawer: its fields with buttons that filter, and its JSON. Which one is open stands
 * in the URL.
 */

import { pathsOf, valueAt } from "../api/index-info.js";
import { withFilter } from "../state/query-text.js";
import { copy } from "../ui/announce.js";
import { openDialog } from "../ui/dialog.js";
import { html, refill } from "../ui/dom.js";
import { count } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { toggleColumn } from "../search/fields.js";
import { typeSign } from "../search/field-type.js";
import { filterButtons } from "../search/top-values.js";
import { filterValueOf, textOf, wholeOf } from "./value.js";

/** @import { Session } from "../state/session.js" */

/** Opens and closes the drawer as the state says. @param {Session} session */
export function listenForDocument(session) {
  /** @type {HTMLDialogElement | null} */
  let dialog = null;
  /** @type {number | null} */
  let shown = null;
  let hit = /** @type {unknown} */ (null);
  const body = html("div", { class: "document" });
  const place = html("span", { class: "muted" });
  const step = (/** @type {number} */ by) => {
    const { doc } = session.state;
    const last = (session.result?.answer.hits.length ?? 0) - 1;
    if (doc !== null)
      session.go({ doc: Math.max(0, Math.min(last, doc + by)) }, { replaces: true });
  };
  const draw = () => {
    const { doc } = session.state;
    const { hits = [], num_hits = 0 } = session.result?.answer ?? {};
    const now = doc === null ? undefined : hits[doc];
    if (doc === null || now === undefined) {
      shown = null;
      hit = null;
      dialog?.close();
      return;
    }
    if (shown === doc && hit === now && dialog !== null) return;
    shown = doc;
    hit = now;
    refill(place, `${count(doc + 1)} of ${count(num_hits)}`);
    refill(body, ...content(session, doc, () => redraw()));
    if (dialog !== null) return;
    const tool = (
      /** @type {string} */ label,
      /** @type {Node} */ picture,
      /** @type {() => void} */ pick,
    ) =>
      html(
        "button",
        {
          type: "button",
          class: "button quiet square",
          "aria-label": label,
          title: label,
          onclick: pick,
        },
        picture,
      );
    dialog = openDialog("Document", [body], {
      class: "drawer",
      tools: [
        place,
        tool("Previous document (k)", icon("up"), () => step(-1)),
        tool("Next document (j)", icon("down"), () => step(1)),
      ],
      onClose: () => {
        dialog = null;
        const last = session.state.doc;
        if (last !== null) session.go({ doc: null });
        // The row it stands in was drawn anew, perhaps.
        document.getElementById(`open-${last ?? shown ?? 0}`)?.focus();
      },
    });
    dialog.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "j") step(1);
      else if (event.key === "k") step(-1);
    });
  };
  const redraw = () => {
    hit = null;
    draw();
  };
  session.on("state", draw);
  session.on("result", draw);
}

/** @param {Session} session @param {number} doc @param {() => void} redraw */
function content(session, doc, redraw) {
  const hit = session.result?.answer.hits[doc] ?? {};
  const snippets = session.result?.answer.snippets?.[doc] ?? {};
  const json = JSON.stringify(hit, null, 2);
  const known = new Map(session.fields.map((field) => [field.name, field]));
  const paths = pathsOf(hit).filter((path) => path !== "");
  // A mapped field of JSON is one row, not one for each of its parts.
  const names = paths.map(
    (path) =>
      [...known.keys()].find((name) => path === name || path.startsWith(`${name}.`)) ?? path,
  );
  const rows = [...new Set(names)].map((name) => {
    const field = known.get(name) ?? {
      name,
      type: "unknown",
      isFast: false,
      isIndexed: false,
      isWords: false,
    };
    const value = valueAt(hit, name);
    const isColumn = session.columns.includes(name);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    const label = isColumn ? `Remove the column ${name}` : `Add the column ${name}`;
    const exists = () =>
      session.setFilters(
        withFilter(session.state.filters, { field: name, value: null, isNot: false }),
      );
    return html(
      "tr",
      {},
      html(
        "th",
        { scope: "row" },
        html("span", { class: "doc-name" }, typeSign(field), html("span", {}, name)),
      ),
      html("td", { class: "doc-value" }, ...wholeOf(value, field, snippets?.[name] ?? [])),
      html(
        "td",
        { class: "doc-tools" },
        ...(isObject
          ? []
          : filterButtons(session, field, filterValueOf(firstOf(value), field), textOf(value))),
        field.isFast &&
          html(
            "button",
            {
              type: "button",
              class: "button quiet square small",
              "aria-label": `Only documents with ${name}`,
              title: "Only documents that have it",
              onclick: exists,
            },
            icon("check"),
          ),
        html(
          "button",
          {
            type: "button",
            class: "button quiet square small",
            "aria-label": label,
            title: isColumn ? "Remove the column" : "Add as a column",
            "aria-pressed": String(isColumn),
            onclick: () => {
              toggleColumn(session, name);
              redraw();
            },
          },
          icon("table"),
        ),
      ),
    );
  });
  return [
    html(
      "table",
      { class: "doc-table" },
      html("caption", { class: "hidden" }, "Fields of the document"),
      html("tbody", {}, ...rows),
    ),
    html(
      "section",
      { class: "doc-json" },
      html(
        "div",
        { class: "row" },
        html("h3", {}, "JSON"),
        html("span", { class: "spacer" }),
        html(
          "button",
          { type: "button", class: "button small", onclick: () => void copy(json, "Document") },
          icon("copy"),
          "Copy",
        ),
      ),
      html("pre", { tabindex: 0, role: "region", "aria-label": "JSON of the document" }, json),
    ),
  ];
}

/** @param {unknown} value */
function firstOf(value) {
  return Array.isArray(value) ? /** @type {unknown} */ (value[0]) : value;
}
