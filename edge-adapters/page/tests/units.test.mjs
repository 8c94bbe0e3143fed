/*
 * The parts of the page that need no browser: texts of queries, times, URLs, snippets, costs, series.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { costOfHeaders } from "../src/api/cost.js";
import { fieldsWith, guessColumns, readIndexInfo, valueAt } from "../src/api/index-info.js";
import { priceOf, SERVICES } from "../src/api/prices.js";
import { anyCase } from "../src/api/request.js";
import { markedWhole, readSnippet } from "../src/api/snippets.js";
import { colorsOf } from "../src/chart/colors.js";
import { csvOf } from "../src/chart/data-table.js";
import { chartBody, needsSpread, numbersIn } from "../src/chart/request.js";
import { niceCount, niceMax, ticksOf } from "../src/chart/scale.js";
import { readSeries } from "../src/chart/series.js";
import { readChart } from "../src/chart/spec.js";
import { namesThatFit, typedAt } from "../src/state/completion.js";
import { joined, quoted, withFilter } from "../src/state/query-text.js";
import { rangeName, readRange, stepFor } from "../src/state/time.js";
import { emptyState, readState, writeState } from "../src/state/url.js";
import { age, bytes, dollars, duration, quantity, timeOf, timestamp } from "../src/ui/format.js";

test("values are quoted where the language wants it", () => {
  for (const [value, text] of [
    ["ERROR", "ERROR"],
    ["404", "404"],
    ["-5", '"-5"'],
    ["10.0.0.1", "10.0.0.1"],
    ["datanode/04", '"datanode/04"'],
    ["a b", '"a b"'],
    ['say "hi" \\', '"say \\"hi\\" \\\\"'],
    ["AND", '"AND"'],
    ["", '""'],
    ["Zürich", "Zürich"],
  ]) {
    assert.equal(quoted(value), text);
  }
});

test("filters join what was typed", () => {
  const only = { field: "level", value: "ERROR", isNot: false };
  const not = { field: "id", value: "a b", isNot: true };
  assert.equal(joined("", []), "*");
  assert.equal(joined(" x OR y ", []), "x OR y");
  assert.equal(joined("*", [only]), "level:ERROR");
  assert.equal(joined("x OR y", [only, not]), '(x OR y) AND level:ERROR AND NOT id:"a b"');
  assert.equal(joined("", [{ field: "id", value: null, isNot: true }]), "NOT id:*");
  assert.deepEqual(withFilter([only], { ...only, isNot: true }), [{ ...only, isNot: true }]);
});

test("times are read and named", () => {
  const anchors = { nowMs: 1_000_000_000_000, newestMs: 900_000_000_000 };
  assert.deepEqual(readRange("now-15m", "", anchors), { start: 999_999_100 });
  assert.deepEqual(readRange("newest-1d", "newest", anchors), {
    start: 899_913_600,
    end: 900_000_000,
  });
  assert.deepEqual(readRange("2001-09-09T01:46:40Z", "x", anchors), { start: 1_000_000_000 });
  const show = (ms) => timestamp(ms, "UTC");
  assert.equal(rangeName("", "", show), "All time");
  assert.equal(rangeName("now-1h", "", show), "Last hour");
  assert.equal(rangeName("newest-7d", "newest", show), "Newest 7 days");
  assert.equal(rangeName("2026-01-02T03:04:05Z", "", show), "Since 2026-01-02 03:04:05");
});

test("steps suit the range", () => {
  for (const [seconds, param] of [
    [30, { fixed_interval: "1s" }],
    [3600, { fixed_interval: "1m" }],
    [30 * 86_400, { fixed_interval: "12h" }],
    [365 * 86_400, { calendar_interval: "week" }],
    [1000 * 365 * 86_400, { calendar_interval: "year" }],
  ]) {
    assert.deepEqual(stepFor(seconds, 60).param, param);
  }
});

test("a state goes into the URL and comes out again", () => {
  const state = {
    ...emptyState(),
    index: "logs",
    query: 'body:"a b" & c',
    language: /** @type {const} */ ("kql"),
    filters: [
      { field: "level", value: "a:b", isNot: false },
      { field: "level", value: "x", isNot: true },
      { field: "id", value: null, isNot: true },
    ],
    from: "now-1h",
    columns: ["time", "body"],
    sort: "-size,time",
    breakdown: "-",
    view: "chart",
    numHits: 100,
    doc: 4,
    chart: {
      metric: { type: "avg", field: "size" },
      buckets: [{ type: "terms", field: "level", size: 3 }],
      kind: "line",
    },
  };
  assert.deepEqual(readState(writeState(state)), state);
  assert.equal(writeState(emptyState()), "");
  assert.deepEqual(readState("?view=none&hits=-3&doc=x&is=nothing&chart={"), emptyState());
  assert.equal(readChart('{"metric":{"type":"count","field":""},"buckets":[],"kind":"bar"}'), null);
});

test("what is typed at the caret is known", () => {
  const check = (text, expected) => {
    const caret = text.indexOf("|");
    const typed = typedAt(text.replace("|", ""), caret);
    assert.deepEqual(
      typed && [typed.kind, typed.field, typed.prefix].filter((x) => x !== undefined),
      expected,
    );
  };
  check("|", ["field", ""]);
  check("sta|", ["field", "sta"]);
  check("a AND (sta|", ["field", "sta"]);
  check("-sta|", ["field", "sta"]);
  check("status:50|", ["value", "status", "50"]);
  check("a OR resource.service:|", ["value", "resource.service", ""]);
  check('service:"shop fr|', ["value", "service", "shop fr"]);
  check('body:"a b" sta|', ["field", "sta"]);
  check('"a ph|', null);
  check("status:>5|", null);
  assert.deepEqual(typedAt('a:"b"', 4), {
    kind: "value",
    field: "a",
    prefix: "b",
    start: 2,
    end: 5,
  });
});

test("names that begin so come first", () => {
  const fields = ["substatus", "http.status", "status", "id"].map((name) => ({ name }));
  assert.deepEqual(
    namesThatFit(fields, "Stat").map(({ name }) => name),
    ["status", "http.status", "substatus"],
  );
});

test("a prefix is a regular expression in any case", () => {
  assert.match("Data.Node/04", new RegExp(`^${anyCase("dATA.n")}.*$`));
  assert.doesNotMatch("DataXNode", new RegExp(`^${anyCase("data.n")}.*$`));
});

test("snippets become text, never markup", () => {
  assert.deepEqual(readSnippet("a &lt;i&gt; <b>x &amp; y</b>&#x27;"), [
    { text: "a <i> ", isMarked: false },
    { text: "x & y", isMarked: true },
    { text: "'", isMarked: false },
  ]);
  const marked = markedWhole("block blocks a block.", ["the <b>block</b>"]);
  assert.deepEqual(
    marked.filter((piece) => piece.isMarked).map((piece) => piece.text),
    ["block", "block"],
  );
  assert.equal(marked.map((piece) => piece.text).join(""), "block blocks a block.");
});

test("costs are read from headers", () => {
  const cost = costOfHeaders(
    new Headers({
      "x-canter-requests": "7",
      "x-canter-bytes": "206447",
      "x-canter-waves": "2",
      "server-timing":
        'total;dur=24.2, network;dur=1.5;desc="7 requests, 206447 bytes", guest;dur=22, wave1;dur=0.5;desc="1 request", wave2;dur=1;desc="6 requests"',
    }),
  );
  assert.equal(cost.isKnown, true);
  assert.deepEqual(
    [cost.numRequests, cost.numWaves, cost.elapsedUs, cost.guestUs],
    [7, 2, 24_200, 22_000],
  );
  assert.deepEqual(
    cost.waves.map((wave) => [wave.us, wave.numRequests]),
    [
      [500, 1],
      [1000, 6],
    ],
  );
  assert.equal(costOfHeaders(new Headers()).isKnown, false);
});

test("a million searches cost what the price table says", () => {
  const cost = { numRequests: 9, numBytes: 343_000 };
  const perMillion = (id) =>
    1e6 *
    priceOf(
      cost,
      SERVICES.find((service) => service.id === id),
    ).total;
  assert.equal(perMillion("s3").toFixed(2), "32.35");
  assert.equal(perMillion("s3-region").toFixed(2), "3.60");
  assert.equal(perMillion("r2").toFixed(2), "3.24");
});

const RAW = {
  index_config: {
    index_id: "logs",
    doc_mapping: {
      mode: "dynamic",
      dynamic_mapping: { fast: true },
      field_mappings: [
        { name: "time", type: "datetime", fast: true, output_format: "unix_timestamp_millis" },
        {
          name: "resource",
          type: "object",
          field_mappings: [{ name: "level", type: "array<text>", tokenizer: "raw", fast: {} }],
        },
        { name: "message", type: "text", tokenizer: "default", fast: false },
      ],
    },
  },
  timestamp_field_name: "time",
};

test("values that are found in any spelling are whole", () => {
  const names = ["raw", "lowercase", "level", "default", "en_stem"];
  const fields = names.map((tokenizer) => ({ name: tokenizer, type: "text", tokenizer }));
  const config = { index_id: "x", doc_mapping: { field_mappings: fields } };
  const info = readIndexInfo({ index_config: config });
  const words = info.fields.filter(({ isWords }) => isWords).map(({ name }) => name);
  assert.deepEqual(words, ["default", "en_stem"]);
});

test("fields are those of the mapping, and those of hits", () => {
  const info = readIndexInfo(RAW);
  assert.deepEqual(guessColumns(info, info.fields, []), ["time", "resource.level", "message"]);
  assert.equal(info.fields[1].type, "text");
  const hit = {
    time: 1,
    resource: { level: ["a"] },
    extra: { "a.b": 2 },
    list: [{ x: 1 }, { x: 2 }],
    at: "2026-01-02T03:04:05Z",
  };
  const seen = fieldsWith(info, [hit]).slice(3);
  assert.deepEqual(
    seen.map(({ name, type, isFast }) => [name, type, isFast]),
    [
      ["extra.a\\.b", "i64", true],
      ["list.x", "i64", true],
      ["at", "datetime", true],
    ],
  );
  assert.deepEqual(guessColumns(info, info.fields, [hit]), ["time", "resource.level"]);
  assert.equal(valueAt(hit, "extra.a\\.b"), 2);
  assert.deepEqual(valueAt(hit, "list.x"), [1, 2]);
  assert.equal(valueAt(hit, "nothing.there"), undefined);
});

test("charts ask for nested aggregations, and read them", () => {
  const asked = {
    query: "*",
    range: { start: 1 },
    bounds: null,
    step: null,
    breakdown: null,
    sort: "",
  };
  const spec = {
    metric: { type: "percentiles", field: "size", percents: "50 99" },
    buckets: [
      { type: "terms", field: "level" },
      { type: "range", field: "size", ranges: "10, 5" },
    ],
    kind: "bar",
  };
  const body = chartBody(spec, asked, "UTC", []);
  assert.equal(body.start_timestamp, 1);
  assert.deepEqual(body.aggs.buckets.terms.order, { "metric.99": "desc" });
  assert.deepEqual(body.aggs.buckets.aggs.buckets.range.ranges, [
    { to: 5 },
    { from: 5, to: 10 },
    { from: 10 },
  ]);
  const inner = (key, p50) => ({
    key,
    doc_count: 2,
    to: 5,
    metric: { values: { "50.0": p50, "99.0": null } },
  });
  const data = readSeries(
    spec,
    {
      buckets: {
        buckets: [
          { key: "a", doc_count: 4, buckets: { buckets: [inner("*-5", 3)] } },
          { key: "", doc_count: 1, buckets: { buckets: [] } },
        ],
      },
    },
    "UTC",
  );
  assert.deepEqual(data.series, [
    { name: "below 5, 50%", values: [3, null] },
    { name: "below 5, 99%", values: [null, null] },
  ]);
  assert.equal(csvOf(data, "level"), 'level,"below 5, 50%","below 5, 99%"\na,3,\n,,');
  assert.equal(needsSpread({ type: "histogram", field: "size" }), true);
  assert.deepEqual(numbersIn("5, 1; x 3,5"), [1, 3, 5]);
});

test("axes end at round numbers", () => {
  assert.deepEqual([0, 1, 7, 12, 230].map(niceMax), [1, 1, 10, 20, 250]);
  assert.deepEqual([0, 1, 7, 25, 1400].map(niceCount), [2, 2, 8, 30, 2000]);
  assert.deepEqual(ticksOf(0, 90), [0, 25, 50, 75, 100]);
  assert.deepEqual(ticksOf(-3, 5), [-4, -2, 0, 2, 4, 6]);
});

test("levels have their colours, other names have one each", () => {
  assert.deepEqual(
    colorsOf(["ERROR", "INFO", "odd"]).map(({ className }) => className),
    ["series-0", "level-info", "level-error"],
  );
  assert.deepEqual(
    colorsOf(["301", "304", "200"]).map(({ className }) => className),
    ["series-0", "series-1", "series-2"],
  );
});

test("numbers and times are written as people read them", () => {
  assert.equal(bytes(812), "812 B");
  assert.equal(bytes(97_234), "97.2 kB");
  assert.equal(duration(3210), "3.21 ms");
  assert.equal(duration(1_500_000), "1.5 sec");
  assert.equal(dollars(0.0000036), "$0.0000036");
  assert.equal(dollars(5.6), "$5.60");
  assert.equal(quantity(0.000123456), "0.0001235");
  assert.equal(age(30), "less than a minute");
  assert.equal(age(3_700_000), "1 hour");
  assert.equal(timestamp(1_463_086_043_250, "UTC"), "2016-05-12 20:47:23.250");
  assert.equal(timestamp(1_463_086_043_000, "Asia/Kolkata"), "2016-05-13 02:17:23");
  assert.equal(timeOf(1_463_086_043), 1_463_086_043_000);
  assert.equal(timeOf(1_463_086_043_000, "unix_timestamp_millis"), 1_463_086_043_000);
  assert.equal(timeOf("2016-05-12T20:47:23Z", "rfc3339"), 1_463_086_043_000);
  assert.equal(
    timestamp(timeOf("2016-05-12T22:47:23.123456789+02:00"), "UTC"),
    "2016-05-12 20:47:23.123",
  );
});

test("what is no time is shown as it is, instead of breaking the page", () => {
  for (const none of [undefined, null, "", "yesterday", NaN, 1e300, -1e300, {}, [], true]) {
    assert.equal(timeOf(none), undefined, JSON.stringify(none));
  }
  assert.deepEqual(readRange("now-99999999999y", "", { nowMs: 0, newestMs: null }), {});
});

test("names of fields are escaped where they need it", () => {
  const named = (field) => joined("", [{ field, value: "x", isNot: false }]);
  assert.equal(named("@time.a-b_c"), "@time.a-b_c:x");
  assert.equal(named("a b:c"), "a\\ b\\:c:x");
});
