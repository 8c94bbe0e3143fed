/*
 * What servers refuse, leave out, or do not say: the page says so in words.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  bars,
  launch,
  numHits,
  openPage,
  picture,
  settled,
  skip,
  violations,
} from "./support/page.mjs";
import { canter, makeIndexes, serveIndexes } from "./support/server.mjs";

let indexes;
let browser;
before(async () => {
  if (skip) return;
  indexes = makeIndexes();
  browser = await launch();
});
after(async () => {
  await browser?.close();
  indexes?.remove();
});

async function serve(t, ...extra) {
  const server = await serveIndexes(indexes.folder, ["logs"], extra);
  t.after(() => server.stop());
  return server;
}

test("the page comes with its policy, and asks for nothing from elsewhere", { skip }, async (t) => {
  const server = await serve(t);
  const { headers } = await fetch(server.url);
  assert.match(headers.get("content-security-policy"), /default-src 'none'.*frame-ancestors/);
  const { page, errors } = await openPage(t, browser, "about:blank");
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(server.url);
  await settled(page);
  assert.ok(asked.length > 10);
  for (const url of asked) assert.equal(new URL(url).origin, new URL(server.url).origin);
  assert.deepEqual(errors, []);
});

test("a query that is wrong is said, and the last answer stays", { skip }, async (t) => {
  const server = await serve(t);
  const { page } = await openPage(t, browser, server.url);
  await settled(page);
  await page.fill("#query", "nofield:1");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#message");
  assert.match(
    await page.textContent("#message"),
    /“?"?nofield.*does not exist.*Correct the query/,
  );
  assert.ok((await page.locator(".hit").count()) > 0);
  await page.fill("#query", "");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#message", { state: "detached" });
});

test("an answer that is a part of one says so", { skip }, async (t) => {
  const server = await serve(t, "--max-requests", "2", "--no-cache");
  const url = `${server.url}?q=${encodeURIComponent("body:block")}`;
  const { page } = await openPage(t, browser, url);
  await page.waitForSelector(".notice.warning");
  const said = await page.textContent(".notice.warning");
  assert.match(said, /as many requests as it may.*split/);
  assert.match(await page.textContent(".status-line"), /in a part of the index/);
  assert.deepEqual(await violations(page), []);
});

for (const colorScheme of ["light", "dark"]) {
  test(`a token is asked for, sent, and kept in the tab (${colorScheme})`, { skip }, async (t) => {
    const file = join(indexes.folder, `keys-${colorScheme}.toml`);
    const printed = execFileSync(canter, ["key", "add", "--file", file, "--id", "me"], {
      encoding: "utf8",
    });
    const token = /me\.[\w-]+/.exec(printed)[0];
    const server = await serve(t, "--api-keys", file);
    const { page } = await openPage(t, browser, server.url, { colorScheme });
    await page.waitForSelector("#token");
    await picture(page, `token-${colorScheme}`);
    assert.deepEqual(await violations(page), []);
    await page.fill("#token", "me.wrong");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.querySelector("#token")?.value === "");
    await page.fill("#token", token);
    await page.keyboard.press("Enter");
    await settled(page, 5000);
    await page.reload();
    await settled(page, 5000);
    assert.equal(await page.evaluate(() => JSON.stringify(localStorage).includes("me.")), false);
  });
}

test("under a forced filter the cost is not known, and the rest works", { skip }, async (t) => {
  const server = await serve(t, "--forced-filter", "severity_text:WARN");
  const { page } = await openPage(t, browser, server.url);
  await settled(page);
  const found = await numHits(page);
  assert.ok(found > 0 && found < 5000);
  assert.equal(
    (await bars(page)).reduce((total, one) => total + one, 0),
    found,
  );
  await page.click(".status-cost");
  assert.match(await page.textContent(".cost"), /does not tell/);
});

test("a server that has gone is said, and asked again", { skip }, async (t) => {
  const server = await serve(t);
  const { page, context } = await openPage(t, browser, server.url);
  await settled(page);
  await context.setOffline(true);
  await page.keyboard.press("r");
  await page.waitForSelector("#message");
  assert.match(await page.textContent("#message"), /cannot be reached/);
  await context.setOffline(false);
  await page.getByRole("button", { name: "Try again" }).click();
  await page.waitForSelector("#message", { state: "detached" });
  await settled(page);
});

test("an index that is not there is named", { skip }, async (t) => {
  const server = await serve(t);
  const { page } = await openPage(t, browser, `${server.url}?index=none`);
  await page.waitForSelector("#message");
  assert.match(await page.textContent("#message"), /There is no index “none” here/);
});
