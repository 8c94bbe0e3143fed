/*
 * The Worker in workerd: answers, bodies, budgets of the plans, sub-requests, leaves, memory.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";

import { buildIndex, sampleDocuments } from "../../js/tests/support/index.mjs";
import { startStore } from "../../js/tests/support/store.mjs";
import { watchHeap } from "./support/heap.mjs";
import { startWorker } from "./support/worker.mjs";

const documents = sampleDocuments();
const withStatus = (status) => documents.filter((doc) => doc.status === status).length;
const BY_STATUS = { by_status: { terms: { field: "status", size: 20 } } };

let objects;
before(() => {
  objects = buildIndex(after);
  assert.equal(objects.size, 9, "a manifest and eight splits");
});

/** Starts a Worker that ends with the test. */
async function started(t, options = {}) {
  const worker = await startWorker({ objects, ...options });
  t.after(() => worker.stop());
  return worker;
}

test("searches are answered from R2, and again from the cache", async (t) => {
  const worker = await started(t);
  const { status, body } = await worker.search({ query: "status:500", max_hits: 5 });
  assert.equal(status, 200);
  assert.equal(body.num_hits, withStatus(500));
  assert.ok(body.hits.every((hit) => hit.status === 500));
  const again = await worker.search({ query: "status:500", max_hits: 5 });
  assert.deepEqual(again.body.hits, body.hits);

  const counted = await worker.search({ query: "*", max_hits: 0, aggs: BY_STATUS });
  const { buckets } = counted.body.aggregations.by_status;
  assert.equal(
    buckets.reduce((sum, bucket) => sum + bucket.doc_count, 0),
    documents.length,
  );
  for (const { key, doc_count } of buckets) assert.equal(doc_count, withStatus(key));
});

test("a cold term query takes at most 20 sub-requests, and a warm one at most 3", async (t) => {
  const cacheFolder = mkdtempSync(join(tmpdir(), "canter-worker-cache-"));
  t.after(() => rmSync(cacheFolder, { recursive: true, force: true }));
  const query = { query: "status:500", max_hits: 10 };
  // What is stored behind the answer counts as well: the Worker is allowed no more than these.
  const bindings = { BUDGET: { max_subrequests: 20 } };
  const first = await startWorker({ objects, bindings, cacheFolder });
  const cold = await first.search(query);
  const warm = await first.search(query);
  await first.stop();
  assert.equal(cold.body.budget_exhausted, null);
  assert.ok(cold.subrequests <= 20, `cold: ${cold.subrequests}`);
  assert.ok(warm.subrequests <= 3, `warm: ${warm.subrequests}`);
  assert.deepEqual(warm.body.hits, cold.body.hits);

  // An isolate that has nothing in memory, in a data centre whose cache has been filled.
  const second = await started(t, { cacheFolder });
  const again = await second.search(query);
  assert.ok(again.subrequests <= 3, `again: ${again.subrequests}`);
  assert.equal(again.requests, 1);
  assert.deepEqual(again.body.hits, cold.body.hits);
});

test("errors are the API's, with its status", async (t) => {
  const worker = await started(t);
  for (const [path, init, status, message] of [
    ["/api/v1/other/search?query=*", {}, 404, /other/],
    ["/api/v1/logs/search?query=nofield:1", {}, 400, /nofield/],
    ["/api/v1/logs/search?qery=1", {}, 400, /qery/],
    ["/api/v1/nothing", {}, 404, /./],
    ["/api/v1/logs/search", { method: "DELETE" }, 405, /./],
  ]) {
    const response = await worker.fetch(path, init);
    assert.equal(response.status, status, path);
    // Elasticsearch's API is at the root, and says it elsewhere.
    const { message: said, error } = await response.json();
    assert.match(said ?? error.reason, message);
  }
  assert.equal((await worker.fetch("/health/livez")).status, 200);
});

test("every route that writes elsewhere is refused: a Worker only searches", async (t) => {
  const table = new URL("../../../tests/golden/write_routes.txt", import.meta.url);
  const routes = readFileSync(table, "utf8").trimEnd().split("\n");
  assert.ok(routes.length > 40);
  const worker = await started(t);
  for (const line of routes) {
    const [method, path] = line.split(" ");
    const hasBody = method !== "GET" && method !== "HEAD";
    const headers = { "content-type": "application/json" };
    const response = await worker.fetch(path, hasBody ? { method, headers, body: "{}" } : { method });
    assert.ok([400, 404, 405].includes(response.status), `${line}: ${response.status}`);
    await response.arrayBuffer();
  }
});

test("bodies may be compressed, and are refused in the form of the API that was asked", async (t) => {
  const worker = await started(t);
  const post = (path, body, encoding) =>
    worker.fetch(path, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "content-encoding": encoding },
    });
  const query = JSON.stringify({ query: { term: { status: 500 } } });
  const found = await post("/logs/_count", gzipSync(query), "gzip");
  assert.equal((await found.json()).count, withStatus(500));
  // Somewhat more than may be.
  const spaces = " ".repeat(2 << 20);
  for (const [body, encoding, status] of [
    [gzipSync(spaces), "gzip", 413],
    [spaces, "identity", 413],
    [query, "gzip", 400],
    [query, "zstd", 415],
  ]) {
    const plain = await post("/api/v1/logs/search", body, encoding);
    assert.equal(plain.status, status);
    const { message } = await plain.json();
    assert.match(message, /body|bodies/);
    const elastic = await post("/logs/_search", body, encoding);
    assert.equal(elastic.headers.get("x-elastic-product"), "Elasticsearch");
    const answer = await elastic.json();
    assert.deepEqual([answer.status, answer.error.reason], [status, message]);
  }
});

test("clients of Elasticsearch are answered in their media type", async (t) => {
  const worker = await started(t);
  const own = "application/vnd.elasticsearch+json;compatible-with=8";
  for (const [path, status] of [
    ["/logs/_count", 200],
    ["/_sql", 400],
    ["/_alias", 400],
  ]) {
    const answer = await worker.fetch(path, { headers: { accept: own } });
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers.get("content-type"), own, path);
    assert.equal(answer.headers.get("x-elastic-product"), "Elasticsearch", path);
  }
  const listed = await worker.fetch("/_cat/indices", { headers: { accept: "application/json" } });
  assert.equal((await listed.json())[0].index, "logs");
  const headers = { accept: "application/vnd.elasticsearch+json; compatible-with=7" };
  const refused = await worker.fetch("/logs/_count", { headers });
  assert.equal(refused.status, 400);
  assert.equal((await refused.json()).error.type, "media_type_header_exception");
});

test("browsers of allowed origins may ask, and no others", async (t) => {
  const worker = await started(t);
  const ask = (origin, init = {}) =>
    worker.fetch("/api/v1/logs/search?query=*&max_hits=0", { ...init, headers: { origin } });
  const allowed = await ask("http://localhost:3000");
  assert.equal(allowed.headers.get("access-control-allow-origin"), "http://localhost:3000");
  assert.match(allowed.headers.get("access-control-expose-headers"), /x-canter-requests/);
  const preflight = await ask("https://app.example.com", { method: "OPTIONS" });
  assert.equal(preflight.status, 204);
  assert.match(
    preflight.headers.get("access-control-allow-headers"),
    /authorization, content-encoding/,
  );
  const other = await ask("https://evil.example.com");
  assert.equal(other.headers.get("access-control-allow-origin"), null);
});

test("a search that does not fit its budget answers in part and says so", async (t) => {
  const worker = await started(t, { bindings: { BUDGET: { max_requests: 1 }, CACHE: "off" } });
  const { status, body, requests } = await worker.search({ query: "status:500", max_hits: 5 });
  assert.equal(status, 200);
  assert.equal(body.budget_exhausted, "max_requests");
  assert.ok(body.skipped_splits.length > 0);
  assert.equal(requests, 1);
});

test("settings that cannot work are named in the answer", async (t) => {
  for (const [bindings, name] of [
    [{ INDEXES: {} }, "INDEXES"],
    [{ INDEXES: "{" }, "INDEXES"],
    [{ PLAN: "gold" }, "PLAN"],
    [{ BUDGET: { max_reqests: 1 } }, "max_reqests"],
  ]) {
    const worker = await startWorker({ objects: new Map(), bindings });
    const { status, body } = await worker.search({ query: "*" });
    await worker.stop();
    assert.equal(status, 500);
    assert.ok(body.message.includes(name), body.message);
  }
});

test("an index that is missing or damaged is a clear error", async (t) => {
  const missing = await startWorker({ objects: new Map() });
  assert.equal((await missing.search({ query: "*" })).status, 404);
  await missing.stop();
  const damaged = new Map(objects);
  damaged.set("manifest.canter", objects.get("manifest.canter").subarray(0, 500));
  const worker = await started(t, { objects: damaged });
  const { status, body } = await worker.search({ query: "*" });
  assert.equal(status, 500);
  assert.match(body.message, /manifest/);
});

test("a manifest above the limit is not read, from R2 or a web server", async (t) => {
  const numBytes = objects.get("manifest.canter").length;
  const store = await startStore(
    Object.fromEntries([...objects].map(([name, bytes]) => [`logs/${name}`, bytes])),
  );
  t.after(() => store.close());
  for (const place of [{}, { objects: undefined, urls: { logs: `${store.url}/logs` } }]) {
    const askWith = async (maxManifestBytes) => {
      const bindings = { LIMITS: { max_manifest_bytes: maxManifestBytes } };
      const worker = await started(t, { ...place, bindings });
      return worker.search({ query: "status:500", max_hits: 0 });
    };
    const { status, body } = await askWith(numBytes - 1);
    assert.equal(status, 400);
    // The store's refusal: the guest would name its own limit, and only after it has the bytes.
    assert.match(body.message, new RegExp(`manifest.canter.*the ${numBytes - 1} bytes a whole read`));
    assert.equal((await askWith(numBytes)).body.num_hits, withStatus(500));
  }
});

test("leaf searches have no URL", async (t) => {
  const worker = await started(t, { bindings: { MAX_LEAVES: 4 } });
  for (const path of ["/leaf", "/LeafSearch", "/internal/leaf", "/api/v1/_leaf"]) {
    const response = await worker.fetch(path, { method: "POST", body: "x" });
    assert.equal(response.status, 404, path);
  }
});

test("ten searches at once in one isolate are all right, and leave it room", async (t) => {
  const worker = await started(t, { bindings: { PLAN: "paid" } });
  const heap = await watchHeap(worker.worker);
  const statuses = [...new Set(documents.map((doc) => doc.status))];
  const statusOf = (ord) => statuses[ord % statuses.length];
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, ord) => {
      const aggs = { ...BY_STATUS, [`size_${ord}`]: { stats: { field: "size" } } };
      return worker.search({ query: `status:${statusOf(ord)}`, max_hits: 3, aggs });
    }),
  );
  const peakBytes = await heap.stop();
  for (const [ord, { status, body }] of answers.entries()) {
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.num_hits, withStatus(statusOf(ord)));
    assert.deepEqual([body.failed_splits, body.skipped_splits], [[], []]);
  }
  const guestBytes = Math.max(
    ...answers.map(({ headers }) => Number(headers.get("x-canter-memory"))),
  );
  assert.ok(guestBytes > 1_000_000, "the guest's memory is told");
  assert.ok(peakBytes > 1_000_000, "the heap is told");
  t.diagnostic(
    `JavaScript: ${(peakBytes / 1e6).toFixed(1)} MB, guest: ${(guestBytes / 1e6).toFixed(1)} MB`,
  );
  assert.ok(peakBytes + guestBytes < 128_000_000, `${peakBytes} + ${guestBytes} bytes`);
});
