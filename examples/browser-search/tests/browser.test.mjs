/*
 * The page in Chromium, from a static host: search, read the histogram, lose the network, search again. What the
 * page does with answers is tested where it is, in edge-adapters/page.
 *
 * `SCREENSHOTS=folder` keeps pictures of it. The index is made by the command line (`CANTER`, or
 * `target/debug/canter`).
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { launch, skip } from "../../../edge-adapters/page/tests/support/page.mjs";
import { serve } from "../serve.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const canter =
  process.env.CANTER ??
  join(process.env.CARGO_TARGET_DIR ?? join(root, "../../target"), "debug/canter");

const NUM_DOCS = 20_000;

let folder;
let browser;
before(async () => {
  if (skip) return;
  assert.ok(
    existsSync(canter),
    `there is no ${canter}: run \`cargo xtask js test\`, or set CANTER`,
  );
  assert.ok(existsSync(join(root, "dist/app.js")), "run `npm run build` first");
  folder = mkdtempSync(join(tmpdir(), "canter-page-"));
  const size = ["--docs", String(NUM_DOCS), "--splits", "8"];
  execFileSync(canter, ["demo", ...size, "--dir", join(folder, "index")], { stdio: "ignore" });
  browser = await launch();
});
after(async () => {
  await browser?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** A page in a fresh profile, with all that it complains of. */
async function openPage(t, options = {}, files = join(root, "dist")) {
  const server = await serve({ page: files, index: join(folder, "index") });
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  t.after(async () => {
    await context.close();
    stop();
  });
  const url = `http://127.0.0.1:${server.address().port}/`;
  return { page, context, url, errors, stop };
}

/** Waits until a search is answered, and reads the page. */
async function read(page) {
  await page.waitForFunction(
    () => document.querySelector(".num-hits") && !document.querySelector(".app.busy"),
    undefined,
    { timeout: 60_000 },
  );
  return page.evaluate(() => ({
    numHits: Number(document.querySelector(".num-hits").textContent.replaceAll(",", "")),
    bars: [...document.querySelectorAll(".bucket")].map((bar) =>
      Number(bar.getAttribute("aria-label").split(": ").at(-1).replaceAll(",", "")),
    ),
    levels: [...document.querySelectorAll("#legend li")].map((item) => item.textContent),
    hits: [...document.querySelectorAll(".hit")].map((hit) => hit.textContent),
    cost: document.querySelector(".status-cost").textContent,
    offline: document.querySelector(".badge")?.textContent ?? null,
  }));
}

async function search(page, query) {
  await page.fill("#query", query);
  await page.press("#query", "Enter");
  await page.waitForFunction((text) => document.title.startsWith(text), query);
  return read(page);
}

const sum = (bars) => bars.reduce((total, bar) => total + bar, 0);

test("searches, draws, and answers again without a network", { skip }, async (t) => {
  const { page, context, url, errors, stop } = await openPage(t);
  await page.goto(url);
  const all = await read(page);
  assert.equal(all.numHits, NUM_DOCS);
  assert.equal(sum(all.bars), NUM_DOCS);
  assert.deepEqual(all.levels, ["ERROR", "WARN", "INFO"]);

  const warnings = await search(page, "severity_text:WARN");
  assert.ok(warnings.numHits > 0 && warnings.numHits < NUM_DOCS);
  assert.equal(sum(warnings.bars), warnings.numHits);
  assert.equal(warnings.hits.length, 50);
  assert.match(warnings.cost, /\d+ requests? in \d+ waves?/);
  await page.getByRole("tab", { name: "Requests" }).click();
  const requests = await page.locator("#timeline .what b").allTextContents();
  assert.ok(requests.includes("columns"), requests.join());

  // The service worker has the page's files by now, the cache the ranges.
  await page.evaluate(() => navigator.serviceWorker.ready);
  stop();
  await context.setOffline(true);
  await page.reload();
  const again = await read(page);
  assert.equal(again.numHits, warnings.numHits);
  assert.deepEqual(again.bars, warnings.bars);
  assert.deepEqual(again.hits, warnings.hits);
  assert.match(again.offline, /offline: the index as it was/);
  assert.deepEqual(errors, []);

  // What was never read is not there, and the page says so instead of guessing.
  await page.fill("#query", "body:block");
  await page.press("#query", "Enter");
  await page.waitForSelector(".notice");
  const said = await page.textContent(".status");
  assert.match(said, /part of the index|fetch|unavailable|bytes/i);
});

test("settings that were changed on the host are seen at the next visit", { skip }, async (t) => {
  const files = join(folder, "page");
  cpSync(join(root, "dist"), files, { recursive: true });
  const { page, context, url, stop } = await openPage(t, {}, files);
  await page.goto(url);
  await page.evaluate(() => navigator.serviceWorker.ready);
  const settings = JSON.parse(readFileSync(join(files, "settings.json"), "utf8"));
  writeFileSync(join(files, "settings.json"), JSON.stringify({ ...settings, title: "Others" }));
  await page.reload();
  await read(page);
  assert.ok(await page.evaluate(() => navigator.serviceWorker.controller !== null));
  assert.equal(await page.textContent("#title"), "Others");
  stop();
  await context.setOffline(true);
  await page.reload();
  await read(page);
  assert.equal(await page.textContent("#title"), "Others");
});

test("caches of other pages of the origin are left alone", { skip }, async (t) => {
  const { page, url } = await openPage(t);
  const others = ["page-0123", "/page-x/ page-0123", "/other/ page-0123", "canter"];
  // A file of the origin that brings no service worker along.
  await page.goto(`${url}icon.svg`);
  const openAll = async (names) => {
    for (const name of names) await caches.open(name);
  };
  await page.evaluate(openAll, [...others, "/ page-0123"]);
  await page.goto(url);
  await page.waitForFunction(async () => !(await caches.has("/ page-0123")));
  const names = await page.evaluate(() => caches.keys());
  for (const name of others) assert.ok(names.includes(name), name);
});

test("a bar narrows the search to its time, and back leads out again", { skip }, async (t) => {
  const { page, url, errors } = await openPage(t);
  await page.goto(url);
  const all = await read(page);
  const box = await page.locator(".bucket .hitbox").nth(3).boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForSelector("#range:not([hidden])");
  const narrowed = await read(page);
  assert.equal(narrowed.numHits, all.bars[3]);
  await page.goBack();
  await page.waitForSelector("#range", { state: "hidden" });
  assert.equal((await read(page)).numHits, all.numHits);
  assert.deepEqual(errors, []);
});

test("what is wrong with a query is said", { skip }, async (t) => {
  const { page, url } = await openPage(t);
  await page.goto(url);
  await read(page);
  await page.fill("#query", "nofield:1");
  await page.press("#query", "Enter");
  await page.waitForSelector("#message");
  assert.match(await page.textContent("#message"), /nofield/);
});

for (const [name, width, height] of [
  ["desktop", 1200, 900],
  ["phone", 390, 844],
]) {
  for (const colorScheme of ["light", "dark"]) {
    test(`fits ${name}, ${colorScheme}`, { skip }, async (t) => {
      const { page, url } = await openPage(t, { viewport: { width, height }, colorScheme });
      await page.goto(
        `${url}?q=${encodeURIComponent("severity_text:ERROR OR severity_text:WARN")}`,
      );
      await read(page);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${overflow} pixels too wide`);
      if (process.env.SCREENSHOTS) {
        await page.screenshot({
          path: join(process.env.SCREENSHOTS, `${name}-${colorScheme}.png`),
          fullPage: true,
          // Not in the middle of a fade.
          animations: "disabled",
        });
      }
    });
  }
}
