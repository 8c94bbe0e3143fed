/*
 * The builder of aggregations: a form, the chart of its answer, and the same numbers as a table.
 */

import { onPrefs, zoneName } from "../state/prefs.js";
import { copy } from "../ui/announce.js";
import { html, refill } from "../ui/dom.js";
import { counted } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { legendItem } from "../search/histogram.js";
import { adviceFor, sentence } from "../bar/status.js";
import { csvOf, dataTable } from "./data-table.js";
import { drawChart } from "./draw.js";
import { drawForm } from "./form.js";
import { chartBody, needsSpread, readSpread, spreadBody } from "./request.js";
import { readSeries } from "./series.js";
import { firstChart } from "./spec.js";

/** @import { Session } from "../state/session.js" */
/** @import { ChartSpec } from "./spec.js" */
/** @import { Data } from "./series.js" */

/** @param {Session} session */
export function createBuilder(session) {
  const form = html("div", { class: "builder-form" });
  const place = html("div", { class: "chart" });
  const legend = html("ul", { class: "legend", "aria-label": "Colours" });
  const said = html("div", { role: "status" });
  const numbers = html("div", { class: "chart-numbers" });
  const tools = html("div", { class: "panel-tools" });
  /** What was asked for last. */
  let key = "";
  /** @type {{ data: Data, spec: ChartSpec, body: unknown } | null} */
  let shown = null;
  let isOpen = false;

  const specOf = () => {
    const info = session.info;
    if (info === undefined) return null;
    return session.state.chart ?? firstChart(info, session.fields, session.levelField);
  };
  const draw = () => {
    if (shown === null) return;
    const { data, spec, body } = shown;
    const isTable = spec.kind === "table";
    place.hidden = isTable || data.places.length === 0;
    const series = place.hidden ? [] : drawChart(place, data, spec.kind);
    // In the order in which they are seen: of stacks from above.
    const order = spec.kind === "stacked" ? [...series].reverse() : series;
    refill(legend, ...(order.length > 1 ? order.map(legendItem) : []));
    const name = spec.buckets[0]?.field ?? "";
    const table = dataTable(data, name);
    const details = html(
      "details",
      { open: isOpen, ontoggle: () => (isOpen = details.open) },
      html("summary", {}, "The same numbers as a table"),
      table,
    );
    refill(numbers, data.places.length === 0 ? null : isTable ? table : details);
    refill(
      tools,
      html("h2", {}, data.what),
      html("span", { class: "spacer" }),
      button("Copy as CSV", () => void copy(csvOf(data, name), "Table")),
      button("Copy the request", () => void copy(JSON.stringify(body, null, 2), "Request")),
    );
  };
  const update = async () => {
    const { result, state } = session;
    const spec = specOf();
    if (state.view !== "chart" || result === null) return;
    if (spec === null)
      return refill(said, html("p", { class: "muted" }, "This index has no fast field to count."));
    drawForm(form, spec, session.fields, (chart) => session.go({ chart }));
    const zone = zoneName();
    const now = JSON.stringify([result.key, result.asked, zone, spec.metric, spec.buckets]);
    if (now === key && shown !== null) {
      shown = { ...shown, spec };
      return draw();
    }
    key = now;
    place.classList.add("waiting");
    try {
      const { name } = result.info;
      const spreads = await Promise.all(
        spec.buckets.map(async (bucket) => {
          if (!needsSpread(bucket)) return undefined;
          const { answer } = await session.api.search(name, spreadBody(result.asked, bucket.field));
          return readSpread(answer.aggregations);
        }),
      );
      const body = chartBody(spec, result.asked, zone, spreads);
      const { answer } = await session.api.search(name, body);
      if (key !== now) return;
      const data = readSeries(spec, answer.aggregations, zone);
      shown = { data, spec, body };
      refill(said, ...notesOf(data));
      draw();
    } catch (error) {
      if (key !== now) return;
      shown = null;
      key = "";
      const problem = error instanceof Error ? error : new Error(String(error));
      const message = html(
        "p",
        { class: "field-error" },
        `${sentence(problem.message)} ${adviceFor(problem)}`,
      );
      refill(said, message);
      refill(numbers);
      refill(legend);
      place.replaceChildren();
    } finally {
      if (key === now || key === "") place.classList.remove("waiting");
    }
  };
  session.on("result", () => void update());
  session.on("state", () => void update());
  onPrefs(() => void update());
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    draw();
  }).observe(place);
  return html("div", { class: "builder" }, form, tools, legend, said, place, numbers);
}

/** @param {string} text @param {() => void} onPick */
function button(text, onPick) {
  return html(
    "button",
    { type: "button", class: "button quiet small", onclick: onPick },
    icon("copy"),
    text,
  );
}

/** @param {Data} data */
function notesOf({ places, numLeftOut }) {
  if (places.length === 0)
    return [
      html("p", { class: "empty muted" }, "No documents to count. Widen the time or the query."),
    ];
  if (numLeftOut === 0) return [];
  const text = `${counted(numLeftOut, "rarer value")} of the second level ${numLeftOut === 1 ? "is" : "are"} not shown.`;
  return [html("p", { class: "muted" }, text)];
}
