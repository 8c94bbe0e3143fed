/*
 * What is below the histogram: the documents, their patterns, a chart, or the requests of the search. Tabs by the ARIA pattern:
 * one stop of the Tab key, arrow keys move.
 */

import { getPrefs, setPrefs } from "../state/prefs.js";
import { html } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { createBuilder } from "../chart/builder.js";
import { createCost } from "../results/cost.js";
import { createPatterns } from "../results/patterns.js";
import { createTable } from "../results/table.js";

/** @import { Session } from "../state/session.js" */
/** @import { View } from "../state/url.js" */

/** @type {readonly [View, string, "table" | "lines" | "chart" | "coins"][]} */
export const VIEWS = [
  ["documents", "Documents", "table"],
  ["patterns", "Patterns", "lines"],
  ["chart", "Chart", "chart"],
  ["cost", "Requests", "coins"],
];

/** @param {Session} session */
export function createTabs(session) {
  const panels = {
    documents: createTable(session),
    patterns: createPatterns(session),
    chart: createBuilder(session),
    cost: createCost(session),
  };
  const tabs = VIEWS.map(([view, text, picture]) =>
    html(
      "button",
      {
        type: "button",
        class: "tab",
        role: "tab",
        id: `tab-${view}`,
        "aria-controls": `panel-${view}`,
        onclick: () => session.go({ view }),
      },
      icon(picture),
      text,
    ),
  );
  const list = html("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, ...tabs);
  list.addEventListener("keydown", (event) => {
    const at = VIEWS.findIndex(([view]) => view === session.state.view);
    const last = VIEWS.length - 1;
    const next = {
      ArrowRight: at === last ? 0 : at + 1,
      ArrowLeft: at === 0 ? last : at - 1,
      Home: 0,
      End: last,
    }[event.key];
    const view = next === undefined ? undefined : VIEWS[next];
    if (view === undefined || next === undefined) return;
    event.preventDefault();
    session.go({ view: view[0] });
    tabs[next]?.focus();
  });
  const fields = html(
    "button",
    {
      type: "button",
      class: "button quiet fields-toggle",
      "aria-controls": "fields",
      onclick: () => toggleFields(),
    },
    icon("fields"),
    "Fields",
  );
  const wraps = VIEWS.map(([view]) =>
    html(
      "div",
      { class: "panel", id: `panel-${view}`, role: "tabpanel", "aria-labelledby": `tab-${view}` },
      panels[view],
    ),
  );
  const draw = () => {
    for (const [ord, [view]] of VIEWS.entries()) {
      const isShown = view === session.state.view;
      tabs[ord]?.setAttribute("aria-selected", String(isShown));
      tabs[ord]?.setAttribute("tabindex", isShown ? "0" : "-1");
      wraps[ord]?.toggleAttribute("hidden", !isShown);
    }
  };
  session.on("state", draw);
  draw();
  return html(
    "section",
    { class: "card views", "aria-label": "Results" },
    html("div", { class: "tabs-bar" }, fields, list),
    ...wraps,
  );
}

/** Shows or hides the list of fields: on narrow screens it is hidden until it is asked for. */
export function toggleFields() {
  const aside = document.getElementById("fields");
  if (aside === null) return;
  if (matchMedia("(max-width: 60rem)").matches) {
    const isOpen = aside.classList.toggle("open");
    if (isOpen) aside.querySelector("input")?.focus();
  } else setPrefs({ showsFields: !getPrefs().showsFields });
}
