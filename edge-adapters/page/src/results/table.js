/*
 * The hits as a table, with columns of one's choice. A row opens the document it stands for.
 */

import { getPrefs, onPrefs, setPrefs } from "../state/prefs.js";
import { PAGE_OF_HITS } from "../state/url.js";
import { html, refill } from "../ui/dom.js";
import { count } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { columnHead } from "./column.js";
import { cellOf } from "./value.js";

/** @import { Session } from "../state/session.js" */
/** @import { Field } from "../api/index-info.js" */

/** @param {Session} session */
export function createTable(session) {
  const place = html("div", {});
  const more = html(
    "button",
    {
      type: "button",
      id: "more",
      class: "button",
      hidden: true,
      onclick: () => void session.more(),
    },
    "Show more",
  );
  const wrap = html(
    "button",
    {
      type: "button",
      class: "button quiet small",
      onclick: () => setPrefs({ wraps: !getPrefs().wraps }),
    },
    icon("wrap"),
    "Wrap lines",
  );
  const shown = html("p", { class: "muted" });
  const draw = () => {
    const { result } = session;
    wrap.setAttribute("aria-pressed", String(getPrefs().wraps));
    if (result === null) {
      if (session.error === null) refill(place, skeleton());
      else refill(place);
      return;
    }
    const { hits, num_hits } = result.answer;
    const active = document.activeElement;
    const focused = active instanceof HTMLElement && place.contains(active) ? active.id : "";
    refill(place, hits.length === 0 ? nothing(session) : table(session));
    if (focused !== "") document.getElementById(focused)?.focus({ preventScroll: true });
    more.hidden = !session.canLoadMore;
    more.textContent = `Show ${count(Math.min(PAGE_OF_HITS, num_hits - hits.length))} more`;
    refill(shown, hits.length === 0 ? "" : `${count(hits.length)} of ${count(num_hits)}`);
  };
  let columns = "";
  session.on("result", draw);
  session.on("phase", () => session.result === null && draw());
  session.on("state", () => {
    const now = session.columns.join();
    // Hits of the index before this one stay as they are until those of this one are there.
    if (now !== columns && session.result?.info === session.info) draw();
    columns = now;
  });
  onPrefs(draw);
  draw();
  return html(
    "div",
    { class: "documents" },
    html("div", { class: "panel-tools" }, shown, html("span", { class: "spacer" }), wrap),
    place,
    html("div", { class: "table-end" }, more),
  );
}

/** Where rows will be. */
function skeleton() {
  const rows = Array.from({ length: 8 }, () => html("div", { class: "skeleton-row" }));
  return html("div", { class: "skeleton", "aria-hidden": "true" }, ...rows);
}

/** @param {Session} session */
function nothing(session) {
  const { from, to, filters, query } = session.state;
  const info = session.info;
  const button = (/** @type {string} */ text, /** @type {() => void} */ onPick) =>
    html("button", { type: "button", class: "button", onclick: onPick }, text);
  const hasTime = from !== "" || to !== "";
  return html(
    "div",
    { class: "empty" },
    html(
      "p",
      { class: "empty-title" },
      info?.numDocs === 0 ? "This index is empty." : "Nothing matches.",
    ),
    info?.numDocs === 0
      ? null
      : html("p", { class: "muted" }, "Try fewer words, another spelling, or more time."),
    html(
      "div",
      { class: "row center" },
      hasTime && button("Search all time", () => session.go({ from: "", to: "" })),
      filters.length > 0 && button("Remove the filters", () => session.setFilters([])),
      query !== "" && button("Clear the query", () => session.go({ query: "" })),
    ),
  );
}

/** @param {Session} session */
function table(session) {
  const { result, columns, levelField } = session;
  const names = columns;
  const fields = names.map((name) => session.field(name) ?? unknownField(name));
  const { hits = [], snippets } = result?.answer ?? {};
  const { wraps } = getPrefs();
  const rows = hits.map((hit, ord) =>
    html(
      "tr",
      {
        class: "hit",
        role: "row",
        onclick: (/** @type {MouseEvent} */ event) => {
          const isSelecting = getSelection()?.isCollapsed === false;
          const isButton =
            event.target instanceof Element && event.target.closest("button") !== null;
          if (!isSelecting && !isButton) session.go({ doc: ord });
        },
      },
      html(
        "td",
        { role: "cell", class: "open-cell" },
        html(
          "button",
          {
            type: "button",
            class: "button quiet square small open",
            id: `open-${ord}`,
            "aria-label": `Open document ${ord + 1}`,
            onclick: () => session.go({ doc: ord }),
          },
          icon("right"),
        ),
      ),
      ...fields.map((field) =>
        html(
          "td",
          {
            role: "cell",
            class: classOf(field, field.name === levelField),
            "data-label": field.name,
          },
          html(
            "span",
            { class: "cell" },
            ...cellOf(hit, field, snippets?.[ord], {
              isLevel: field.name === levelField,
              isWhole: wraps,
            }),
          ),
        ),
      ),
    ),
  );
  return html(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Documents" },
    html(
      "table",
      { class: `table ${wraps ? "wraps" : ""}`, role: "table" },
      html(
        "thead",
        { role: "rowgroup" },
        html(
          "tr",
          { role: "row" },
          html("td", { role: "cell", class: "open-cell" }),
          ...fields.map((field, ord) => columnHead(session, field, ord, names)),
        ),
      ),
      html("tbody", { role: "rowgroup", id: "hits" }, ...rows),
    ),
  );
}

/** @param {Field} field @param {boolean} isLevel one word, though the field may hold many */
function classOf({ type, isWords }, isLevel) {
  if (type === "datetime") return "col-time";
  if (/^(u64|i64|f64)$/.test(type)) return "col-number";
  return isWords && !isLevel ? "col-words" : "col-text";
}

/** A column that a link names and the index has not. @param {string} name @returns {Field} */
function unknownField(name) {
  return { name, type: "unknown", isFast: false, isIndexed: false, isWords: false };
}
