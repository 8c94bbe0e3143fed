/*
 * The host against a real store on loopback: which bytes reach the guest, what is asked of the store, what
 * the budget allows, and what is left when something breaks.
 */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { CanterError, createCanter, httpStore, memoryCache } from "../dist/index.js";
import { digest, run, scriptedGuest } from "./support/scripted-guest.mjs";
import { someBytes, startStore, until } from "./support/store.mjs";

const KIB = 1024;
const OBJECT = someBytes(1_000_000);
const OTHER = someBytes(300_000, 2);

let store;
beforeEach(async () => {
  store = await startStore({ "logs/manifest.canter": OTHER, "logs/a": OBJECT, "logs/b": OTHER });
});
afterEach(() => store.close());

function canterOn(options = {}) {
  const fetchRange = httpStore({ indexes: { logs: `${store.url}/logs` } });
  const guest = options.guest ?? scriptedGuest();
  return createCanter({
    indexes: ["logs"],
    retry: { initialBackoffMs: 1 },
    fetchRange,
    ...options,
    guest,
  });
}

const read = (object, offset, len, byteClass) => ({
  object: `logs/${object}`,
  offset,
  len,
  class: byteClass,
});
const wave = (...reads) => ({ reads });
const manifest = { object: "logs/manifest.canter", class: "manifest" };
const part = (bytes, offset, len) => digest(bytes.subarray(offset, offset + len));

/** Lets everything go on that waits for nothing but its turn. */
async function turns() {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

test("every read of a wave gets its bytes, near ones in one request", async () => {
  const canter = canterOn();
  const script = {
    waves: [
      wave(read("a", 10, 100), read("a", 5000, 100), read("a", 900_000, 50), read("b", 0, 7)),
    ],
  };
  const { supplied, report } = await run(canter, script);
  assert.deepEqual(
    supplied.map((one) => one.digest),
    [part(OBJECT, 10, 100), part(OBJECT, 5000, 100), part(OBJECT, 900_000, 50), part(OTHER, 0, 7)],
  );
  assert.equal(report.num_requests, 3);
  assert.equal(report.num_waves, 1);
  const ranges = store.requests.map(({ range }) => range).sort();
  assert.deepEqual(ranges, ["bytes=0-6", "bytes=10-5099", "bytes=900000-900049"]);
  assert.ok(
    store.requests.every(
      ({ method, headers }) => method === "GET" && /^identity/.test(headers["accept-encoding"]),
    ),
  );
});

test("the manifest is read whole and without a range, and empty reads cost nothing", async () => {
  const { supplied, report } = await run(canterOn(), { waves: [wave(manifest, read("a", 5, 0))] });
  assert.deepEqual(
    supplied.map((one) => one.len),
    [OTHER.length, 0],
  );
  assert.equal(store.requests.length, 1);
  assert.equal(store.requests[0].range, undefined);
  assert.equal(report.num_bytes, OTHER.length);
});

test("what was read once comes from the cache, and its neighbours in the block too", async () => {
  const canter = canterOn({ cache: memoryCache(1e7) });
  await run(canter, { waves: [wave(read("a", 0, 10))] });
  await run(canter, { waves: [wave(read("a", 70_000, 10))] });
  const seen = store.requests.length;
  const { supplied, report } = await run(canter, {
    waves: [wave(read("a", 80_000, 100), read("a", 2, 4))],
  });
  assert.equal(store.requests.length, seen);
  assert.equal(report.num_cache_hits, 2);
  assert.equal(supplied[0].digest, part(OBJECT, 80_000, 100));
});

test("a read is found again under its own class, whatever it was fetched with", async () => {
  const canter = canterOn({ cache: memoryCache(1e7) });
  const waves = [
    wave(read("a", 0, 100, "head")),
    wave(read("a", 300_000, 90_000, "fast-field"), read("a", 270_000, 100, "postings")),
  ];
  await run(canter, { waves });
  const seen = store.requests.length;
  const { report } = await run(canter, { waves });
  assert.equal(store.requests.length, seen);
  assert.equal(report.num_cache_misses, 0);
});

test("a damaged entry is a miss, and is asked for again", async () => {
  const entries = new Map();
  const cache = {
    async get(key) {
      return entries.get(key);
    },
    async put(key, entry) {
      entries.set(key, entry);
    },
  };
  const canter = canterOn({ cache });
  const script = { waves: [wave(read("a", 0, 1000))] };
  await run(canter, script);
  for (const [key, entry] of entries) {
    const damaged = Uint8Array.from(entry);
    damaged[damaged.length - 1] ^= 1;
    entries.set(key, damaged);
  }
  const { supplied, report } = await run(canter, script);
  assert.equal(supplied[0].digest, part(OBJECT, 0, 1000));
  assert.ok(report.num_damaged_entries > 0);
  assert.equal(report.num_requests, 1);
  assert.equal((await run(canter, script)).report.num_requests, 0);
});

test("what the guest asks for twice is fetched twice: the first was no good", async () => {
  const canter = canterOn({ cache: memoryCache(1e7) });
  const { report } = await run(canter, { waves: [wave(read("a", 0, 10)), wave(read("a", 0, 10))] });
  assert.equal(report.num_requests, 2);
});

test("entries of the guest are kept and found", async () => {
  const canter = canterOn({ cache: memoryCache(1e7) });
  const stored = await run(canter, {
    waves: [{ lookups: ["answer"] }, { reads: [read("a", 0, 1)], stores: [["answer", "42"]] }],
  });
  assert.equal(stored.supplied[0].tag, "miss");
  const found = await run(canter, { waves: [{ lookups: ["answer"] }] });
  assert.equal(found.supplied[0].digest, digest(Buffer.from("42")));
});

test("a manifest that has not changed is not sent again, and a changed one is", async () => {
  const canter = canterOn({ cache: memoryCache(1e7) });
  const script = { waves: [wave(manifest)] };
  await run(canter, script);
  const again = await run(canter, script);
  assert.equal(store.requests[1].known, `"v${OTHER.length}"`);
  assert.equal(again.report.num_bytes, 0);
  assert.equal(again.supplied[0].digest, digest(OTHER));
  store.objects["logs/manifest.canter"] = OBJECT;
  assert.equal((await run(canter, script)).supplied[0].digest, digest(OBJECT));
});

test("a manifest is used without asking as long as it may be", async () => {
  const canter = canterOn({ cache: memoryCache(1e7), manifestTtlMs: 60_000 });
  await run(canter, { waves: [wave(manifest)] });
  const { report } = await run(canter, { waves: [wave(manifest)] });
  assert.equal(report.num_requests, 0);
  assert.equal(store.requests.length, 1);
});

test("without a network the manifest of before answers, and the report says how old it is", async () => {
  const cache = memoryCache(1e7);
  const script = { waves: [wave(manifest)] };
  await run(canterOn({ cache }), script);
  store.quirk = "busy";
  const { supplied, report } = await run(canterOn({ cache, usesStaleManifest: true }), script);
  assert.equal(supplied[0].digest, digest(OTHER));
  assert.ok(report.stale_manifest_ms >= 0);
  const strict = await run(canterOn({ cache }), script);
  assert.equal(strict.supplied[0].kind, "unavailable");
});

const limits = [
  ["maxRequests", 1, "max_requests"],
  ["maxBytes", 150, "max_bytes"],
  ["maxWaves", 1, "max_waves"],
];
for (const [name, value, said] of limits) {
  test(`a read beyond ${name} is refused, and the guest goes on`, async () => {
    const waves = [wave(read("a", 0, 100)), wave(read("b", 0, 100))];
    for (const [options, script] of [
      [{ budget: { [name]: value } }, { waves }],
      [{}, { waves, budget: { [name]: value } }],
    ]) {
      const { status, supplied, host } = await run(canterOn(options), script);
      assert.equal(status, 200);
      assert.deepEqual(
        supplied.map((one) => one.kind ?? one.tag),
        ["bytes", "budget"],
      );
      assert.match(supplied[1].message, new RegExp(said));
      assert.equal(host.budgetExhausted, said);
    }
  });
}

test("a request cannot raise the host's budget", async () => {
  const script = {
    waves: [wave(read("a", 0, 9)), wave(read("b", 0, 9))],
    budget: { maxRequests: 100 },
  };
  const { host } = await run(canterOn({ budget: { maxRequests: 1 } }), script);
  assert.equal(host.budgetExhausted, "max_requests");
});

test("where operations of a cache cost, they never take what reads need", async () => {
  let numOperations = 0;
  const slow = memoryCache(1e7);
  const cache = {
    costsRequests: true,
    get: (key) => (numOperations++, slow.get(key)),
    put: (key, entry) => (numOperations++, slow.put(key, entry)),
  };
  const canter = canterOn({ cache, budget: { maxSubrequests: 12 } });
  const waves = [
    wave(manifest),
    ...[0, 1, 2, 3, 4, 5].map((at) => wave(read("a", at * 140 * KIB, 100))),
  ];
  for (let search = 0; search < 3; search++) {
    numOperations = 0;
    store.requests.length = 0;
    const { supplied } = await run(canter, { waves });
    assert.ok(supplied.every((one) => one.tag === "bytes"));
    assert.ok(numOperations + store.requests.length <= 12);
  }
});

test("a failure that passes is asked again, two times and no more", async () => {
  store.quirk = "busy";
  store.quirkCount = 2;
  const { supplied, report } = await run(canterOn(), { waves: [wave(read("a", 0, 10))] });
  assert.equal(supplied[0].tag, "bytes");
  assert.equal(report.num_retries, 2);
  store.quirkCount = 3;
  const failed = await run(canterOn(), { waves: [wave(read("a", 0, 10))] });
  assert.equal(failed.supplied[0].kind, "unavailable");
});

test("a merged request past the end of the object does not take its other reads with it", async () => {
  const script = { waves: [wave(read("a", 999_000, 100), read("a", 999_950, 100))] };
  const { supplied } = await run(canterOn(), script);
  assert.equal(supplied[0].digest, part(OBJECT, 999_000, 100));
  assert.equal(supplied[1].kind, "truncated");
  assert.match(supplied[1].message, /past_the_end/);
});

test("an object that is replaced during a search is an error", async () => {
  store.quirk = "etagChanges";
  const { supplied } = await run(canterOn(), {
    waves: [wave(read("a", 0, 10)), wave(read("a", 500_000, 10))],
  });
  assert.match(supplied[1].message, /etag_changed/);
});

test("a manifest and a range of one wave are asked for at once", async () => {
  const release = store.hold();
  const searching = run(canterOn(), { waves: [wave(manifest, read("a", 10, 100))] });
  await until(() => store.requests.length === 2, "a request that waits for no other");
  release();
  const { supplied, report } = await searching;
  assert.deepEqual(
    supplied.map((one) => one.digest),
    [digest(OTHER), part(OBJECT, 10, 100)],
  );
  assert.equal(report.num_waves, 1);
});

test("ten searches at once ask for each range once, and no more than six requests are under way", async () => {
  const canter = canterOn({ cache: memoryCache(1e7) });
  store.delayMs = 20;
  const waves = [
    wave(manifest),
    wave(...Array.from({ length: 8 }, (_, at) => read("a", at * 120 * KIB, 64))),
  ];
  const options = { coalesce: { maxGapBytes: 0 } };
  const all = await Promise.all(
    Array.from({ length: 10 }, () => run(canterOn({ ...options }), { waves })),
  );
  assert.ok(all.every(({ supplied }) => supplied.every((one) => one.tag === "bytes")));
  store.requests.length = 0;
  store.maxAtOnce = 0;
  // A search that begins when the manifest has come already would ask whether it has changed.
  const release = store.hold();
  const searches = Array.from({ length: 10 }, () => run(canter, { waves }));
  await until(() => store.requests.length > 0, "the manifest's request");
  await turns();
  release();
  const shared = await Promise.all(searches);
  for (const { supplied } of shared) {
    assert.deepEqual(
      supplied.slice(1).map((one) => one.digest),
      Array.from({ length: 8 }, (_, at) => part(OBJECT, at * 120 * KIB, 64)),
    );
  }
  const asked = store.requests.map(({ path, range }) => `${path} ${range}`);
  assert.equal(new Set(asked).size, asked.length);
  assert.ok(store.maxAtOnce <= 6, `${store.maxAtOnce} at once`);
});

test("a search that is given up does not take the request of another with it", async () => {
  const canter = canterOn();
  const release = store.hold();
  const gone = new AbortController();
  const script = { waves: [wave(read("a", 0, 10))] };
  const first = run(canter, script, { signal: gone.signal });
  const second = run(canter, script);
  await until(() => store.requests.length > 0, "the request that both wait for");
  await turns();
  gone.abort();
  assert.equal((await first).status, 504);
  release();
  assert.equal((await second).supplied[0].tag, "bytes");
  assert.equal(store.requests.length, 1);
});

test("where searches may be ended without a word, the request of another is waited for in vain but once", async () => {
  const canter = canterOn({ isolatesSearches: true });
  store.quirk = "hangs";
  store.quirkCount = 1;
  const gone = new AbortController();
  const script = { waves: [wave(read("a", 0, 10))] };
  const ended = run(canter, script, { signal: gone.signal });
  await until(() => store.requests.length > 0, "the first request");
  assert.equal((await run(canter, script)).supplied[0].tag, "bytes");
  assert.equal(store.requests.length, 2);
  const third = run(canter, script);
  assert.equal((await third).report.num_shared_requests, 0);
  assert.equal((await third).supplied[0].tag, "bytes");
  gone.abort();
  assert.equal((await ended).status, 504);
});

test("reads are given up in time to answer with what has come", async () => {
  store.quirk = "hangs";
  const script = { waves: [wave(read("a", 0, 10))], budget: { deadlineMs: 200 } };
  const { status, supplied, host } = await run(canterOn(), script);
  assert.equal(status, 200);
  assert.equal(supplied[0].kind, "budget");
  assert.equal(host.timedOut, true);
});

test("a trap ends its search with an error, and the others run again on a fresh instance", async () => {
  const guest = scriptedGuest();
  const canter = canterOn({ guest, log: () => undefined });
  store.delayMs = 30;
  const good = { waves: [wave(read("a", 0, 10)), wave(read("b", 0, 10))] };
  const [bad, ...others] = await Promise.all([
    run(canter, { waves: [wave(read("a", 50, 10))], trapAt: 1 }),
    run(canter, good),
    run(canter, good),
  ]);
  assert.equal(bad.status, 500);
  assert.match(bad.message, /broke off/);
  for (const { status, supplied } of others) {
    assert.equal(status, 200);
    assert.ok(supplied.every((one) => one.tag === "bytes"));
  }
  assert.equal(guest.made, 2);
});

test("a guest that asks for nothing or without end is stopped", async () => {
  assert.match((await run(canterOn(), { waves: [{}, {}] })).message, /asks for nothing/);
  const waves = Array.from({ length: 1100 }, () => ({ lookups: ["x"] }));
  assert.equal((await run(canterOn(), { waves })).status, 400);
});

test("more searches than may run at once wait for their turn", async () => {
  const canter = canterOn({ maxSearches: 2 });
  store.delayMs = 5;
  const all = await Promise.all(
    Array.from({ length: 9 }, (_, at) => run(canter, { waves: [wave(read("a", at * 100, 10))] })),
  );
  assert.ok(all.every(({ status }) => status === 200));
  assert.ok(store.maxAtOnce <= 2);
});

test("a search that finds no room in time is answered then, and does not wait for more", async () => {
  const canter = canterOn({ maxSearches: 2 });
  store.quirk = "hangs";
  const gone = new AbortController();
  let numEnded = 0;
  const hanging = [0, 500_000].map(async (offset) => {
    const script = { waves: [wave(read("a", offset, 10))] };
    const { status } = await run(canter, script, { signal: gone.signal });
    numEnded += 1;
    return status;
  });
  await until(() => store.requests.length === 2, "the requests of both searches");
  const surplus = Array.from({ length: 5 }, () =>
    run(canter, { waves: [] }, { budget: { deadlineMs: 50 } }),
  );
  for (const { status, message } of await Promise.all(surplus)) {
    assert.equal(status, 503);
    assert.match(message, /2 searches run already/);
  }
  assert.equal(numEnded, 0);
  gone.abort();
  assert.deepEqual(await Promise.all(hanging), [504, 504]);
});

test("an answer that no guest makes is not kept by caches either", async () => {
  const guest = () => Promise.reject(new Error("no module"));
  const logged = [];
  const log = (what, error) => logged.push([what, error.message]);
  const response = await canterOn({ guest, log }).fetch(new Request("http://x/api/v1/indexes"));
  assert.equal(response.status, 500);
  // Why it cannot be started is for whoever runs it.
  assert.match((await response.json()).message, /cannot be started; the log/);
  assert.deepEqual(logged, [["the guest cannot be started", "no module"]]);
  assert.equal(response.headers.get("cache-control"), "no-store");
});

const DIVIDED = {
  waves: [wave(manifest)],
  leaves: [[wave(read("a", 0, 10))], [wave(read("b", 0, 10))]],
  rootWaves: [wave(read("a", 500_000, 10))],
};

test("a search is divided among other instances, and its leaves count as sub-requests", async () => {
  const elsewhere = canterOn();
  let numLeaves = 0;
  const runLeaf = (leaf, signal) => (numLeaves++, elsewhere.leaf(leaf, { signal }));
  const guest = scriptedGuest();
  const canter = canterOn({ guest, fanOut: { maxLeaves: 4, runLeaf } });
  const { status, supplied } = await run(canter, DIVIDED);
  assert.equal(status, 200);
  assert.equal(numLeaves, 2);
  const expected = [part(OBJECT, 0, 10), part(OTHER, 0, 10), part(OBJECT, 500_000, 10)];
  assert.deepEqual(new Set(supplied.map((one) => one.digest)), new Set(expected));
  const whole = await run(canter, { ...DIVIDED, waves: [] }, { dividesSearches: false });
  assert.deepEqual([whole.status, numLeaves], [200, 2]);
  for (const budget of [{ maxRequests: 5 }, { deadlineMs: 10_000 }]) {
    const budgeted = await run(canter, { ...DIVIDED, waves: [], budget });
    assert.deepEqual([budgeted.status, numLeaves], [200, 2]);
  }
  assert.equal(guest.numOpen, 0);
  const tight = canterOn({ fanOut: { maxLeaves: 4, runLeaf }, budget: { maxSubrequests: 2 } });
  assert.match((await run(tight, DIVIDED)).message, /2 sub-requests/);
});

test("a divided search ends at its deadline, even if a leaf hears of nothing", async () => {
  const runLeaf = () => new Promise(() => undefined);
  const canter = canterOn({ fanOut: { maxLeaves: 2, runLeaf }, budget: { deadlineMs: 100 } });
  assert.equal((await run(canter, DIVIDED)).status, 504);
});

test("a leaf that fails fails the search with its reason", async () => {
  const runLeaf = () => Promise.reject(new CanterError("unavailable", "the leaf is away"));
  const { status, message } = await run(canterOn({ fanOut: { maxLeaves: 2, runLeaf } }), DIVIDED);
  assert.deepEqual([status, message], [503, "the leaf is away"]);
});

test("settings reach the guest: indexes, limits, filters", async () => {
  const canter = canterOn({ forcedFilter: "a:1", limits: { max_hits: 5 } });
  const { settings } = await run(canter, { waves: [] }, { forcedFilter: "b:2" });
  const { now_ms: nowMs, ...others } = settings;
  assert.ok(Math.abs(nowMs - Date.now()) < 60_000, `${nowMs} is not the time`);
  assert.deepEqual(others, {
    indexes: ["logs"],
    limits: { max_hits: 5 },
    keeps_partial_results: false,
    forced_filter: ["a:1", "b:2"],
  });
});

test("a request and an answer of fetch keep their bytes, and say what they cost", async () => {
  const canter = canterOn({ maxBodyBytes: 1000 });
  const body = JSON.stringify({ waves: [wave(read("a", 0, 10))] });
  const response = await canter.fetch(new Request("http://x/api/v1/y?z=1", { method: "POST", body }));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("x-canter-requests"), "1");
  assert.equal(response.headers.get("x-canter-bytes"), "10");
  assert.equal((await response.json()).supplied[0].digest, part(OBJECT, 0, 10));
  const large = await canter.fetch(
    new Request("http://x/api/v1/y", { method: "POST", body: "x".repeat(2000) }),
  );
  assert.equal(large.status, 413);
  assert.match((await large.json()).message, /1000 bytes/);
});

test("options that cannot work are refused by name", () => {
  const fetchRange = httpStore({ indexes: {} });
  const guest = scriptedGuest();
  for (const [options, expected] of [
    [{ guest, fetchRange, indexes: [] }, /indexes is empty/],
    [{ guest, fetchRange, indexes: ["a/b"] }, /"a\/b" is no name/],
    [{ fetchRange, indexes: ["a"] }, /module or guest/],
    [{ guest, fetchRange, indexes: ["a"], threads: { max: 1 } }, /module or guest or threads/],
    [{ threads: { max: 0 }, fetchRange, indexes: ["a"] }, /threads.max is 0/],
    [{ guest, fetchRange, indexes: ["a"], connections: 0 }, /connections is 0/],
    [{ guest, fetchRange, indexes: ["a"], budget: { maxBytes: -1 } }, /maxBytes is -1/],
  ]) {
    assert.throws(() => createCanter(options), expected);
  }
});
