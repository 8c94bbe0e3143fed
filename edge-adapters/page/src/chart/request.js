/*
 * A chart's spec as aggregations of the search API.
 */

import { filterBody } from "../api/request.js";
import { stepFor } from "../state/time.js";
import { niceMax } from "./scale.js";
import { DEFAULT_PERCENTS, DEFAULT_SIZE } from "./spec.js";

/** @import { Asked } from "../api/request.js" */
/** @import { BucketSpec, ChartSpec, MetricSpec } from "./spec.js" */

/** What numbers of a field are like, for widths that nobody chose. @typedef {{ min: number, max: number, quartiles: number[] }} Spread */

const MAX_POINTS = 40;

/** @param {string} text @returns {number[]} the numbers in a list as it was typed */
export function numbersIn(text) {
  return [
    ...new Set(
      text
        .split(/[,;\s]+/)
        .filter((part) => part !== "")
        .map(Number),
    ),
  ]
    .filter((value) => Number.isFinite(value))
    .sort((a, b) => a - b);
}

/** @param {MetricSpec} metric */
export function percentsOf(metric) {
  const percents = numbersIn(metric.percents ?? "").filter((value) => value >= 0 && value <= 100);
  return percents.length > 0 ? percents : numbersIn(DEFAULT_PERCENTS);
}

/** Whether the field's spread must be known first. @param {BucketSpec} bucket */
export function needsSpread(bucket) {
  if (bucket.type === "histogram") return !(Number(bucket.interval ?? "") > 0);
  return bucket.type === "range" && numbersIn(bucket.ranges ?? "").length === 0;
}

/** @param {Asked} asked @param {string} field */
export function spreadBody(asked, field) {
  return {
    ...filterBody(asked),
    max_hits: 0,
    aggs: {
      stats: { stats: { field } },
      quartiles: { percentiles: { field, percents: [25, 50, 75] } },
    },
  };
}

/** @param {Record<string, any> | undefined} aggregations @returns {Spread} */
export function readSpread(aggregations) {
  const { min = 0, max = 0 } = aggregations?.["stats"] ?? {};
  const values = Object.values(aggregations?.["quartiles"]?.values ?? {}).map(Number);
  return {
    min: min ?? 0,
    max: max ?? 0,
    quartiles: values.filter((value) => Number.isFinite(value)),
  };
}

/**
 * @param {ChartSpec} spec
 * @param {Asked} asked
 * @param {string} zone
 * @param {readonly (Spread | undefined)[]} spreads of each level
 */
export function chartBody({ metric, buckets }, asked, zone, spreads) {
  const measure = metricOf(metric);
  /** @type {Record<string, unknown>} */
  let aggs = measure;
  for (let level = buckets.length - 1; level >= 0; level -= 1) {
    const bucket = buckets[level];
    if (bucket === undefined) continue;
    const inside = { ...measure, ...aggs };
    const agg = bucketOf(bucket, metric, asked, zone, spreads[level]);
    aggs = { buckets: { ...agg, ...(Object.keys(inside).length === 0 ? {} : { aggs: inside }) } };
  }
  return { ...filterBody(asked), max_hits: 0, aggs };
}

/** @param {MetricSpec} metric @returns {Record<string, unknown>} */
function metricOf(metric) {
  const { type, field } = metric;
  if (type === "count") return {};
  const percents = type === "percentiles" ? { percents: percentsOf(metric) } : {};
  return { metric: { [type]: { field, ...percents } } };
}

/**
 * @param {BucketSpec} bucket
 * @param {MetricSpec} metric
 * @param {Asked} asked
 * @param {string} zone
 * @param {Spread | undefined} spread
 */
function bucketOf({ type, field, size, interval, ranges }, metric, asked, zone, spread) {
  switch (type) {
    case "terms":
      return { terms: { field, size: size ?? DEFAULT_SIZE, order: { [orderOf(metric)]: "desc" } } };
    case "histogram": {
      const width = Number(interval ?? "") > 0 ? Number(interval) : widthFor(spread);
      return { histogram: { field, interval: width } };
    }
    case "date_histogram": {
      const zoned = zone === "UTC" ? {} : { time_zone: zone };
      return { date_histogram: { field, ...intervalOf(interval ?? "", asked), ...zoned } };
    }
    case "range": {
      const typed = numbersIn(ranges ?? "");
      return { range: { field, ranges: rangesOf(typed.length > 0 ? typed : endsFor(spread)) } };
    }
  }
}

/** @param {MetricSpec} metric */
function orderOf(metric) {
  if (metric.type === "count") return "_count";
  return metric.type === "percentiles" ? `metric.${percentsOf(metric).at(-1)}` : "metric";
}

/** @param {string} interval @param {Asked} asked @returns {Record<string, string>} */
function intervalOf(interval, { bounds }) {
  if (/^(week|month|quarter|year)$/.test(interval)) return { calendar_interval: interval };
  if (interval !== "") return { fixed_interval: interval };
  return stepFor(bounds === null ? 86_400 : (bounds.endMs - bounds.startMs) / 1000, MAX_POINTS)
    .param;
}

/** @param {Spread | undefined} spread */
function widthFor(spread) {
  return spread === undefined ? 1 : niceMax((spread.max - spread.min) / 20);
}

/** Round ends that part documents in about equal numbers. @param {Spread | undefined} spread */
function endsFor(spread) {
  const ends = (spread?.quartiles ?? []).map((value) => Number(value.toPrecision(2)));
  return ends.length === 0 ? [0] : [...new Set(ends)];
}

/** @param {readonly number[]} ends */
function rangesOf(ends) {
  const inner = ends.slice(1).map((to, ord) => ({ from: ends[ord], to }));
  return [{ to: ends[0] }, ...inner, { from: ends.at(-1) }];
}
