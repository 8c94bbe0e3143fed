/*
 * Vectors out of a part of WordNet, an index of them made by the command line, and questions to the engine: the nearest are
 * those that a comparison with all vectors finds, and the page shows them in Chromium.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { createNodeCanter } from "canter-search/node";

import { launch, skip } from "../../../edge-adapters/page/tests/support/page.mjs";
import { serve } from "../../browser-search/serve.mjs";
import { make } from "../make.mjs";
import { Meanings, question } from "../page/meaning.js";

const NUM_DOCS = 12_000;
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "../../target");
const canter = process.env.CANTER ?? join(target, "debug/canter");

let folder;
let documents;
let meanings;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "canter-meaning-"));
  await make(join(folder, "data"), NUM_DOCS);
  const input = join(folder, "data/documents.ndjson");
  const config = ["--index-config", join(root, "canter.yaml")];
  const index = ["index", "ingest", "--index", join(folder, "index")];
  execFileSync(canter, [...index, ...config, "--input", input], { stdio: "ignore" });
  documents = readFileSync(input, "utf8").trim().split("\n").map(JSON.parse);
  const bytes = readFileSync(join(folder, "data/vectors.bin"));
  meanings = new Meanings(
    JSON.parse(readFileSync(join(folder, "data/words.json"), "utf8")),
    new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length),
  );
});
after(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const QUESTIONS = [
  "a large cat with spots",
  "taking what belongs to others",
  "a game with a ball",
  "water that moves",
  "to look at something closely",
];

/** Returns the glosses of the nearest documents, by comparing all. */
function nearest(vector, num) {
  const product = ({ meaning }) =>
    meaning === null ? -2 : meaning.reduce((sum, value, dim) => sum + value * vector[dim], 0);
  const ranked = documents.map((document) => [product(document), document.gloss]);
  return ranked.sort(([left], [right]) => right - left).slice(0, num).map(([, gloss]) => gloss);
}

test("the nearest in meaning are those that a comparison with all finds", async () => {
  const engine = createNodeCanter({ indexes: { words: join(folder, "index") }, cache: "memory" });
  const ask = async (body) => {
    const sent = new TextEncoder().encode(JSON.stringify(body));
    const request = { method: "POST", path: "/words/_search", query: "", body: sent };
    const { response } = await engine.handle(request);
    assert.equal(response.status, 200);
    return JSON.parse(new TextDecoder().decode(response.body)).hits.hits;
  };
  let numFound = 0;
  for (const text of QUESTIONS) {
    const vector = meanings.vectorOf(text);
    const found = (await ask(question(text, vector, "meaning", 10))).map((hit) => hit._source.gloss);
    const expected = new Set(nearest(vector, 10));
    numFound += found.filter((gloss) => expected.has(gloss)).length;
    // Words find what has them.
    const cut = (text) => text.toLowerCase().split(/[^a-z0-9]+/);
    const words = new Set(cut(text));
    for (const { _source } of await ask(question(text, vector, "words", 10))) {
      const own = cut(`${_source.words.join(" ")} ${_source.gloss}`);
      assert.ok(own.some((word) => words.has(word)), `${text}: ${_source.gloss}`);
    }
    assert.equal((await ask(question(text, vector, "both", 10))).length, 10);
  }
  assert.ok(numFound >= 9 * QUESTIONS.length, `${numFound} of ${10 * QUESTIONS.length}`);
  engine.close();
});

test("the page answers what is typed", { skip }, async (t) => {
  const page = join(folder, "page");
  cpSync(join(root, "dist"), page, { recursive: true });
  cpSync(join(folder, "data"), join(page, "data"), { recursive: true });
  const server = await serve({ page, index: join(folder, "index") });
  const browser = await launch();
  t.after(async () => {
    await browser.close();
    server.closeAllConnections();
    server.close();
  });
  const tab = await (await browser.newContext()).newPage();
  const errors = [];
  tab.on("pageerror", (error) => errors.push(error.message));
  await tab.goto(`http://127.0.0.1:${server.address().port}/`);
  await tab.waitForSelector("body[data-ready]", { timeout: 60_000 });
  await tab.fill("input[type=search]", QUESTIONS[0]);
  await tab.check("input[value=meaning]");
  await tab.waitForFunction(() => document.querySelectorAll("#hits li").length === 12, undefined, {
    timeout: 60_000,
  });
  const shown = await tab.locator("#hits li div").allTextContents();
  const expected = new Set(nearest(meanings.vectorOf(QUESTIONS[0]), 12));
  assert.ok(shown.filter((gloss) => expected.has(gloss)).length >= 10, shown.join("\n"));
  assert.match(await tab.textContent("#status"), /^\d+ requests, \d+ KB$/);
  if (process.env.SCREENSHOTS) await tab.screenshot({ path: join(process.env.SCREENSHOTS, "semantic.png") });
  assert.deepEqual(errors, []);
});
