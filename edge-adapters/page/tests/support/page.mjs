/*
 * The page in Chromium, with all that it complains of.
 *
 * CHROMIUM is another Chromium or Chrome. SCREENSHOTS=folder keeps pictures.
 */

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

import { chromium } from "playwright-core";

const program = process.env.CHROMIUM ?? "/usr/bin/chromium";
export const skip = existsSync(program)
  ? false
  : `there is no ${program}; set CHROMIUM to a Chromium or Chrome`;
if (skip) console.error(`skipped: ${skip}`);

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export function launch() {
  return chromium.launch({ executablePath: program, args: ARGUMENTS });
}

/** A page in a fresh profile. `errors` has what it threw, and what its policy refused. */
export async function openPage(t, browser, url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // An answer with an error status is one of the server's, and said on the page.
    const isAnswer = message.text().includes("Failed to load resource");
    if (message.type() === "error" && !isAnswer) errors.push(message.text());
  });
  t.after(() => context.close());
  await page.goto(url);
  return { page, context, errors };
}

/** Waits until a search is answered; `numHits` waits for that number of hits. */
export async function settled(page, numHits) {
  await page.waitForFunction((wanted) => {
    const shown = document.querySelector(".num-hits")?.textContent?.replace(/\D/g, "");
    const isBusy = document.querySelector(".app.busy") !== null;
    return !isBusy && shown !== undefined && (wanted === undefined || Number(shown) === wanted);
  }, numHits);
}

export async function numHits(page) {
  return Number((await page.textContent(".num-hits")).replace(/\D/g, ""));
}

/** The numbers of all bars of the histogram. */
export function bars(page) {
  return page.evaluate(() =>
    [...document.querySelectorAll(".bucket")].map((bar) =>
      Number(bar.getAttribute("aria-label").split(": ").at(-1).replaceAll(",", "")),
    ),
  );
}

export async function search(page, query) {
  await page.fill("#query", query);
  await page.press("#query", "Enter");
  await page.waitForFunction(
    (text) => new URLSearchParams(location.search).get("q") === text,
    query,
  );
  await settled(page);
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

/** What is not accessible, in words. */
export async function violations(page) {
  // The debugger's own way in: the page's policy lets no script in.
  await page.evaluate(axe);
  const found = await page.evaluate(
    async (tags) => (await globalThis.axe.run(document, { runOnly: tags })).violations,
    TAGS,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map(
      (node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary.replaceAll("\n", " ")}`,
    ),
  );
}

export async function picture(page, name) {
  if (!process.env.SCREENSHOTS) return;
  const path = join(process.env.SCREENSHOTS, `${name}.png`);
  // Not in the middle of a fade.
  await page.screenshot({ path, animations: "disabled" });
}
