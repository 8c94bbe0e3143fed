/*
 * The most frequent values of one field, each with a bar and two buttons: only this, or all but this. Fields that
 * are not fast cannot be counted; of those, the values of the hits that are shown are.
 */

import { topValuesBody } from "../api/request.js";
import { valueAt } from "../api/index-info.js";
import { zoneName } from "../state/prefs.js";
import { withFilter } from "../state/query-text.js";
import { html, refill } from "../ui/dom.js";
import { count, counted, percent, quantity, timestamp } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { sentence } from "../bar/status.js";

/** @import { Session, Result } from "../state/session.js" */
/** @import { Field } from "../api/index-info.js" */

/** `text` is what a filter compares. @typedef {{ text: string, shown: string, numDocs: number }} Value */

/**
 * @param {Session} session
 * @param {Field} field
 * @param {HTMLElement} [before] what showed the values of the last answer: it stays until the next is there
 */
export function topValues(session, field, before) {
  const place =
    before ?? html("div", { class: "values" }, html("p", { class: "muted" }, "Counting…"));
  const result = session.result;
  if (result === null) return place;
  if (!field.isFast) {
    refill(place, ...inHits(session, field, result));
    return place;
  }
  session.api
    .search(result.info.name, topValuesBody(result.asked, field))
    .then(({ answer }) => {
      if (session.result?.key !== result.key) return;
      refill(place, ...drawn(session, field, answer));
    })
    .catch((/** @type {unknown} */ error) => {
      const message = error instanceof Error ? error.message : String(error);
      refill(place, html("p", { class: "field-error" }, sentence(message)));
    });
  return place;
}

/**
 * @param {Session} session
 * @param {Field} field
 * @param {import("../api/api.js").Answer} answer
 */
function drawn(session, field, { num_hits, aggregations }) {
  /** @type {any[]} */
  const buckets = aggregations?.["values"]?.buckets ?? [];
  const values = buckets.map(({ key, key_as_string, doc_count }) => ({
    text: String(key_as_string ?? key),
    shown:
      field.type === "datetime" ? timestamp(Number(key), zoneName()) : String(key_as_string ?? key),
    numDocs: doc_count,
  }));
  const stats = aggregations?.["stats"];
  const distinct = aggregations?.["distinct"]?.value;
  const about =
    stats !== undefined && stats.count > 0
      ? `From ${quantity(stats.min)} to ${quantity(stats.max)}, ${quantity(stats.avg)} on average`
      : distinct > 0
        ? counted(distinct, "distinct value")
        : "";
  return [
    about !== "" && html("p", { class: "muted" }, about),
    valueList(session, field, values, num_hits),
  ];
}

/** @param {Session} session @param {Field} field @param {Result} result */
function inHits(session, field, { answer }) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const hit of answer.hits) {
    const value = valueAt(hit, field.name);
    for (const one of new Set([value].flat())) {
      if (one === undefined || one === null || typeof one === "object") continue;
      counts.set(String(one), (counts.get(String(one)) ?? 0) + 1);
    }
  }
  const values = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 8)
    .map(([text, numDocs]) => ({ text, shown: text, numDocs }));
  return [
    html(
      "p",
      { class: "muted" },
      `In the ${counted(answer.hits.length, "hit")} shown: the field is not fast`,
    ),
    valueList(session, field, values, answer.hits.length),
  ];
}

/**
 * @param {Session} session
 * @param {Field} field
 * @param {readonly Value[]} values
 * @param {number} numDocs
 */
function valueList(session, field, values, numDocs) {
  if (values.length === 0) return html("p", { class: "muted" }, "No values here.");
  return html(
    "ul",
    { class: "value-list" },
    ...values.map((value) => {
      const share = numDocs === 0 ? 0 : value.numDocs / numDocs;
      const fill = html("i", { class: "value-fill" });
      fill.style.width = `${Math.min(100, 100 * share)}%`;
      return html(
        "li",
        { class: "value" },
        html(
          "div",
          { class: "value-line" },
          html(
            "span",
            { class: "value-text", title: value.shown },
            value.shown === "" ? "(empty)" : value.shown,
          ),
          html("span", { class: "value-count", title: percent(share) }, count(value.numDocs)),
          ...filterButtons(session, field, value.text, value.shown),
        ),
        html("span", { class: "value-track" }, fill),
      );
    }),
  );
}

/**
 * @param {Session} session
 * @param {Field} field
 * @param {string} value
 * @param {string} shown
 */
export function filterButtons(session, field, value, shown) {
  if (!field.isIndexed && !field.isFast) return [];
  const button = (/** @type {boolean} */ isNot) =>
    html(
      "button",
      {
        type: "button",
        class: "button quiet square small",
        "aria-label": `${isNot ? "Exclude" : "Only"} ${field.name}: ${shown.slice(0, 60)}`,
        title: isNot ? "All but this" : "Only this",
        onclick: () =>
          session.setFilters(
            withFilter(session.state.filters, { field: field.name, value, isNot }),
          ),
      },
      icon(isNot ? "minus" : "plus"),
    );
  return [button(false), button(true)];
}
