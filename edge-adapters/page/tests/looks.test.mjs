/*
 * Each view at two widths, light and dark: it fits, and axe finds nothing. CI_FULL=1 shows it at
 * each width in both.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { picture, settled, skip, violations } from "./support/page.mjs";
import { suite } from "./support/suite.mjs";

const { visit } = suite();

const QUERY = `index=logs&q=${encodeURIComponent("body:block OR severity_text:ERROR")}`;
const chart = (spec) => `index=logs&view=chart&chart=${encodeURIComponent(JSON.stringify(spec))}`;
const count = { type: "count", field: "" };
const average = { type: "avg", field: "tenant_id" };
const time = { type: "date_histogram", field: "timestamp" };
const levels = { type: "terms", field: "severity_text", size: 5 };

/** Views: where they are, and what is done there. */
const VIEWS = {
  search: { at: `${QUERY}&is=severity_text%3AINFO&not=tenant_id%3A7` },
  values: {
    at: "index=logs",
    async open(page) {
      const narrow = (await page.viewportSize()).width < 960;
      if (narrow) await page.click(".fields-toggle");
      await page.click('[data-field="severity_text"]');
      await page.waitForSelector(".value");
    },
  },
  completion: {
    at: "index=logs",
    async open(page) {
      await page.fill("#query", "");
      await page.type("#query", "severity_text:");
      await page.waitForSelector(".suggestion");
      await page.press("#query", "ArrowDown");
    },
  },
  time: {
    at: "index=logs",
    open: (page) => page.click("#time"),
  },
  column: {
    at: "index=logs",
    async open(page) {
      await page.locator("#column-1").evaluate((button) => button.click());
    },
  },
  document: { at: `${QUERY}&doc=2`, open: (page) => page.waitForSelector(".drawer") },
  stacked: { at: chart({ metric: count, buckets: [time, levels], kind: "stacked" }), open: drawn },
  lines: { at: chart({ metric: average, buckets: [time, levels], kind: "line" }), open: drawn },
  bars: { at: chart({ metric: average, buckets: [levels], kind: "bar" }), open: drawn },
  numbers: {
    at: chart({ metric: count, buckets: [levels], kind: "table" }),
    open: (page) => page.waitForSelector(".data"),
  },
  patterns: {
    at: "index=logs&view=patterns&new=1y",
    open: (page) => page.waitForSelector(".patterns tbody tr"),
  },
  requests: { at: `${QUERY}&view=cost`, open: (page) => page.waitForSelector("#timeline") },
  keys: { at: "index=logs", open: (page) => page.keyboard.press("?") },
  saved: { at: "index=logs", open: (page) => page.click("#saved") },
  nothing: { at: "index=logs&q=nowhere&from=newest-1d&to=newest" },
  mistake: { at: "index=logs&q=nofield%3A1", isWrong: true },
  cities: { at: "index=cities&q=town" },
};

async function drawn(page) {
  await page.waitForSelector(".chart svg");
}

test("axe would find something", { skip }, async (t) => {
  const { page } = await visit(t, "?index=logs");
  await settled(page);
  await page.evaluate(() =>
    document.querySelector(".brand").append(document.createElement("input")),
  );
  assert.match((await violations(page)).join(), /label/);
});

const LOOKS = [
  [1440, 900, "light"],
  [390, 844, "dark"],
];
if (process.env.CI_FULL) LOOKS.push([1440, 900, "dark"], [390, 844, "light"]);

for (const [width, height, colorScheme] of LOOKS) {
  test(
    `every view fits and is accessible at ${width} pixels, ${colorScheme}`,
    { skip },
    async (t) => {
      for (const [name, { at, open, isWrong }] of Object.entries(VIEWS)) {
        await t.test(name, async (t) => {
          const options = { viewport: { width, height }, colorScheme, reducedMotion: "reduce" };
          const { page, errors } = await visit(t, `?${at}`, options);
          if (isWrong) await page.waitForSelector("#message");
          else await settled(page);
          await open?.(page);
          // Before pictures and axe bring styles of their own, which the policy refuses.
          assert.deepEqual(errors, []);
          await picture(page, `${name}-${width}-${colorScheme}`);
          const tooWide = await page.evaluate(
            () => document.documentElement.scrollWidth - innerWidth,
          );
          assert.ok(tooWide <= 0, `${tooWide} pixels too wide`);
          assert.deepEqual(await violations(page), []);
        });
      }
    },
  );
}
