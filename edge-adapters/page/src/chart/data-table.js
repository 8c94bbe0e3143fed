/*
 * The numbers of a chart as a table: for those who do not see the chart, and for those who want digits.
 */

import { html } from "../ui/dom.js";
import { quantity } from "../ui/format.js";

/** @import { Data } from "./series.js" */

/**
 * @param {Data} data
 * @param {string} placeName what the places are
 */
export function dataTable({ places, series, what }, placeName) {
  return html(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Numbers of the chart" },
    html(
      "table",
      { class: "data" },
      html("caption", { class: "hidden" }, `${what} by ${placeName}`),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          html("th", { scope: "col" }, placeName),
          ...series.map(({ name }) => html("th", { scope: "col", class: "col-number" }, name)),
        ),
      ),
      html(
        "tbody",
        {},
        ...places.map(({ long }, ord) =>
          html(
            "tr",
            {},
            html("th", { scope: "row" }, long),
            ...series.map(({ values }) => {
              const value = values[ord] ?? null;
              return html("td", { class: "col-number" }, value === null ? "–" : quantity(value));
            }),
          ),
        ),
      ),
    ),
  );
}

/** The same for a spreadsheet. @param {Data} data @param {string} placeName */
export function csvOf({ places, series }, placeName) {
  const cell = (/** @type {string} */ text) =>
    /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  const head = [placeName, ...series.map(({ name }) => name)];
  const rows = places.map(({ value }, ord) => [
    value,
    ...series.map(({ values }) => String(values[ord] ?? "")),
  ]);
  return [head, ...rows].map((row) => row.map(cell).join(",")).join("\n");
}
