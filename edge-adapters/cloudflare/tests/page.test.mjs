/*
 * The search page, as the Worker serves it: every file, with the headers that every host sends.
 */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { startWorker } from "./support/worker.mjs";

const page = fileURLToPath(new URL("../../page/", import.meta.url));
const lines = readFileSync(join(page, "headers.txt"), "utf8").split("\n");
const HEADERS = lines.filter((line) => line !== "" && !line.startsWith("#"));

let worker;
before(async () => {
  // Nobody is asked for a token.
  const key = readFileSync(
    new URL("../../../access/src/tests/table/keys.toml", import.meta.url),
    "utf8",
  );
  worker = await startWorker({ objects: new Map(), bindings: { API_KEYS: key } });
});
after(() => worker?.stop());

const ask = (path, init = {}) => worker.fetch(path, { redirect: "manual", ...init });

test("every file of the page comes with its policy and a tag", async () => {
  const root = join(page, "src");
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  assert.ok(files.length > 40);
  for (const file of files) {
    const name = file.slice(root.length + 1);
    const path = `/ui/${name === "index.html" ? "" : name}`;
    const response = await ask(path);
    assert.equal(response.status, 200, path);
    assert.equal(await response.text(), readFileSync(file, "utf8"), path);
    for (const line of HEADERS) {
      const [header] = line.split(": ", 1);
      assert.equal(`${header}: ${response.headers.get(header)}`, line, path);
    }
    const type = response.headers.get("content-type");
    assert.match(type, /^(text\/(html|javascript|css); charset=utf-8|image\/svg\+xml)$/, path);
    const known = { "if-none-match": response.headers.get("etag") };
    assert.equal((await ask(path, { headers: known })).status, 304, path);
  }
});

test("browsers are led to the page, and programs to the API", async () => {
  const leads = async (path, headers) => {
    const response = await ask(path, { headers });
    return new URL(response.headers.get("location") ?? "/nowhere", `http://x${path}`).pathname;
  };
  assert.equal(await leads("/", { accept: "text/html,*/*;q=0.8" }), "/ui/");
  assert.equal(await leads("/ui", {}), "/ui/");
  assert.equal((await ask("/", { headers: { accept: "application/json" } })).status, 401);
  assert.equal((await ask("/api/v1/indexes", { headers: { accept: "text/html" } })).status, 401);
  assert.equal((await ask("/ui/nothing.js")).status, 404);
  assert.equal((await ask("/ui/..%2f..%2fworker.js")).status, 404);
  assert.equal((await ask("/_headers")).status, 401, "no file of the page");
  assert.equal((await ask("/worker.js")).status, 401);
});
