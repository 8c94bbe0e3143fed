/*
 * The real guest over a real index, on Node: answers against a plain scan of the documents, searches side by
 * side, damage, faults of the store, and the host scripts.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { CanterError, createNodeCanter, guestSource, ownModule } from "../dist/entry/node.js";
import { buildIndex, sampleDocuments } from "./support/index.mjs";
import { startStore } from "./support/store.mjs";

const documents = sampleDocuments();
const statuses = [...new Set(documents.map((doc) => doc.status))].sort((a, b) => a - b);
const withStatus = (status) => documents.filter((doc) => doc.status === status).length;
const BY_STATUS = { by_status: { terms: { field: "status", size: 20 } } };

let store;
let objects;
before(async () => {
  objects = buildIndex(after);
  store = await startStore({});
  heal();
});
after(() => store?.close());

function heal() {
  for (const [name, bytes] of objects) store.objects[`logs/${name}`] = bytes;
  store.quirk = undefined;
}

function canterOn(options = {}) {
  return createNodeCanter({
    indexes: { logs: `${store.url}/logs` },
    retry: { initialBackoffMs: 1 },
    ...options,
  });
}

function folderFor(t) {
  const folder = mkdtempSync(join(tmpdir(), "canter-node-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("answers are those of a plain scan", async () => {
  const canter = canterOn();
  for (const status of statuses) {
    const { response } = await canter.search({ query: `status:${status}`, max_hits: 3 });
    assert.equal(response.num_hits, withStatus(status));
    assert.ok(response.hits.every((hit) => hit.status === status));
  }
  const { response } = await canter.search({ query: "*", max_hits: 0, aggs: BY_STATUS });
  const counts = response.aggregations.by_status.buckets.map(({ key, doc_count }) => [
    key,
    doc_count,
  ]);
  assert.deepEqual(
    counts.sort(([a], [b]) => a - b),
    statuses.map((status) => [status, withStatus(status)]),
  );
});

test("ten searches at once on one instance are all right", async () => {
  const canter = canterOn();
  store.delayMs = 5;
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, ord) => {
      const status = statuses[ord % statuses.length];
      return canter.search({ query: `status:${status}`, max_hits: 5, aggs: BY_STATUS });
    }),
  );
  store.delayMs = 0;
  for (const [ord, { response }] of answers.entries()) {
    const status = statuses[ord % statuses.length];
    assert.equal(response.num_hits, withStatus(status));
    assert.deepEqual(response.aggregations.by_status.buckets, [
      { doc_count: withStatus(status), key: status },
    ]);
    assert.deepEqual([response.failed_splits, response.skipped_splits], [[], []]);
  }
});

test("the same search again asks only whether the manifest has changed", async () => {
  const canter = canterOn();
  const first = await canter.search({ query: "status:500", max_hits: 5 });
  const second = await canter.search({ query: "status:500", max_hits: 5 });
  assert.deepEqual(second.response.hits, first.response.hits);
  assert.equal(second.report.num_requests, 1);
  assert.equal(second.report.num_bytes, 0);
});

test("a cache in a folder outlives the process, and damage in it changes no answer", async (t) => {
  const cache = folderFor(t);
  const query = { query: "status:500", max_hits: 5 };
  let stored = Promise.resolve();
  const first = await canterOn({ cache, waitUntil: (work) => (stored = work) }).search(query);
  await stored;
  assert.ok((await canterOn({ cache }).search(query)).report.num_cache_hits > 0);
  for (const entry of readdirSync(cache, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] ^= 0xff;
    writeFileSync(path, bytes);
  }
  const { response, report } = await canterOn({ cache }).search(query);
  assert.deepEqual(response.hits, first.response.hits);
  assert.ok(report.num_damaged_entries > 0);
});

test("a search with a filter that is forced sees nothing else", async () => {
  const canter = canterOn({ forcedFilter: "status:500" });
  const { response } = await canter.search({ query: "*", max_hits: 0 });
  assert.equal(response.num_hits, withStatus(500));
});

test("a filter that the guest refuses is the guest's own error, and disturbs no other search", async () => {
  const source = guestSource(ownModule);
  let numMade = 0;
  const canter = canterOn({ guest: () => (numMade++, source()), cache: "none" });
  store.delayMs = 20;
  store.requests.length = 0;
  const other = canter.search({ query: "status:500", max_hits: 5 });
  // In the middle of the other search.
  while (store.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  for (const forcedFilter of ['status:"500', "7"]) {
    await assert.rejects(canter.search({ query: "*" }, { forcedFilter }), (error) => {
      assert.deepEqual([error.kind, error.status], ["invalid", 400]);
      assert.match(error.message, /^forced_filter(: |, column )/);
      return true;
    });
  }
  const { response } = await other;
  store.delayMs = 0;
  assert.equal(response.num_hits, withStatus(500));
  assert.deepEqual([response.failed_splits, response.skipped_splits], [[], []]);
  assert.equal((await canter.search({ query: "status:500" })).response.num_hits, withStatus(500));
  assert.equal(numMade, 1);
});

test("the filter of a call cannot lift that of the host", async () => {
  const canter = canterOn({ forcedFilter: "status:500" });
  const count = async (query, forcedFilter) => {
    const { response } = await canter.search({ query, max_hits: 0 }, { forcedFilter });
    return response.num_hits;
  };
  assert.equal(await count("*", "status:[400 TO 599]"), withStatus(500));
  assert.equal(await count("*", "status:404"), 0);
  assert.equal(await count("*", "status:404 OR status:500"), withStatus(500));
  for (const forcedFilter of [
    "status:404) OR (status:404",
    "status:404) OR status:404 OR (status:404",
    "*) OR (*",
    '*") OR ("*',
    "status:404)",
    "(status:404",
    "status:404) OR (*",
    "status:404 OR 7",
    "",
  ]) {
    for (let time = 0; time < 2; time++) {
      await assert.rejects(count("*", forcedFilter), (error) => {
        assert.deepEqual([error.kind, error.status], ["invalid", 400], forcedFilter);
        assert.match(error.message, /^forced_filter(: |, column )/);
        return true;
      });
    }
  }
  // A word that begins with a slash is whole by itself, and would be an expression if another followed in one text.
  const slash = canterOn({ forcedFilter: "status:/x" });
  for (const forcedFilter of ["status:b/ OR status:*", "status:*"]) {
    const found = await slash.search({ query: "*", max_hits: 0 }, { forcedFilter }).catch((error) => {
      assert.equal(error.status, 400, forcedFilter);
      return { response: { num_hits: 0 } };
    });
    assert.equal(found.response.num_hits, 0, forcedFilter);
  }
  // Nor can a query, which the guest reads by itself.
  for (const query of ["*) OR (*", 'a") OR ("b', "status:404) OR (status:404", "*) //", "\\"]) {
    for (const forcedFilter of [undefined, "status:[400 TO 599]"]) {
      const found = await count(query, forcedFilter).catch((error) => {
        assert.equal(error.status, 400, query);
        return 0;
      });
      assert.equal(found, 0, query);
    }
  }
  assert.equal(await count("* OR status:404"), withStatus(500));
});

test("what is wrong with a request is said, with the API's status", async () => {
  const canter = canterOn();
  const check = async (request, kind, status, message) => {
    await assert.rejects(canter.search(request), (error) => {
      assert.ok(error instanceof CanterError);
      assert.deepEqual([error.kind, error.status], [kind, status]);
      assert.match(error.message, message);
      return true;
    });
  };
  await check({ query: "nofield:1" }, "invalid", 400, /nofield/);
  await check({ index: "other", query: "*" }, "not-found", 404, /other/);
  await check({ query: "*", max_hitz: 1 }, "invalid", 400, /max_hitz/);
});

test("faults of the store reach the caller by name", async () => {
  const sort = { query: "status:500", max_hits: 5 };
  for (const [quirk, name] of [
    ["rangeIgnored", "range_ignored"],
    ["cutBody", "short_body"],
    ["compressed", "content_encoded"],
  ]) {
    const canter = canterOn({ cache: "none" });
    store.quirk = quirk;
    const outcome = await canter.search(sort).then(
      ({ response }) => JSON.stringify([...response.failed_splits, ...response.skipped_splits]),
      (error) => error.message,
    );
    heal();
    assert.ok(outcome.includes(name), `${quirk}: ${outcome}`);
  }
});

test("flipped bytes of the index are found, and no wrong answer is made of them", async () => {
  for (const [name, bytes] of objects) {
    const damaged = Uint8Array.from(bytes);
    for (let at = 0; at < damaged.length; at += 97) damaged[at] ^= 0x55;
    store.objects[`logs/${name}`] = damaged;
  }
  await assert.rejects(canterOn({ cache: "none" }).search({ query: "status:500" }), {
    kind: "internal",
    status: 500,
  });
  store.objects["logs/manifest.canter"] = objects.get("manifest.canter");
  const { response } = await canterOn({ cache: "none" }).search({
    query: "status:500",
    max_hits: 5,
  });
  heal();
  assert.deepEqual(response.hits, []);
  assert.ok(response.failed_splits.length > 0);
});

test("the Node host serves the API, from URLs and folders", async (t) => {
  const script = fileURLToPath(new URL("../hosts/node-host.mjs", import.meta.url));
  const cache = folderFor(t);
  const host = spawn(process.execPath, [
    script,
    "--index",
    `logs=${store.url}/logs`,
    "--cache",
    cache,
  ]);
  t.after(() => host.kill());
  const url = await new Promise((resolve, reject) => {
    host.stdout.on("data", (line) => resolve(/http\S+/.exec(line)[0]));
    host.on("exit", () => reject(new Error("the host ended")));
  });
  const response = await fetch(`${url}/api/v1/logs/search?query=status:500&max_hits=0`);
  assert.equal((await response.json()).num_hits, withStatus(500));
  const posted = await fetch(`${url}/api/v1/logs/search`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query: "status:500", max_hits: 0 }),
  });
  assert.equal((await posted.json()).num_hits, withStatus(500));
  assert.equal(
    (await fetch(`${url}/api/v1/logs/search`, { method: "PUT", body: "x" })).status,
    405,
  );
  assert.equal((await fetch(`${url}/health/livez`)).status, 200);
});
