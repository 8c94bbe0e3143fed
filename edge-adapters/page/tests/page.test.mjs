/*
 * The page in use: searching and narrowing, by mouse, by finger and by keyboard; what is kept.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { bars, numHits, search, settled, skip } from "./support/page.mjs";
import { NUM_LOGS, parameter, suite, sum } from "./support/suite.mjs";

const { ask, open } = suite();

test("a search is counted, drawn, and stands in the URL", { skip }, async (t) => {
  const { page, errors } = await open(t);
  assert.equal(await numHits(page), NUM_LOGS);
  assert.equal(sum(await bars(page)), NUM_LOGS);
  await search(page, "severity_text:WARN");
  const { num_hits } = await ask({ query: "severity_text:WARN", max_hits: 0 });
  assert.equal(await numHits(page), num_hits);
  assert.equal(sum(await bars(page)), num_hits);
  await page.reload();
  await settled(page, num_hits);
  await page.goBack();
  await settled(page, NUM_LOGS);
  assert.equal(await page.inputValue("#query"), "");
  assert.match(await page.textContent(".status-cost"), /requests? in \d+ waves? · .* on S3/);
  assert.deepEqual(errors, []);
});

test("the histogram is brushed by mouse, by one click, and by keyboard", { skip }, async (t) => {
  const { page } = await open(t);
  const all = await bars(page);
  const middle = async (ord) => {
    const box = await page.locator(".bucket .hitbox").nth(ord).boundingBox();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  await page.mouse.move(...(await middle(3)));
  await page.mouse.down();
  await page.mouse.move(...(await middle(5)), { steps: 4 });
  assert.match(await page.textContent(".tip"), /events/);
  await page.mouse.up();
  await settled(page, sum(all.slice(3, 6)));
  await page.goBack();
  await settled(page, NUM_LOGS);
  await page.mouse.click(...(await middle(7)));
  await settled(page, all[7]);
  await page.click("#range");
  await settled(page, NUM_LOGS);

  await page.keyboard.press("h");
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  assert.equal(await page.locator('.bucket[aria-selected="true"]').count(), 2);
  await page.keyboard.press("Enter");
  await settled(page, all[1] + all[2]);
  await page.getByRole("button", { name: "Zoom out" }).click();
  await page.waitForFunction(
    (few) => Number(document.querySelector(".num-hits").textContent.replace(/\D/g, "")) > few,
    all[1] + all[2],
  );
});

test("a finger brushes the histogram", { skip }, async (t) => {
  const { page, context } = await open(t, "?index=logs", {
    viewport: { width: 390, height: 844 },
    hasTouch: true,
  });
  const all = await bars(page);
  const from = await page.locator(".bucket .hitbox").nth(4).boundingBox();
  const to = await page.locator(".bucket .hitbox").nth(8).boundingBox();
  const debug = await context.newCDPSession(page);
  const touch = (type, box) =>
    debug.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: box ? [{ x: box.x + box.width / 2, y: box.y + 60 }] : [],
    });
  await touch("touchStart", from);
  for (const part of [0.3, 0.6, 1])
    await touch("touchMove", { ...from, x: from.x + (to.x - from.x) * part });
  await touch("touchEnd");
  await settled(page, sum(all.slice(4, 9)));
});

test("fields and values are completed by keyboard", { skip }, async (t) => {
  const { page } = await open(t);
  await page.keyboard.press("/");
  await page.keyboard.type("sev");
  await page.waitForSelector(".suggestion");
  assert.equal(await page.getAttribute("#query", "aria-expanded"), "true");
  await page.keyboard.press("ArrowDown");
  const active = await page.getAttribute("#query", "aria-activedescendant");
  assert.equal(
    await page.locator(`[id="${active}"] .suggestion-label`).textContent(),
    "severity_text",
  );
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelectorAll(".suggestion").length === 3);
  await page.keyboard.type("er");
  await page.waitForFunction(() => document.querySelectorAll(".suggestion").length === 1);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  assert.equal(await page.inputValue("#query"), "severity_text:ERROR ");
  await page.keyboard.type("O");
  await page.waitForSelector(".suggestion");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".suggestions").isHidden(), true);
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await settled(page, (await ask({ query: "severity_text:ERROR", max_hits: 0 })).num_hits);

  await page.fill("#query", "");
  await page.type("#query", "tenant_id:9");
  await page.waitForSelector(".suggestion");
  const labels = await page.locator(".suggestion-label").allTextContents();
  assert.ok(labels.length > 1 && labels.every((label) => label.startsWith("9")), labels.join());
});

test("time is chosen: before the newest event, between moments, all", { skip }, async (t) => {
  const { page } = await open(t);
  await page.keyboard.press("t");
  await page.getByRole("button", { name: "Newest 7 days" }).click();
  await page.waitForFunction(() => location.search.includes("newest-7d"));
  await settled(page);
  const week = await numHits(page);
  assert.ok(week > 0 && week < NUM_LOGS);
  await page.click("#time");
  await page.fill("#time-from", "2016-04-20T00:00:00");
  await page.fill("#time-to", "2016-04-19T00:00:00");
  await page.getByRole("button", { name: "Apply" }).click();
  assert.match(await page.textContent(".time-form .field-error"), /later/);
  await page.fill("#time-to", "2016-04-21T12:00:00");
  await page.getByRole("button", { name: "Apply" }).click();
  const range = { start_timestamp: 1461110400, end_timestamp: 1461240000 };
  await settled(page, (await ask({ query: "*", max_hits: 0, ...range })).num_hits);
  assert.equal(await parameter(page, "from"), "2016-04-20T00:00:00Z");
  await page.click("#time");
  await page.getByRole("button", { name: "Last 15 minutes" }).click();
  await settled(page, 0);
  await page.getByRole("button", { name: "Search all time", exact: true }).click();
  await settled(page, NUM_LOGS);
});

test("top values filter, and filters are turned round and removed", { skip }, async (t) => {
  const { page } = await open(t);
  const warnings = (await ask({ query: "severity_text:WARN", max_hits: 0 })).num_hits;
  await page.click('[data-field="severity_text"]');
  await page.getByRole("button", { name: "Only severity_text: WARN" }).click();
  await settled(page, warnings);
  await page.locator(".chip-text").click();
  await settled(page, NUM_LOGS - warnings);
  assert.equal(await parameter(page, "not"), "severity_text:WARN");
  await page.getByRole("button", { name: /Remove the filter/ }).click();
  await settled(page, NUM_LOGS);
  // Of a field that is not fast, the values of the hits that are shown.
  await page.click('[data-field="resource.service"]');
  await page.waitForSelector(".values >> text=the field is not fast");
  await page.fill("#field-filter", "ten");
  assert.deepEqual(await page.locator(".field-text").allTextContents(), ["tenant_id"]);
});

test("columns are added, moved, sorted by and removed", { skip }, async (t) => {
  const { page } = await open(t);
  const heads = () => page.locator(".column-name").allTextContents();
  assert.deepEqual(await heads(), ["timestamp", "severity_text", "body"]);
  await page.click('[data-column="tenant_id"]');
  assert.deepEqual(await heads(), ["timestamp", "severity_text", "body", "tenant_id"]);
  await page.click("#column-3");
  await page.getByRole("button", { name: "Move left" }).click();
  assert.deepEqual(await heads(), ["timestamp", "severity_text", "tenant_id", "body"]);
  await page.click("#column-2");
  await page.getByRole("button", { name: "Sort ascending" }).click();
  await page.waitForFunction(
    () => document.querySelector("th.col-number")?.getAttribute("aria-sort") === "ascending",
  );
  await settled(page);
  assert.equal(await page.locator("#hits td.col-number").first().textContent(), "1");
  assert.equal(await parameter(page, "sort"), "-tenant_id");
  await page.click("#column-3");
  assert.equal(
    await page.getByRole("button", { name: "Sort ascending" }).last().isDisabled(),
    true,
  );
  await page.getByRole("button", { name: "Remove the column", exact: true }).last().click();
  assert.deepEqual(await heads(), ["timestamp", "severity_text", "tenant_id"]);
});

test("searches are saved under a name, as links", { skip }, async (t) => {
  const { page } = await open(t, "?index=logs&q=severity_text%3AERROR");
  const found = await numHits(page);
  await page.click("#saved");
  await page.fill("#saved-name", "Errors");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await search(page, "body:block");
  await page.reload();
  await settled(page);
  await page.click("#saved");
  await page.getByRole("link", { name: "Errors" }).click();
  await settled(page, found);
  assert.equal(await page.inputValue("#query"), "severity_text:ERROR");
  await page.click("#saved");
  await page.getByRole("button", { name: "Delete Errors" }).click();
  assert.match(await page.textContent(".saved-list"), /Nothing is saved/);
});

test("colours and the zone of times are chosen and kept", { skip }, async (t) => {
  const { page } = await open(t, "?index=logs", { timezoneId: "Asia/Kolkata" });
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const time = () => page.locator(".hit time").first().textContent();
  const [light, utc] = [await background(), await time()];
  await page.getByRole("button", { name: "Colours" }).click();
  await page.getByRole("button", { name: "Dark" }).click();
  assert.notEqual(await background(), light);
  await page.getByRole("button", { name: /Times in/ }).click();
  await page.getByRole("button", { name: /^Local/ }).click();
  await settled(page);
  await page.reload();
  await settled(page);
  assert.notEqual(await background(), light);
  const shift =
    Date.parse(`${await time()}Z`.replace(" ", "T")) - Date.parse(`${utc}Z`.replace(" ", "T"));
  assert.equal(shift, 5.5 * 3_600_000);
  assert.equal(sum(await bars(page)), NUM_LOGS);
});

test("single keys can be turned off", { skip }, async (t) => {
  const { page } = await open(t);
  await page.keyboard.press("3");
  assert.equal(await parameter(page, "view"), "chart");
  await page.keyboard.press("?");
  await page.uncheck("#has-keys");
  await page.keyboard.press("Escape");
  await page.keyboard.press("1");
  assert.equal(await parameter(page, "view"), "chart");
});

test("another index has its own fields, and none of the time", { skip }, async (t) => {
  const { page } = await open(t);
  await page.selectOption("#index", "cities");
  await settled(page, 300);
  assert.equal(await page.locator(".figure").isHidden(), true);
  assert.equal(await page.locator("#time").isHidden(), true);
  await page.click('[data-field="population"]');
  await page.waitForSelector(".values >> text=on average");
  await page.click('[data-field="capital"]');
  await page.getByRole("button", { name: "Only capital: true" }).click();
  await settled(page, 5);
  await page.goBack();
  await page.goBack();
  await settled(page, NUM_LOGS);
});
