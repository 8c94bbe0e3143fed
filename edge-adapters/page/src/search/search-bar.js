/*
 * The query with its completion, the time, and the button that searches.
 */

import { valueAt } from "../api/index-info.js";
import { anchorsOf, completionBody } from "../api/request.js";
import { readRange } from "../state/time.js";
import { namesThatFit, typedAt } from "../state/completion.js";
import { escapedName, quoted } from "../state/query-text.js";
import { combobox } from "../ui/combobox.js";
import { html } from "../ui/dom.js";
import { counted } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { typeName } from "./field-type.js";
import { timePicker } from "./time-picker.js";

/** @import { Suggestion } from "../ui/combobox.js" */
/** @import { Session } from "../state/session.js" */

const MAX_SUGGESTIONS = 12;

/** @param {Session} session */
export function createSearchBar(session) {
  const input = html("input", {
    id: "query",
    class: "query",
    name: "query",
    type: "search",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    placeholder: "Words, field:value, AND, OR, NOT",
    "aria-label": "Query",
  });
  const language = languageChoice(session);
  const suggest = completer(session);
  const form = html("form", {
    class: "search-bar",
    id: "form",
    role: "search",
    onsubmit: (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const query = input.value.trim();
      if (query === session.state.query) void session.run();
      else session.go({ query });
    },
  });
  form.append(
    html("div", { class: "query-box" }, icon("search"), input),
    language,
    ...timePicker(session),
    html("button", { type: "submit", class: "button primary" }, "Search"),
  );
  input.closest(".query-box")?.append(combobox(input, "Suggestions", suggest));
  session.on("state", () => {
    // What is being typed is not taken away by an answer that arrives.
    if (input.value.trim() !== session.state.query) input.value = session.state.query;
  });
  return form;
}

/** The choice of the query's language. @param {Session} session */
function languageChoice(session) {
  const select = html(
    "select",
    {
      id: "language",
      class: "language",
      "aria-label": "Language of the query",
      onchange: () => session.go({ language: select.value === "kql" ? "kql" : "canter" }),
    },
    html("option", { value: "canter" }, "Lucene"),
    html("option", { value: "kql" }, "KQL"),
  );
  session.on("state", () => {
    select.value = session.state.language;
  });
  return select;
}

/** @param {Session} session */
function completer(session) {
  /** Values by index, field, prefix and time: one typed back is there at once. @type {Map<string, Promise<Suggestion[]>>} */
  const kept = new Map();
  return async (
    /** @type {string} */ text,
    /** @type {number} */ caret,
    /** @type {AbortSignal} */ signal,
  ) => {
    const typed = typedAt(text, caret);
    if (typed === null || session.info === undefined) return [];
    if (typed.kind === "field") return names(session, typed, text.slice(0, typed.start));
    const field = session.field(typed.field);
    if (field === undefined || field.type === "datetime") return [];
    const { start, end } = typed;
    const place = { start, end };
    if (!field.isFast && field.isWords) return [];
    if (!field.isFast)
      return valuesInHits(session, field.name, typed.prefix).map((one) => ({ ...one, ...place }));
    const info = session.info;
    const { from, to } = session.state;
    const key = JSON.stringify([info.name, field.name, typed.prefix, from, to]);
    let found = kept.get(key);
    if (found === undefined) {
      const range = info.timestampField === null ? {} : readRange(from, to, anchorsOf(info));
      const body = completionBody(field, typed.prefix, range);
      found = session.api.search(info.name, body, signal).then(({ answer }) =>
        valuesOf(answer.aggregations?.["values"]?.buckets ?? [], typed.prefix).map((value) => ({
          label: value.text,
          detail: counted(value.numDocs, "document"),
          insert: `${quoted(value.text)} `,
          start: 0,
          end: 0,
        })),
      );
      kept.set(key, found);
      found.catch(() => kept.delete(key));
    }
    return (await found).map((suggestion) => ({ ...suggestion, ...place }));
  };
}

/**
 * @param {Session} session
 * @param {{ prefix: string, start: number, end: number }} typed
 * @param {string} before
 * @returns {Suggestion[]}
 */
function names(session, { prefix, start, end }, before) {
  const isAfterTerm = /[^\s(]\s+$/.test(before) && !/(?:AND|OR|NOT)\s+$/.test(before);
  const operators = isAfterTerm ? ["AND", "OR", "NOT"] : ["NOT"];
  // The list opens by itself for operators only once they are being typed in capitals.
  const fitting =
    prefix === ""
      ? isAfterTerm
        ? operators
        : []
      : operators.filter((word) => word.startsWith(prefix));
  return [
    ...fitting.map((word) => ({
      label: word,
      detail: "operator",
      insert: `${word} `,
      start,
      end,
      isOpen: true,
    })),
    ...namesThatFit(
      session.fields.filter((field) => field.isIndexed || field.isFast),
      prefix,
    ).map((field) => ({
      label: field.name,
      detail: typeName(field),
      insert: `${escapedName(field.name)}:`,
      start,
      end,
      isOpen: true,
    })),
  ].slice(0, MAX_SUGGESTIONS);
}

/**
 * Values that cannot be counted are those of the hits that are shown.
 * @param {Session} session
 * @param {string} name
 * @param {string} prefix
 */
function valuesInHits(session, name, prefix) {
  const hits = session.result?.answer.hits ?? [];
  const texts = hits
    .flatMap((hit) => [valueAt(hit, name)].flat())
    .filter((value) => typeof value === "string");
  const wanted = prefix.toLowerCase();
  return [...new Set(texts)]
    .filter((text) => text.toLowerCase().startsWith(wanted))
    .sort()
    .slice(0, MAX_SUGGESTIONS)
    .map((text) => ({ label: text, detail: "in the hits shown", insert: `${quoted(text)} ` }));
}

/**
 * @param {readonly { key: string | number, key_as_string?: string, doc_count: number }[]} buckets
 * @param {string} prefix
 */
function valuesOf(buckets, prefix) {
  const wanted = prefix.toLowerCase();
  return buckets
    .map((bucket) => ({
      text: String(bucket.key_as_string ?? bucket.key),
      numDocs: bucket.doc_count,
    }))
    .filter(({ text }) => text.toLowerCase().startsWith(wanted))
    .slice(0, MAX_SUGGESTIONS);
}
