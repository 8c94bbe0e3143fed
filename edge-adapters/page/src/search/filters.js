/*
 * Filters that were clicked together, one chip each: turned round, or taken away.
 */

import { filterText, without } from "../state/query-text.js";
import { html, refill } from "../ui/dom.js";
import { icon } from "../ui/icons.js";

/** @import { Session } from "../state/session.js" */

/** @param {Session} session */
export function createFilters(session) {
  const place = html("div", { class: "chips", role: "group", "aria-label": "Filters" });
  const draw = () => {
    const { filters } = session.state;
    const chips = filters.map((filter) => {
      const text = filterText(filter);
      const turned = filter.isNot ? "Include" : "Exclude";
      const turn = () =>
        session.setFilters(
          filters.map((one) => (one === filter ? { ...one, isNot: !one.isNot } : one)),
        );
      const remove = () => session.setFilters(without(filters, filter));
      return html(
        "span",
        { class: `chip ${filter.isNot ? "not" : ""}` },
        html(
          "button",
          { type: "button", class: "chip-text", title: `${turned} instead`, onclick: turn },
          html("span", { class: "hidden" }, `${turned} instead: `),
          text,
        ),
        html(
          "button",
          {
            type: "button",
            class: "chip-close",
            "aria-label": `Remove the filter ${text}`,
            onclick: remove,
          },
          icon("close"),
        ),
      );
    });
    const examples = filters.length > 0 ? [] : exampleChips(session);
    refill(
      place,
      ...chips,
      ...examples,
      filters.length > 1 &&
        html(
          "button",
          { type: "button", class: "button quiet small", onclick: () => session.setFilters([]) },
          "Remove all",
        ),
    );
    place.hidden = chips.length + examples.length === 0;
  };
  session.on("state", draw);
  draw();
  return place;
}

/** Queries to begin with, where the page has some. @param {Session} session */
function exampleChips(session) {
  if (session.state.query !== "") return [];
  return (session.options.examples ?? []).map((query) =>
    html(
      "button",
      { type: "button", class: "chip chip-text example", onclick: () => session.go({ query }) },
      query,
    ),
  );
}
