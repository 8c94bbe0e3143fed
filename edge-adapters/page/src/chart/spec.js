/*
 * What a chart shows, as plain data that stands in the URL.
 */

/** @typedef {"count" | "min" | "max" | "avg" | "sum" | "percentiles" | "cardinality"} MetricType */
/** @typedef {"terms" | "histogram" | "date_histogram" | "range"} BucketType */
/** @typedef {"bar" | "line" | "stacked" | "table"} ChartKind */
/** `percents` is a list as it was typed. @typedef {{ type: MetricType, field: string, percents?: string }} MetricSpec */

/**
 * `interval` is a width, a length of time such as `1h`, or empty for one that suits; `ranges` are the ends
 * between ranges, as they were typed.
 * @typedef {{ type: BucketType, field: string, size?: number, interval?: string, ranges?: string }} BucketSpec
 */

/** One or two levels of buckets. @typedef {{ metric: MetricSpec, buckets: BucketSpec[], kind: ChartKind }} ChartSpec */

/** @type {readonly MetricType[]} */
export const METRICS = ["count", "avg", "sum", "min", "max", "percentiles", "cardinality"];
/** @type {readonly BucketType[]} */
export const BUCKETS = ["date_histogram", "terms", "histogram", "range"];
/** @type {readonly ChartKind[]} */
export const KINDS = ["bar", "line", "stacked", "table"];

export const DEFAULT_SIZE = 10;
export const DEFAULT_PERCENTS = "50, 95, 99";

/** @import { Field, IndexInfo } from "../api/index-info.js" */

export const METRIC_NAMES = {
  count: "Count of documents",
  avg: "Average",
  sum: "Sum",
  min: "Minimum",
  max: "Maximum",
  percentiles: "Percentiles",
  cardinality: "Distinct values",
};

export const BUCKET_NAMES = {
  terms: "Top values",
  histogram: "Number intervals",
  date_histogram: "Time intervals",
  range: "Ranges",
};

const NUMBERS = /^(u64|i64|f64)$/;

/** Fields that a metric may be of. @param {MetricType} metric @param {readonly Field[]} fields */
export function fieldsForMetric(metric, fields) {
  const isFit = (/** @type {Field} */ { type }) =>
    metric === "cardinality" || type === "unknown" || NUMBERS.test(type);
  return metric === "count" ? [] : fields.filter((field) => field.isFast && isFit(field));
}

/** @param {BucketType} bucket @param {readonly Field[]} fields */
export function fieldsForBucket(bucket, fields) {
  return fields.filter(({ isFast, type }) => {
    if (!isFast) return false;
    if (bucket === "terms") return type !== "datetime";
    if (bucket === "date_histogram") return type === "datetime";
    return NUMBERS.test(type);
  });
}

/**
 * A chart to begin with: events over time, or the top values of the first field that has some.
 * @param {IndexInfo} info
 * @param {readonly Field[]} fields
 * @param {string | undefined} levelField
 * @returns {ChartSpec | null}
 */
export function firstChart(info, fields, levelField) {
  const metric = /** @type {const} */ ({ type: "count", field: "" });
  const level = /** @type {BucketSpec} */ ({ type: "terms", field: levelField ?? "", size: 5 });
  if (info.timestampField !== null) {
    const time = /** @type {const} */ ({ type: "date_histogram", field: info.timestampField });
    return levelField === undefined
      ? { metric, buckets: [time], kind: "bar" }
      : { metric, buckets: [time, level], kind: "stacked" };
  }
  const texts = fieldsForBucket("terms", fields).filter(({ type }) => type === "text");
  const field = levelField ?? texts[0]?.name;
  if (field === undefined) return null;
  return { metric, buckets: [{ type: "terms", field, size: DEFAULT_SIZE }], kind: "bar" };
}

/**
 * A chart out of the URL, or nothing if it is none.
 * @param {string} text
 * @returns {ChartSpec | null}
 */
export function readChart(text) {
  if (text === "") return null;
  try {
    const { metric, buckets, kind } = JSON.parse(text);
    const isBucket = (/** @type {any} */ bucket) =>
      BUCKETS.includes(bucket?.type) && typeof bucket.field === "string";
    const isChart =
      METRICS.includes(metric?.type) &&
      typeof metric.field === "string" &&
      KINDS.includes(kind) &&
      Array.isArray(buckets) &&
      buckets.length >= 1 &&
      buckets.length <= 2 &&
      buckets.every(isBucket);
    return isChart ? { metric, buckets, kind } : null;
  } catch {
    return null;
  }
}
