/*
 * The form that says what a chart shows: a number of something, by one or two levels of buckets, as one kind of
 * picture. Each change is a whole spec.
 */

import { html, refill } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { choice, text } from "./controls.js";
import {
  BUCKETS,
  BUCKET_NAMES,
  DEFAULT_PERCENTS,
  DEFAULT_SIZE,
  KINDS,
  METRICS,
  METRIC_NAMES,
  fieldsForBucket,
  fieldsForMetric,
} from "./spec.js";

/** @import { Field } from "../api/index-info.js" */
/** @import { BucketSpec, BucketType, ChartKind, ChartSpec, MetricType } from "./spec.js" */

const KIND_NAMES = { bar: "Bars", line: "Lines", stacked: "Stacked", table: "Table" };
const INTERVALS = [
  "1s",
  "10s",
  "1m",
  "5m",
  "10m",
  "30m",
  "1h",
  "3h",
  "12h",
  "1d",
  "week",
  "month",
  "quarter",
  "year",
];

/**
 * Draws the form of a spec into `place`; `onChange` hears of another one.
 * @param {HTMLElement} place
 * @param {ChartSpec} spec
 * @param {readonly Field[]} fields
 * @param {(spec: ChartSpec) => void} onChange
 */
export function drawForm(place, spec, fields, onChange) {
  const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const setBucket = (/** @type {number} */ level, /** @type {BucketSpec | null} */ bucket) => {
    const buckets =
      bucket === null ? spec.buckets.slice(0, level) : spec.buckets.with(level, bucket);
    onChange({ ...spec, buckets });
  };
  const [first, second] = spec.buckets;
  refill(
    place,
    group("Show", "metric", metricControls(spec, fields, onChange)),
    first &&
      group(
        "by",
        "first",
        bucketControls("first", first, fields, (bucket) => setBucket(0, bucket)),
      ),
    second === undefined
      ? addButton(spec, fields, onChange)
      : group("then by", "second", [
          ...bucketControls("second", second, fields, (bucket) => setBucket(1, bucket)),
          html(
            "button",
            {
              type: "button",
              class: "button quiet square",
              "aria-label": "Remove the second level",
              onclick: () => setBucket(1, null),
            },
            icon("close"),
          ),
        ]),
    kinds(spec, onChange),
  );
  if (focused) document.getElementById(focused)?.focus();
}

/** @param {string} text @param {string} name @param {HTMLElement[]} controls */
function group(text, name, controls) {
  return html(
    "div",
    { class: "builder-group", role: "group", "aria-labelledby": `builder-${name}-label` },
    html("span", { class: "builder-word muted", id: `builder-${name}-label` }, text),
    ...controls,
  );
}

/** @param {readonly Field[]} fields @returns {[string, string][]} */
function named(fields) {
  return fields.map(({ name }) => [name, name]);
}

/**
 * @param {ChartSpec} spec
 * @param {readonly Field[]} fields
 * @param {(spec: ChartSpec) => void} onChange
 */
function metricControls(spec, fields, onChange) {
  const { metric } = spec;
  const fitting = METRICS.filter(
    (type) => type === "count" || fieldsForMetric(type, fields).length > 0,
  );
  const controls = [
    choice(
      "metric",
      "Metric",
      fitting.map((type) => [type, METRIC_NAMES[type]]),
      metric.type,
      (value) => {
        const type = /** @type {MetricType} */ (value);
        const possible = fieldsForMetric(type, fields).map(({ name }) => name);
        const field = possible.includes(metric.field) ? metric.field : (possible[0] ?? "");
        onChange({ ...spec, metric: { ...metric, type, field: type === "count" ? "" : field } });
      },
    ),
  ];
  if (metric.type !== "count") {
    const of = named(fieldsForMetric(metric.type, fields));
    controls.push(
      choice("metric-field", "Field of the metric", of, metric.field, (field) =>
        onChange({ ...spec, metric: { ...metric, field } }),
      ),
    );
  }
  if (metric.type !== "percentiles") return controls;
  const percents = text(
    "percents",
    "Percentiles, separated by commas",
    { size: 10, inputmode: "decimal" },
    metric.percents ?? DEFAULT_PERCENTS,
    (typed) => onChange({ ...spec, metric: { ...metric, percents: typed } }),
  );
  return [...controls, percents];
}

/**
 * @param {"first" | "second"} id
 * @param {BucketSpec} bucket
 * @param {readonly Field[]} fields
 * @param {(bucket: BucketSpec) => void} onChange
 * @returns {HTMLElement[]}
 */
function bucketControls(id, bucket, fields, onChange) {
  const fitting = BUCKETS.filter((type) => fieldsForBucket(type, fields).length > 0);
  const possible = fieldsForBucket(bucket.type, fields);
  const controls = [
    choice(
      `${id}-type`,
      "Kind of buckets",
      fitting.map((type) => [type, BUCKET_NAMES[type]]),
      bucket.type,
      (value) => {
        const type = /** @type {BucketType} */ (value);
        onChange({ type, field: fieldsForBucket(type, fields)[0]?.name ?? "" });
      },
    ),
    choice(`${id}-field`, "Field of the buckets", named(possible), bucket.field, (field) =>
      onChange({ type: bucket.type, field }),
    ),
  ];
  return [...controls, detail(id, bucket, onChange)];
}

/**
 * @param {string} id
 * @param {BucketSpec} bucket
 * @param {(bucket: BucketSpec) => void} onChange
 */
function detail(id, bucket, onChange) {
  switch (bucket.type) {
    case "terms":
      return text(
        `${id}-size`,
        "How many values",
        { type: "number", min: 1, max: 100, class: "input number" },
        String(bucket.size ?? DEFAULT_SIZE),
        (typed) =>
          onChange({ ...bucket, size: Math.max(1, Math.min(100, Number(typed) || DEFAULT_SIZE)) }),
      );
    case "histogram":
      return text(
        `${id}-interval`,
        "Width of an interval",
        { inputmode: "decimal", size: 8, placeholder: "auto" },
        bucket.interval ?? "",
        (interval) => onChange({ ...bucket, interval }),
      );
    case "date_histogram":
      return choice(
        `${id}-interval`,
        "Length of an interval",
        [["", "auto"], ...INTERVALS.map((name) => /** @type {[string, string]} */ ([name, name]))],
        bucket.interval ?? "",
        (interval) => onChange({ ...bucket, interval }),
      );
    case "range":
      return text(
        `${id}-ranges`,
        "Numbers between the ranges, separated by commas",
        { size: 14, placeholder: "auto, or 100, 500" },
        bucket.ranges ?? "",
        (ranges) => onChange({ ...bucket, ranges }),
      );
  }
}

/**
 * @param {ChartSpec} spec
 * @param {readonly Field[]} fields
 * @param {(spec: ChartSpec) => void} onChange
 */
function addButton(spec, fields, onChange) {
  const used = spec.buckets.map(({ field }) => field);
  const terms = fieldsForBucket("terms", fields);
  const field = (
    terms.find(({ name, type }) => type === "text" && !used.includes(name)) ?? terms[0]
  )?.name;
  if (field === undefined) return null;
  return html(
    "button",
    {
      type: "button",
      class: "button quiet",
      onclick: () =>
        onChange({ ...spec, buckets: [...spec.buckets, { type: "terms", field, size: 5 }] }),
    },
    icon("plus"),
    "Second level",
  );
}

/** @param {ChartSpec} spec @param {(spec: ChartSpec) => void} onChange */
function kinds(spec, onChange) {
  return html(
    "div",
    { class: "segments", role: "radiogroup", "aria-label": "Kind of chart" },
    ...KINDS.map((/** @type {ChartKind} */ kind) =>
      html(
        "label",
        { class: "segment" },
        html("input", {
          type: "radio",
          name: "kind",
          id: `builder-kind-${kind}`,
          checked: spec.kind === kind,
          onchange: () => onChange({ ...spec, kind }),
        }),
        html("span", {}, KIND_NAMES[kind]),
      ),
    ),
  );
}
