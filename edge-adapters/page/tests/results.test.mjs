/*
 * Below the histogram: documents, one in full, charts, the requests of a search.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { settled, skip, violations } from "./support/page.mjs";
import { NUM_LOGS, parameter, suite, sum } from "./support/suite.mjs";

const { ask, open } = suite();

test("more hits come below those that are there", { skip }, async (t) => {
  const { page } = await open(t);
  assert.equal(await page.locator(".hit").count(), 50);
  await page.click("#more");
  await page.waitForFunction(() => document.querySelectorAll(".hit").length === 100);
  const shown = await page
    .locator(".hit time")
    .evaluateAll((times) => times.map((time) => time.dateTime));
  const { hits } = await ask({ query: "*", max_hits: 100 });
  assert.deepEqual(
    shown,
    hits.map((hit) => new Date(hit.timestamp * 1000).toISOString()),
  );
  await page.reload();
  await page.waitForFunction(() => document.querySelectorAll(".hit").length === 100);
});

test("a document is opened by keyboard, read in full, and filters", { skip }, async (t) => {
  const { page, errors } = await open(t, "?index=logs&q=body%3Ablock");
  await page.locator(".num-hits").click();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".drawer");
  assert.equal(await parameter(page, "doc"), "2");
  const json = JSON.parse(await page.textContent(".doc-json pre"));
  const { hits } = await ask({ query: "body:block", max_hits: 2 });
  assert.deepEqual(json, hits[1]);
  assert.equal(
    (await page.locator(".doc-value mark").first().textContent()).toLowerCase(),
    "block",
  );
  await page.keyboard.press("k");
  await page.waitForFunction(() => location.search.includes("doc=1"));
  assert.deepEqual(JSON.parse(await page.textContent(".doc-json pre")), hits[0]);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".drawer", { state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.id), "open-0");
  assert.equal(await parameter(page, "doc"), null);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Exclude severity_text/ }).click();
  await page.waitForSelector(".drawer", { state: "detached" });
  const wanted = `body:block AND NOT severity_text:${hits[0].severity_text}`;
  await settled(page, (await ask({ query: wanted, max_hits: 0 })).num_hits);
  assert.deepEqual(errors, []);
});

test("what was indexed never becomes markup", { skip }, async (t) => {
  const { page } = await open(t, "?index=cities&q=name%3Aevil&doc=1");
  await page.waitForSelector(".drawer");
  assert.match(await page.textContent(".doc-json pre"), /<img src=x/);
  assert.match(await page.textContent("#hits"), /<img src=x onerror=.*> & "Sons"/);
  assert.equal(await page.locator("img").count(), 1);
  assert.equal(await page.evaluate(() => globalThis.broken), undefined);
});

test("charts show the numbers of the API", { skip }, async (t) => {
  const { page, errors } = await open(t, "?index=logs&view=chart");
  await page.waitForSelector(".chart svg");
  const rows = () =>
    page
      .locator(".chart-numbers tbody tr")
      .evaluateAll((all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent.replaceAll(",", ""))),
      );
  const stacked = await rows();
  const total = sum(stacked.flatMap((row) => row.slice(1).map((text) => Number(text) || 0)));
  assert.equal(total, NUM_LOGS);
  await page.getByRole("button", { name: "Remove the second level" }).click();
  await page.selectOption("#builder-metric", "percentiles");
  await page.selectOption("#builder-first-type", "terms");
  await page.selectOption("#builder-first-field", "severity_text");
  await page.check("#builder-kind-table");
  const { aggregations } = await ask({
    query: "*",
    max_hits: 0,
    aggs: {
      levels: {
        terms: { field: "severity_text", order: { "p.99": "desc" } },
        aggs: { p: { percentiles: { field: "tenant_id", percents: [50, 95, 99] } } },
      },
    },
  });
  const expected = aggregations.levels.buckets.map(({ key, p }) => [
    key,
    ...["50.0", "95.0", "99.0"].map((percent) => String(Number(p.values[percent].toFixed(3)))),
  ]);
  await page.waitForFunction(
    (text) => document.querySelector(".chart-numbers tbody th")?.textContent === text,
    expected[0][0],
  );
  assert.deepEqual(await rows(), expected);
  assert.deepEqual(errors, []);
});

const CHARTS = [
  { metric: "avg", buckets: [{ type: "histogram", field: "tenant_id" }], kind: "bar" },
  { metric: "max", buckets: [{ type: "range", field: "tenant_id" }], kind: "stacked" },
  {
    metric: "cardinality",
    buckets: [
      { type: "date_histogram", field: "timestamp", interval: "week" },
      { type: "range", field: "tenant_id", ranges: "10, 50" },
    ],
    kind: "line",
  },
  {
    metric: "sum",
    buckets: [
      { type: "terms", field: "severity_text" },
      { type: "terms", field: "tenant_id", size: 3 },
    ],
    kind: "bar",
  },
];

test("every kind of bucket and chart is drawn", { skip }, async (t) => {
  for (const { metric, buckets, kind } of CHARTS) {
    const spec = { metric: { type: metric, field: "tenant_id" }, buckets, kind };
    const query = `?index=logs&view=chart&chart=${encodeURIComponent(JSON.stringify(spec))}`;
    const { page, errors } = await open(t, query);
    await page.waitForSelector(".chart svg");
    assert.ok((await page.locator(".chart svg rect, .chart svg path").count()) > 1, kind);
    assert.ok((await page.locator(".chart-numbers tbody tr").count()) > 1, kind);
    assert.deepEqual(errors, []);
    assert.deepEqual(await violations(page), []);
  }
});

test("the requests of a search are shown with their price", { skip }, async (t) => {
  // Words that no other test searches: what the server kept would not be read again.
  const { page } = await open(t, "?index=logs&q=body%3Ablock+AND+body%3Aterminating");
  await page.click(".status-cost");
  await page.waitForSelector("#timeline");
  const rows = await page.locator("#timeline .what").allTextContents();
  assert.ok(rows[0].startsWith("Wave 1"), rows.join());
  const price = await page.locator(".cost .data tbody tr").first().textContent();
  assert.match(price, /Amazon S3.*\$/);
  assert.match(await page.textContent(".split-list"), /4 searched/);
});

test("fields that no mapping names are known from the hits", { skip }, async (t) => {
  const { page, errors } = await open(t, "?index=events");
  assert.deepEqual(await page.locator(".column-name").allTextContents(), ["at", "level", "msg"]);
  await page.click('[data-field="items.sku"]');
  await page.getByRole("button", { name: "Only items.sku: s1" }).click();
  await settled(page, 12);
  await page.click('[data-field="odd name"]');
  await page.getByRole("button", { name: "Only odd name: x: y" }).click();
  await page.waitForFunction(() => location.search.includes("odd+name"));
  await settled(page, 12);
  await page.goto(page.url().replace(/\?.*/, "?index=events&view=chart"));
  await page.waitForSelector(".chart svg");
  assert.deepEqual(errors, []);
});
