/*
 * The Worker in workerd: answers, who may ask, budgets of the plans, sub-requests, leaves, memory.
 */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { buildIndex, sampleDocuments } from "../../js/tests/support/index.mjs";
import { startStore } from "../../js/tests/support/store.mjs";
import { watchHeap } from "./support/heap.mjs";
import { startWorker } from "./support/worker.mjs";

const documents = sampleDocuments();
const withStatus = (status) => documents.filter((doc) => doc.status === status).length;
const SECRET = "a-token-that-nobody-shall-read";
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
    assert.match((await response.json()).message, message);
  }
  assert.equal((await worker.fetch("/health/livez")).status, 200);
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
  assert.match(preflight.headers.get("access-control-allow-headers"), /authorization/);
  const other = await ask("https://evil.example.com");
  assert.equal(other.headers.get("access-control-allow-origin"), null);
});

test("a token is asked for, and decides what is seen", async (t) => {
  const tokens = { "a-token-that-sees-all": "", "a-token-for-errors-only": "status:500" };
  const worker = await started(t, { bindings: { TOKENS: JSON.stringify(tokens) } });
  const search = (token) =>
    worker.search(
      { query: "*", max_hits: 0 },
      token ? { headers: { authorization: `Bearer ${token}` } } : {},
    );
  for (const wrong of [undefined, "a-token-that-sees-al", "a-token-that-sees-all-", "status:500"]) {
    const { status, body } = await search(wrong);
    assert.equal(status, 401);
    assert.match(body.message, /Bearer/);
  }
  assert.equal((await search("a-token-that-sees-all")).body.num_hits, documents.length);
  assert.equal((await search("a-token-for-errors-only")).body.num_hits, withStatus(500));
  assert.equal((await worker.fetch("/health/livez")).status, 200);
});

test("without a token there is a sign of life, and nothing else", async (t) => {
  const token = "a-token-that-sees-all";
  const worker = await started(t, { bindings: { TOKENS: JSON.stringify({ [token]: "" }) } });
  const alive = await worker.fetch("/health/livez");
  assert.equal(alive.status, 200);
  assert.equal(await alive.text(), "true");
  assert.deepEqual(
    ["requests", "bytes", "cache-hits"].map((name) => alive.headers.get(`x-canter-${name}`)),
    ["0", "0", "0"],
  );
  assert.equal(alive.headers.get("x-canter-subrequests"), null);
  for (const path of [
    "/health/readyz",
    "/health/",
    "/health/other",
    "/health//livez",
    "/health/livez/",
    "/health/livez/../readyz",
    "/health/%6civez",
    "/api/v1/indexes",
  ]) {
    const response = await worker.fetch(path);
    assert.equal(response.status, 401, path);
    assert.equal(response.headers.get("www-authenticate"), "Bearer");
    assert.doesNotMatch(await response.text(), /logs/);
  }
  const headers = { authorization: `Bearer ${token}` };
  const ready = await worker.fetch("/health/readyz", { headers });
  assert.equal(ready.status, 200);
  assert.notEqual(ready.headers.get("x-canter-requests"), "0");
});

test("a token may be good for some indexes only, and the others do not exist for it", async (t) => {
  const tokens = {
    "a-token-that-sees-all": "",
    "a-token-for-the-logs": { indexes: ["logs"] },
    "a-token-for-the-errors": { indexes: ["logs", "traces"], forced_filter: "status:500" },
    "a-token-for-the-traces": { indexes: ["traces"], forced_filter: "" },
  };
  // Nothing is stored under `traces`.
  const bindings = {
    INDEXES: { logs: "tenants/logs", traces: "tenants/traces", secret: "tenants/logs" },
    TOKENS: JSON.stringify(tokens),
  };
  const worker = await started(t, { bindings });
  const ask = async (token, path) => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await worker.fetch(path, { headers });
    return { status: response.status, text: await response.text() };
  };
  const search = (index) => `/api/v1/${index}/search?query=*&max_hits=0`;
  const numHits = ({ text }) => JSON.parse(text).num_hits;
  const all = "a-token-that-sees-all";
  const logs = "a-token-for-the-logs";
  assert.equal(numHits(await ask(logs, search("logs"))), documents.length);
  assert.equal(
    numHits(await ask("a-token-for-the-errors", search("logs"))),
    withStatus(500),
  );
  assert.equal(numHits(await ask(all, search("secret"))), documents.length);
  // What is not its own is answered as what is not there.
  const expected = await ask(logs, search("nowhere"));
  assert.equal(expected.status, 404);
  for (const index of ["secret", "traces"]) {
    const { status, text } = await ask(logs, search(index));
    assert.deepEqual([status, text], [404, expected.text.replaceAll("nowhere", index)]);
    assert.equal((await ask(logs, `/api/v1/indexes/${index}`)).status, 404);
  }
  assert.equal((await ask("a-token-for-the-traces", search("logs"))).status, 404);
  const listed = (token) =>
    ask(token, "/api/v1/indexes").then(({ text }) =>
      JSON.parse(text).map((index) => index.index_config.index_id),
    );
  assert.equal((await listed(all)).length, 2);
  assert.equal((await listed(logs)).length, 1);
  assert.deepEqual(await listed("a-token-for-the-traces"), []);
  // Ready is who can read what it may see.
  assert.equal((await ask(logs, "/health/readyz")).status, 200);
  assert.equal((await ask("a-token-for-the-traces", "/health/readyz")).status, 503);
  assert.equal((await ask(all, "/health/readyz")).status, 503);
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
    [{ TOKENS: '{"short":""}' }, "TOKENS"],
    [{ TOKENS: "{}" }, "TOKENS"],
    [{ TOKENS: { [SECRET]: 5 } }, "neither a filter"],
    [{ TOKENS: { [SECRET]: ["logs"] } }, "neither a filter"],
    [{ TOKENS: { [SECRET]: { indexes: ["lgos"] } } }, '"lgos"'],
    [{ TOKENS: { [SECRET]: { indexes: [] } } }, "no list of names"],
    [{ TOKENS: { [SECRET]: { indexes: "logs" } } }, "no list of names"],
    [{ TOKENS: { [SECRET]: { index: ["logs"] } } }, '"index"'],
    [{ TOKENS: { [SECRET]: { forced_filter: 7 } } }, "forced_filter"],
  ]) {
    const worker = await startWorker({ objects: new Map(), bindings });
    const { status, body } = await worker.search({ query: "*" });
    await worker.stop();
    assert.equal(status, 500);
    assert.ok(body.message.includes(name), body.message);
    // Whoever asks reads this.
    assert.ok(!body.message.includes(SECRET), body.message);
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
