/*
 * The package in Chromium, in a Web Worker: its caches over a reload of the page, an index on another origin,
 * and the faults of a store by the names that every host gives them.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

import { buildIndex, sampleDocuments } from "./support/index.mjs";
import { startStore } from "./support/store.mjs";

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
const skip = existsSync(program)
  ? false
  : `there is no ${program}; set CHROMIUM to a Chromium or Chrome`;
if (skip) console.error(`skipped: ${skip}`);

const numErrors = sampleDocuments().filter((doc) => doc.status === 500).length;
const QUERY = "query=status:500&max_hits=5";

let store;
let browser;
before(async () => {
  if (skip) return;
  const objects = buildIndex(after);
  store = await startStore(
    Object.fromEntries([...objects].map(([name, bytes]) => [`logs/${name}`, bytes])),
  );
  const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"];
  const args = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", ...quiet];
  browser = await chromium.launch({ executablePath: program, args });
});
after(async () => {
  await browser?.close();
  await store?.close();
});

/** Opens the host's page in a fresh profile. */
async function open(t, cache, suffix = "") {
  const script = fileURLToPath(new URL("../hosts/browser-host.mjs", import.meta.url));
  const place = `logs=${store.url}/logs`;
  const host = spawn(process.execPath, [script, "--index", place, "--cache", cache]);
  t.after(() => host.kill());
  const url = await new Promise((resolve, reject) => {
    host.stdout.on("data", (line) => resolve(/http\S+/.exec(line)[0]));
    host.on("exit", () => reject(new Error("the host ended")));
  });
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const load = async () => {
    await page.goto(url + suffix);
    await page.waitForFunction(() => document.getElementById("state").textContent !== "starting");
    assert.equal(await page.textContent("#state"), "ready");
  };
  const search = (query = QUERY) =>
    page.evaluate((query) => window.canterFetch("GET", "/api/v1/logs/search", query), query);
  await load();
  return { load, search };
}

for (const cache of ["cache-api", "opfs"]) {
  test(`what was read stays in ${cache} when the page is loaded again`, { skip }, async (t) => {
    const page = await open(t, cache);
    const first = await page.search();
    assert.equal(JSON.parse(first.body).num_hits, numErrors);
    assert.ok(first.report.num_requests > 1);
    // Storing goes on behind the answer, and nothing tells the page when it is done.
    let again;
    for (let look = 0; look < 50 && again?.report.num_bytes !== 0; look++) {
      await page.load();
      again = await page.search();
    }
    assert.equal(again.report.num_bytes, 0);
    assert.equal(again.report.num_requests, 1);
    assert.deepEqual(JSON.parse(again.body).hits, JSON.parse(first.body).hits);
  });
}

test("an index on another origin is read without a preflight", { skip }, async (t) => {
  const page = await open(t, "none", "/?direct");
  store.requests.length = 0;
  const { body } = await page.search();
  assert.equal(JSON.parse(body).num_hits, numErrors);
  assert.ok(store.requests.every(({ method }) => method === "GET"));
  assert.equal(JSON.parse((await page.search()).body).num_hits, numErrors);
});

test("an origin that does not allow it is unavailable", { skip }, async (t) => {
  const page = await open(t, "none", "/?direct");
  store.quirk = "noCors";
  const { status, body } = await page.search();
  store.quirk = undefined;
  assert.equal(status, 503);
  assert.match(JSON.parse(body).message, /manifest/);
});

for (const [quirk, name] of [
  ["rangeIgnored", "range_ignored"],
  ["cutBody", "short_body"],
  ["shifted", "wrong_content_range"],
  ["noContentRange", "wrong_content_range"],
]) {
  test(`${quirk} is ${name} in a browser, too`, { skip }, async (t) => {
    const page = await open(t, "none");
    store.quirk = quirk;
    const { body } = await page.search();
    store.quirk = undefined;
    assert.ok(body.includes(name), body);
  });
}
