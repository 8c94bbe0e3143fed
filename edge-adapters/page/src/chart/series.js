/*
 * Buckets as series of numbers: what is drawn, and what stands in the table.
 */

import { longMoment, moment, quantity } from "../ui/format.js";
import { percentsOf } from "./request.js";
import { METRIC_NAMES } from "./spec.js";

/** @import { ChartSpec, MetricSpec } from "./spec.js" */
/** @import { Bucket } from "../api/api.js" */

/** A place on the axis; `value` is what a filter compares. @typedef {{ label: string, long: string, value: string }} Place */
/** @typedef {{ name: string, values: (number | null)[] }} Series */

/**
 * `isOrdered` is an axis of times or numbers; the places of others are merely names.
 * @typedef {{ places: Place[], series: Series[], isOrdered: boolean, what: string, numLeftOut: number }} Data
 */

const MAX_SERIES = 8;

/**
 * @param {ChartSpec} spec
 * @param {Record<string, any> | undefined} aggregations
 * @param {string} zone
 * @returns {Data}
 */
export function readSeries(spec, aggregations, zone) {
  /** @type {any[]} */
  const buckets = aggregations?.["buckets"]?.buckets ?? [];
  const [first, second] = spec.buckets;
  const step = first?.type === "date_histogram" ? stepOf(buckets) : 0;
  const places = buckets.map((bucket) => placeOf(bucket, first?.type ?? "terms", step, zone));
  const what =
    spec.metric.type === "count"
      ? "Documents"
      : `${METRIC_NAMES[spec.metric.type]} of ${spec.metric.field}`;
  const isOrdered = first?.type === "date_histogram" || first?.type === "histogram";
  const measures = measuresOf(spec.metric);
  if (second === undefined) {
    const series = measures.map(({ name, read }) => ({
      name: name || what,
      values: buckets.map(read),
    }));
    return { places, series, isOrdered, what, numLeftOut: 0 };
  }
  /** @type {Map<string, { label: string, total: number, ord: number }>} */
  const inner = new Map();
  for (const bucket of buckets) {
    for (const one of bucket.buckets?.buckets ?? []) {
      const { value, label } = placeOf(one, second.type, 0, zone);
      const known = inner.get(value) ?? { label, total: 0, ord: inner.size };
      known.total += one.doc_count;
      inner.set(value, known);
    }
  }
  const isNamed = second.type === "terms";
  const byTotal = [...inner].sort((a, b) => b[1].total - a[1].total).slice(0, MAX_SERIES);
  // Intervals and ranges keep their order.
  const shown = isNamed
    ? byTotal
    : byTotal.sort((a, b) => Number.parseFloat(a[0]) - Number.parseFloat(b[0]));
  const series = shown.flatMap(([value, { label }]) => {
    const inside = buckets.map((bucket) =>
      (bucket.buckets?.buckets ?? []).find((/** @type {any} */ one) => valueOf(one) === value),
    );
    return measures.map(({ name, read }) => ({
      name: name === "" ? label : `${label}, ${name}`,
      values: inside.map((one) => (one === undefined ? null : read(one))),
    }));
  });
  return { places, series, isOrdered, what, numLeftOut: inner.size - shown.length };
}

/**
 * What is read of each bucket; percentiles are several numbers.
 * @param {MetricSpec} metric
 * @returns {{ name: string, read: (bucket: any) => number | null }[]}
 */
function measuresOf(metric) {
  if (metric.type === "count") return [{ name: "", read: (bucket) => bucket.doc_count }];
  if (metric.type !== "percentiles")
    return [{ name: "", read: (bucket) => finite(bucket.metric?.value) }];
  return percentsOf(metric).map((percent) => ({
    name: `${quantity(percent)}%`,
    read: (bucket) => {
      const entry = Object.entries(bucket.metric?.values ?? {}).find(
        ([key]) => Number(key) === percent,
      );
      return finite(entry?.[1]);
    },
  }));
}

/** @param {unknown} value */
function finite(value) {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** @param {Bucket} bucket */
function valueOf(bucket) {
  return String(bucket.key_as_string ?? bucket.key);
}

/**
 * @param {Bucket} bucket
 * @param {string} type
 * @param {number} step
 * @param {string} zone
 * @returns {Place}
 */
function placeOf(bucket, type, step, zone) {
  const value = valueOf(bucket);
  if (type === "date_histogram") {
    const ms = Number(bucket.key);
    return { label: moment(ms, step, zone), long: longMoment(ms, step, zone), value };
  }
  if (type === "histogram") {
    const label = quantity(Number(bucket.key));
    return { label, long: label, value };
  }
  if (type === "range") {
    const label = rangeName(bucket);
    return { label, long: label, value };
  }
  const label = value === "" ? "(empty)" : value;
  return { label, long: label, value };
}

/** @param {Bucket} bucket */
function rangeName({ from, to }) {
  if (typeof from !== "number") return `below ${quantity(Number(to))}`;
  return typeof to === "number" ? `${quantity(from)} to ${quantity(to)}` : `from ${quantity(from)}`;
}

/** The time between two neighbours. @param {readonly Bucket[]} buckets */
function stepOf(buckets) {
  const [first, second] = buckets;
  return first === undefined || second === undefined
    ? 86_400_000
    : Number(second.key) - Number(first.key);
}
