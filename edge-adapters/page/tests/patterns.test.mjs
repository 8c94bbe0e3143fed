/*
 * The patterns of messages: what the API counts, marked where it is new, and filtered by.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { settled, skip, violations } from "./support/page.mjs";
import { NUM_LOGS, parameter, suite, sum } from "./support/suite.mjs";
import { wordsOf } from "../src/results/patterns.js";

const { ask, open } = suite();

const AGGS = { patterns: { categorize_text: { field: "body", size: 100 } } };

/** Texts of the cells of each row. */
function rows(page) {
  return page
    .locator(".patterns tbody tr")
    .evaluateAll((all) =>
      all.map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll(",", ""))),
    );
}

test("patterns have the numbers of the API, and bars over time", { skip }, async (t) => {
  const { page, errors } = await open(t);
  await page.getByRole("tab", { name: "Patterns" }).click();
  await page.waitForSelector(".patterns tbody tr");
  const { aggregations } = await ask({ query: "*", max_hits: 0, aggs: AGGS });
  const expected = aggregations.patterns.buckets.map(({ doc_count, pattern }) => [
    String(doc_count),
    pattern.replaceAll(",", ""),
  ]);
  assert.ok(expected.length > 3);
  const shown = await rows(page);
  assert.deepEqual(
    shown.map(([num, , , pattern]) => [num, pattern]),
    expected,
  );
  assert.equal(sum(shown.map(([num]) => Number(num))), NUM_LOGS);
  assert.ok((await page.locator(".sparkline").first().locator("rect").count()) > 3);
  assert.equal(await parameter(page, "view"), "patterns");
  assert.deepEqual(errors, []);
  assert.deepEqual(await violations(page), []);
});

test("patterns without older documents are marked as new", { skip }, async (t) => {
  const { page } = await open(t, "?index=logs&view=patterns");
  await page.waitForSelector(".patterns tbody tr");
  assert.equal(await page.locator(".patterns .badge").count(), 0);
  // All documents are younger than the length of the longest choice.
  await page.selectOption("#patterns-since", "1y");
  await page.waitForSelector(".patterns .badge");
  const shown = await rows(page);
  assert.equal(await page.locator(".patterns .badge").count(), shown.length);
  assert.equal(await parameter(page, "new"), "1y");
  // Of each, some are older than the newest quarter of an hour.
  await page.selectOption("#patterns-since", "15m");
  await page.waitForSelector(".patterns .badge", { state: "detached" });
  assert.equal((await rows(page)).length, shown.length);
});

test("one pattern is filtered by its words", { skip }, async (t) => {
  const { page, errors } = await open(t, "?index=logs&view=patterns");
  await page.waitForSelector(".patterns tbody tr");
  const [num, , , pattern] = (await rows(page))[0];
  await page.locator(".patterns tbody tr").first().getByRole("button").click();
  await settled(page, Number(num));
  const chips = await page.locator(".chip-text").allTextContents();
  assert.ok(chips.length > 0 && chips.every((text) => text.includes("body:")), chips.join());
  await page.waitForFunction(
    () => document.querySelectorAll(".patterns tbody tr").length === 1,
  );
  assert.equal((await rows(page))[0][3], pattern);
  assert.deepEqual(errors, []);
});

test("an index without times has patterns without bars", { skip }, async (t) => {
  const { page, errors } = await open(t, "?index=cities&view=patterns");
  await page.waitForSelector(".patterns tbody tr");
  const [num, , pattern] = (await rows(page))[0];
  assert.deepEqual([num, pattern], ["299", "Town number <*>"]);
  assert.equal(await page.locator("#patterns-since:visible").count(), 0);
  assert.deepEqual(errors, []);
});

test("words of a pattern", () => {
  const pattern = "Received block <*> of size <*> from <*>";
  assert.deepEqual(wordsOf(pattern, true), ["Received block", "of size", "from"]);
  assert.deepEqual(wordsOf(pattern, false), ["Received", "block", "of", "size", "from"]);
  assert.deepEqual(wordsOf("<*> - <*>", true), []);
});
