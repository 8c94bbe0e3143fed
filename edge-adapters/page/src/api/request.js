/*
 * What the page asks for, as bodies of the search API.
 */

import { escapedName, joined } from "../state/query-text.js";
import { momentText, readLength, readRange, stepFor } from "../state/time.js";
import { guessLevelField } from "./index-info.js";

/** @import { Language, State } from "../state/url.js" */
/** @import { Anchors, Range, Step } from "../state/time.js" */
/** @import { IndexInfo } from "./index-info.js" */

/** Most bars of the histogram, and most values that colour one. */
const MAX_BARS = 60;
const MAX_LEVELS = 6;
/** Passages are marked in at most so many fields. */
const MAX_SNIPPET_FIELDS = 8;

/**
 * A search with its relative times resolved, so that the next page of hits is one of the same search.
 * @typedef {{
 *   query: string, language: Language, range: Range, bounds: { startMs: number, endMs: number } | null, step: Step | null,
 *   breakdown: string | null, sort: string,
 * }} Asked
 */

/** What times are relative to. @param {IndexInfo} info @returns {Anchors} */
export function anchorsOf(info) {
  return {
    nowMs: Date.now(),
    newestMs: info.maxTime === null ? null : (info.maxTime + 1) * 1000,
  };
}

/**
 * @param {State} state
 * @param {IndexInfo} info
 * @param {string | undefined} levelField what breaks bars down where nobody chose
 * @returns {Asked}
 */
export function resolve(state, info, levelField = guessLevelField(info.fields)) {
  const hasTime = info.timestampField !== null;
  const range = hasTime ? readRange(state.from, state.to, anchorsOf(info)) : {};
  const start = range.start ?? info.minTime;
  const end = range.end ?? (info.maxTime === null ? null : info.maxTime + 1);
  const isRange = hasTime && start !== null && end !== null && end > start;
  const breakdown = state.breakdown === "" ? (levelField ?? null) : state.breakdown;
  return {
    query: joined(state.query, state.filters),
    language: state.language,
    range,
    bounds: isRange ? { startMs: start * 1000, endMs: end * 1000 } : null,
    step: isRange ? stepFor(end - start, MAX_BARS) : null,
    breakdown: breakdown === "-" ? null : breakdown,
    sort: state.sort,
  };
}

/** @param {Asked} asked */
export function filterBody({ query, language, range }) {
  return {
    query,
    ...(language === "kql" ? { language } : {}),
    ...(range.start === undefined ? {} : { start_timestamp: range.start }),
    ...(range.end === undefined ? {} : { end_timestamp: range.end }),
  };
}

/**
 * The first page of hits, and the histogram.
 * @param {Asked} asked
 * @param {IndexInfo} info
 * @param {{ numHits: number, zone: string }} options
 */
export function searchBody(asked, info, { numHits, zone }) {
  return {
    ...pageBody(asked, info, 0, numHits),
    ...(info.timestampField === null
      ? {}
      : { aggs: { histogram: histogramOf(asked, info, zone) } }),
    profile: true,
  };
}

/**
 * @param {Asked} asked
 * @param {IndexInfo} info
 * @param {number} offset
 * @param {number} numHits
 */
export function pageBody(asked, info, offset, numHits) {
  const words = info.fields.filter((field) => field.isWords).map((field) => field.name);
  const snippets = words.slice(0, MAX_SNIPPET_FIELDS).join(",");
  return {
    ...filterBody(asked),
    max_hits: numHits,
    ...(offset === 0 ? {} : { start_offset: offset }),
    ...(asked.sort === "" ? {} : { sort_by: asked.sort }),
    ...(asked.query === "*" || snippets === "" ? {} : { snippet_fields: snippets }),
  };
}

/**
 * @param {Asked} asked
 * @param {IndexInfo} info
 * @param {string} zone
 */
function histogramOf({ bounds, step, breakdown }, info, zone) {
  const terms = { field: breakdown, size: MAX_LEVELS, order: { _count: "desc" } };
  const levels = breakdown === null ? {} : { aggs: { levels: { terms } } };
  const zoned = zone === "UTC" ? {} : { time_zone: zone };
  if (step === null) {
    // Under a forced filter the times of the index are not told: the server finds the width.
    return {
      auto_date_histogram: { field: info.timestampField, buckets: MAX_BARS, ...zoned },
      ...levels,
    };
  }
  return {
    date_histogram: {
      field: info.timestampField,
      ...step.param,
      ...zoned,
      // Bars of times without events are drawn, too: nothing moves when a word is added to the query.
      ...(bounds === null
        ? {}
        : { extended_bounds: { min: bounds.startMs, max: bounds.endMs - 1 } }),
    },
    ...levels,
  };
}

/** Most patterns that are shown, and most bars over time of each. */
const MAX_PATTERNS = 100;
const MAX_PATTERN_BARS = 40;

/** How wide the bars of a pattern are. @param {{ startMs: number, endMs: number }} bounds */
export function patternStep({ startMs, endMs }) {
  return stepFor((endMs - startMs) / 1000, MAX_PATTERN_BARS);
}

/**
 * The patterns of a field's messages, how they spread over time, and how many documents of each are older than what
 * counts as new.
 * @param {Asked} asked
 * @param {IndexInfo} info
 * @param {{ field: string, newSince: string, zone: string }} options
 */
export function patternsBody(asked, { timestampField }, { field, newSince, zone }) {
  const { bounds } = asked;
  const newMs = readLength(newSince);
  const inside =
    bounds === null || timestampField === null
      ? {}
      : {
          when: {
            date_histogram: {
              field: timestampField,
              ...patternStep(bounds).param,
              ...(zone === "UTC" ? {} : { time_zone: zone }),
              min_doc_count: 1,
            },
          },
          ...(newMs === undefined
            ? {}
            : {
                before: {
                  filter: `${escapedName(timestampField)}:<"${momentText(bounds.endMs - newMs)}"`,
                },
              }),
        };
  return {
    ...filterBody(asked),
    max_hits: 0,
    aggs: { patterns: { categorize_text: { field, size: MAX_PATTERNS }, aggs: inside } },
  };
}

/**
 * The most frequent values of a field, and of numbers their extremes and average.
 * @param {Asked} asked
 * @param {{ name: string, type: string }} field
 */
export function topValuesBody(asked, { name, type }) {
  const isNumber = /^(u64|i64|f64)$/.test(type);
  return {
    ...filterBody(asked),
    max_hits: 0,
    aggs: {
      values: { terms: { field: name, size: 8 } },
      ...(isNumber ? { stats: { stats: { field: name } } } : {}),
      ...(type === "datetime" || isNumber ? {} : { distinct: { cardinality: { field: name } } }),
    },
  };
}

/**
 * Values that begin with what was typed, in any case of letters.
 * @param {{ name: string, type: string }} field
 * @param {string} prefix
 * @param {Range} range
 */
export function completionBody({ name, type }, prefix, range) {
  const isText = type === "text" || type === "json" || type === "unknown";
  const include = isText && prefix !== "" ? { include: `${anyCase(prefix)}.*` } : {};
  return {
    ...filterBody({
      query: "*",
      language: "canter",
      range,
      bounds: null,
      step: null,
      breakdown: null,
      sort: "",
    }),
    max_hits: 0,
    // Numbers have no regular expressions: those that fit are picked out of more.
    aggs: {
      values: { terms: { field: name, size: isText || prefix === "" ? 10 : 500, ...include } },
    },
  };
}

/** A regular expression for a text in any case. @param {string} text */
export function anyCase(text) {
  return [...text]
    .map((letter) => {
      const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
      if (lower !== upper && lower.length === 1 && upper.length === 1) return `[${lower}${upper}]`;
      return letter.replace(/[.?+*|{}[\]()"\\#@&<>~^$/-]/, "\\$&");
    })
    .join("");
}
