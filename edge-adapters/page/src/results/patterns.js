/*
 * The statements that wrote the messages: how many documents each has, when, and whether it is new.
 */

import { guessMessageField, patternField } from "../api/index-info.js";
import { patternStep, patternsBody } from "../api/request.js";
import { onPrefs, zoneName } from "../state/prefs.js";
import { withFilter } from "../state/query-text.js";
import { QUICK, lengthName } from "../state/time.js";
import { html, refill, svg } from "../ui/dom.js";
import { count, counted, longMoment, percent } from "../ui/format.js";
import { icon } from "../ui/icons.js";
import { adviceFor, sentence } from "../bar/status.js";

/** @import { Session, Result } from "../state/session.js" */
/** @import { Field } from "../api/index-info.js" */

/** What stands for a value in a pattern. */
const VALUE = "<*>";

/**
 * `column` is the field that has the pattern of each document, if the index keeps one.
 * @typedef {{ field: Field, column: Field | undefined }} Messages
 */

/** @typedef {{ startMs: number, numDocs: number }} Bar */

/** @typedef {{ text: string, numDocs: number, isNew: boolean, bars: Bar[] }} Pattern */

/** @param {Session} session */
export function createPatterns(session) {
  const fields = html("select", { id: "patterns-field", class: "select small" });
  fields.addEventListener("change", () => session.go({ patternsOf: fields.value }));
  const since = html("select", { id: "patterns-since", class: "select small" });
  since.addEventListener("change", () => session.go({ newSince: since.value }));
  const sinceRow = html(
    "span",
    { class: "row" },
    html("label", { for: "patterns-since", class: "muted" }, "new in the last"),
    since,
  );
  const tools = html(
    "div",
    { class: "panel-tools" },
    html(
      "span",
      { class: "row" },
      html("label", { for: "patterns-field", class: "muted" }, "patterns of"),
      fields,
    ),
    sinceRow,
  );
  const said = html("div", { class: "patterns-said", role: "status" });
  const place = html("div", { class: "patterns" });
  /** What was asked for last. */
  let key = "";

  const drawChoices = (/** @type {Messages} */ { field }) => {
    const names = session.fields.filter(({ isWords }) => isWords).map(({ name }) => name);
    refill(fields, ...names.map((name) => html("option", { value: name }, name)));
    fields.value = field.name;
    refill(
      since,
      html("option", { value: "" }, "(not marked)"),
      ...QUICK.map((length) => html("option", { value: length }, lengthName(length))),
    );
    since.value = session.state.newSince;
  };
  const update = async () => {
    const { result, state } = session;
    if (state.view !== "patterns" || result === null) return;
    const messages = messagesOf(session);
    tools.hidden = messages === undefined;
    if (messages === undefined) {
      refill(place);
      return refill(said, html("p", { class: "empty muted" }, "No field of this index has words."));
    }
    drawChoices(messages);
    sinceRow.hidden = result.asked.bounds === null;
    const body = patternsBody(result.asked, result.info, {
      field: messages.field.name,
      newSince: state.newSince,
      zone: zoneName(),
    });
    const now = JSON.stringify([result.key, result.info.name, body]);
    if (now === key) return;
    key = now;
    place.classList.add("waiting");
    try {
      const { answer } = await session.api.search(result.info.name, body);
      if (key !== now) return;
      const patterns = readPatterns(answer.aggregations?.["patterns"]?.buckets ?? []);
      const rest = answer.aggregations?.["patterns"]?.sum_other_doc_count ?? 0;
      refill(said, ...notesOf(patterns, rest));
      refill(place, patterns.length > 0 && table(session, messages, result, patterns));
    } catch (error) {
      if (key !== now) return;
      key = "";
      const problem = error instanceof Error ? error : new Error(String(error));
      const text = `${sentence(problem.message)} ${adviceFor(problem)}`;
      refill(said, html("p", { class: "field-error" }, text));
      refill(place);
    } finally {
      if (key === now || key === "") place.classList.remove("waiting");
    }
  };
  session.on("result", () => void update());
  session.on("state", () => void update());
  onPrefs(() => void update());
  return html("div", {}, tools, said, place);
}

/**
 * The field whose patterns are shown; nothing if no field has words.
 * @param {Session} session
 * @returns {Messages | undefined}
 */
function messagesOf(session) {
  const { fields, state } = session;
  const name = state.patternsOf === "" ? guessMessageField(fields) : state.patternsOf;
  const field = fields.find((one) => one.name === name);
  return field && { field, column: patternField(fields, field.name) };
}

/** @param {any[]} buckets @returns {Pattern[]} */
function readPatterns(buckets) {
  return buckets.map(({ key, pattern, doc_count, before, when }) => ({
    text: String(pattern ?? key),
    numDocs: doc_count,
    isNew: before?.doc_count === 0,
    bars: (when?.buckets ?? []).map((/** @type {any} */ bar) => ({
      startMs: Number(bar.key),
      numDocs: bar.doc_count,
    })),
  }));
}

/** @param {readonly Pattern[]} patterns @param {number} numOthers */
function notesOf(patterns, numOthers) {
  if (patterns.length === 0)
    return [
      html("p", { class: "empty muted" }, "No messages here. Widen the time or the query."),
    ];
  const numNew = patterns.filter(({ isNew }) => isNew).length;
  const notes = [
    numNew > 0 && `${counted(numNew, "new pattern")}.`,
    numOthers > 0 && `Rarer patterns have ${counted(numOthers, "more document")}.`,
  ].filter((note) => note !== false);
  return notes.map((note) => html("p", { class: "muted small" }, note));
}

/**
 * @param {Session} session
 * @param {Messages} messages
 * @param {Result} result
 * @param {readonly Pattern[]} patterns
 */
function table(session, messages, result, patterns) {
  const hasTimes = result.asked.bounds !== null;
  const numAll = result.answer.num_hits;
  const head = (/** @type {string} */ text, isNumber = false) =>
    html("th", { scope: "col", class: isNumber ? "col-number" : null }, text);
  const rows = patterns.map((pattern) =>
    html(
      "tr",
      {},
      html("td", { class: "col-number" }, count(pattern.numDocs)),
      html("td", { class: "col-number muted" }, percent(numAll === 0 ? 0 : pattern.numDocs / numAll)),
      hasTimes && html("td", { class: "over-time" }, sparkline(pattern.bars, result)),
      html(
        "td",
        { class: "pattern" },
        pattern.isNew && html("span", { class: "badge" }, "new"),
        pattern.isNew && " ",
        ...shown(pattern.text),
      ),
      html("td", {}, html("span", { class: "row" }, ...buttons(session, messages, pattern.text))),
    ),
  );
  return html(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Patterns of messages" },
    html(
      "table",
      { class: "data" },
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          head("Documents", true),
          head("Share", true),
          hasTimes && html("th", { scope: "col", class: "over-time" }, "Over time"),
          head("Pattern"),
          html("th", { scope: "col" }, html("span", { class: "hidden" }, "Filters")),
        ),
      ),
      html("tbody", {}, ...rows),
    ),
  );
}

/** The text of a pattern, its values marked. @param {string} text */
function shown(text) {
  return text
    .split(VALUE)
    .flatMap((words, ord) =>
      ord === 0 ? [words] : [html("span", { class: "pattern-value" }, VALUE), words],
    );
}

const WIDTH = 120;
const HEIGHT = 20;

/** @param {readonly Bar[]} bars @param {Result} result */
function sparkline(bars, { asked }) {
  const { bounds } = asked;
  const most = bars.reduce((one, other) => (other.numDocs > one.numDocs ? other : one), {
    startMs: 0,
    numDocs: 0,
  });
  if (bounds === null || most.numDocs === 0) return null;
  const stepMs = patternStep(bounds).ms;
  const length = Math.max(1, bounds.endMs - bounds.startMs);
  const at = (/** @type {number} */ ms) => ((ms - bounds.startMs) / length) * WIDTH;
  const width = Math.max(1.5, (stepMs / length) * WIDTH - 0.5);
  const label = `Most of them at ${longMoment(most.startMs, stepMs, zoneName())}`;
  return svg(
    "svg",
    { class: "sparkline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
    svg("title", {}, label),
    ...bars
      .filter(({ numDocs }) => numDocs > 0)
      .map(({ startMs, numDocs }) => {
        const height = Math.max(1, (numDocs / most.numDocs) * HEIGHT);
        const x = Math.min(Math.max(0, at(startMs)), WIDTH - width);
        return svg("rect", { x: round(x), y: round(HEIGHT - height), width: round(width), height: round(height) });
      }),
  );
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/**
 * Filters for one pattern. Without a column of patterns, documents are found that have its words, which can be a few more.
 * @param {Session} session
 * @param {Messages} messages
 * @param {string} text
 */
function buttons(session, { field, column }, text) {
  const button = (/** @type {boolean} */ isNot, /** @type {() => void} */ onclick) =>
    html(
      "button",
      {
        type: "button",
        class: "button quiet square small",
        "aria-label": `${isNot ? "Exclude" : "Only"} ${text.slice(0, 80)}`,
        title: isNot ? "All but this" : column === undefined ? "With these words" : "Only this",
        onclick,
      },
      icon(isNot ? "minus" : "plus"),
    );
  const { filters } = session.state;
  if (column !== undefined) {
    return [false, true].map((isNot) =>
      button(isNot, () =>
        session.setFilters(withFilter(filters, { field: column.name, value: text, isNot })),
      ),
    );
  }
  const parts = wordsOf(text, field.hasPositions === true);
  if (parts.length === 0) return [];
  return [
    button(false, () =>
      session.setFilters(
        parts.reduce((all, value) => withFilter(all, { field: field.name, value, isNot: false }), filters),
      ),
    ),
  ];
}

/** Most filters of one pattern. */
const MAX_PARTS = 5;

/**
 * What stands between the values of a pattern: as phrases, or word by word where the field has no positions. The longest
 * of them tell most.
 * @param {string} text
 * @param {boolean} asPhrases
 * @returns {string[]}
 */
export function wordsOf(text, asPhrases) {
  const between = text.split(VALUE).map((words) => words.trim());
  const parts = asPhrases ? between : between.flatMap((words) => words.split(/[^\p{L}\p{N}]+/u));
  const distinct = [...new Set(parts)].filter((part) => /[\p{L}\p{N}]/u.test(part));
  const longest = [...distinct].sort((one, other) => other.length - one.length);
  const kept = new Set(longest.slice(0, MAX_PARTS));
  return distinct.filter((part) => kept.has(part));
}
