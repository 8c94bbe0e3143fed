/*
 * Lets the conformance test send HTTP to a page: opens the page in Chromium, and passes each request on to its
 * `canterFetch`. Not a host itself; what answers is in the page.
 *
 * usage: chromium.mjs --modules FOLDER --page URL --program CHROMIUM
 *   --modules  the folder of package.json and node_modules with playwright-core
 */

import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";

const FLAGS = [
  // As root, Chromium's own sandbox does not start; what it opens here is a page of ours.
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const { values } = parseArgs({
  options: { modules: { type: "string" }, page: { type: "string" }, program: { type: "string" } },
});
const { chromium } = createRequire(join(values.modules, "package.json"))("playwright-core");

const browser = await chromium.launch({ executablePath: values.program, headless: true, args: FLAGS });
const page = await browser.newPage();
page.on("console", (message) => console.error(`console: ${message.text()}`));
page.on("pageerror", (error) => console.error(`error in the page: ${error.message}`));
await page.goto(values.page);
await page.waitForFunction(() => document.getElementById("state")?.textContent !== "starting");
const state = await page.textContent("#state");
if (state !== "ready") {
  console.error(`the page is not ready: ${state}`);
  await browser.close();
  process.exit(1);
}

const server = createServer(async (incoming, outgoing) => {
  try {
    const parts = [];
    for await (const part of incoming) parts.push(part);
    const [path, query = ""] = splitOnce(incoming.url, "?");
    const request = [incoming.method, path, query, Buffer.concat(parts).toString("utf8")];
    const answer = await page.evaluate((request) => window.canterFetch(...request), request);
    outgoing.writeHead(answer.status, answer.headers.flat());
    outgoing.end(answer.body);
  } catch (error) {
    console.error(`${incoming.url}: ${error.message}`);
    outgoing.destroy();
  }
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await browser.close();
    process.exit(0);
  });
}

function splitOnce(text, separator) {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}
