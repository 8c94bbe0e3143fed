/*
 * The cases of waves that all hosts share (`waves/cases/cases.json`), through this one's executor: what a demand, a
 * cache and a store come to. `waves/cases/case.rs` says what the keys mean.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { BlockCache } from "../dist/cache/blocks.js";
import { memoryCache } from "../dist/cache/memory.js";
import { FetchFailure } from "../dist/errors.js";
import { Gate } from "../dist/io/gate.js";
import { newReport } from "../dist/io/report.js";
import { SessionIo } from "../dist/io/session-io.js";
import { SearchIo, SharedIo } from "../dist/io/shared.js";

const CASES = JSON.parse(readFileSync(new URL("../../../waves/cases/cases.json", import.meta.url)));

/** Longer than it takes to send all that a wave sends. */
const TURNS = 100;

const COUNTS = { numDamaged: 0 };
const always = () => true;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const classOf = (name) => name.replaceAll("_", "-");
const etagOf = (len) => `"v${len}"`;

const known = new Map();

/** The bytes of an object of `len`. */
function bytesOf(len) {
  if (!known.has(len)) {
    known.set(len, Uint8Array.from({ length: len }, (_, at) => at * 31 + Math.floor(at / 251) + len));
  }
  return known.get(len);
}

/** A manifest as the cache keeps it. */
function keptEntry({ age_ms, len, has_etag = true }) {
  const etag = new TextEncoder().encode(has_etag ? etagOf(len) : "");
  const entry = new Uint8Array(10 + etag.length + len);
  const head = new DataView(entry.buffer);
  head.setBigUint64(0, BigInt(Date.now() - age_ms), true);
  head.setUint16(8, etag.length, true);
  entry.set(etag, 10);
  entry.set(bytesOf(len), 10 + etag.length);
  return entry;
}

const putManifest = (cache, object, kept) => cache.putEntry(`${object}#kept`, keptEntry(kept));

async function manifestLen(cache, object) {
  const entry = await cache.getEntry(`${object}#kept`, always, COUNTS);
  const head = entry && new DataView(entry.buffer, entry.byteOffset, entry.length);
  return head && entry.length - 10 - head.getUint16(8, true);
}

/** A store that answers as a case says. */
function storeOf({ objects, faults = [], meanwhile = {}, settings = {} }, cache) {
  const store = { sent: [], numSent: 0, numUnderway: 0, atOnce: 0, unchanged: 0 };
  const numFaults = new Map();
  const answer = ({ object, offset, len, ifNoneMatch }) => {
    const numBefore = numFaults.get(object) ?? 0;
    numFaults.set(object, numBefore + 1);
    const fault = faults.find((fault) => fault.object === object && numBefore < fault.times)?.kind;
    const objectLen = objects[object];
    const failed = (kind) => FetchFailure.of(kind, object, { offset, len }, "no");
    if (objectLen === undefined) throw failed("not-found");
    if (fault === "unavailable" || fault === "denied") throw failed(fault);
    if (fault === "short_body") {
      throw FetchFailure.misbehaved(object, { offset, len }, "short_body", "a case");
    }
    const etag = etagOf(objectLen) + (fault === "new_versions" ? numBefore : "");
    if (ifNoneMatch === etag) {
      store.unchanged += 1;
      return { bytes: new Uint8Array(0), isUnchanged: true, etag };
    }
    const end = len === undefined ? objectLen : offset + len;
    if (end > objectLen) {
      throw FetchFailure.misbehaved(object, { offset, len }, "past_the_end", "a case");
    }
    return { bytes: bytesOf(objectLen).subarray(offset, end), etag, objectLen };
  };
  store.fetchRange = async (request) => {
    const { object, offset, len } = request;
    store.sent.push([object, offset, len === undefined ? null : offset + len]);
    store.numSent += 1;
    store.numUnderway += 1;
    store.atOnce = Math.max(store.atOnce, store.numUnderway);
    // All that is sent at once is under way before the first answer.
    const numTurns = settings.order === "reversed" ? 2 * TURNS - store.numSent : TURNS;
    for (let turn = 0; turn < numTurns; turn++) await undefined;
    if (object in meanwhile) {
      // Another host puts a manifest into the cache; time passes before and after.
      await pause(3);
      await putManifest(cache, object, meanwhile[object]);
      await pause(3);
    }
    store.numUnderway -= 1;
    return answer(request);
  };
  return store;
}

/** A cache with what the case says is in it. */
async function cacheOf({ objects, settings = {}, cached = [], manifests = {} }) {
  if (!settings.cache) return undefined;
  const cache = new BlockCache(memoryCache(64 << 20), "x");
  for (const [object, start, end, byteClass] of cached) {
    const bytes = bytesOf(objects[object]).subarray(start, end);
    const pieces = [{ offset: start, bytes }];
    await cache.put(object, { start, end }, classOf(byteClass), pieces, always);
  }
  for (const [object, kept] of Object.entries(manifests)) await putManifest(cache, object, kept);
  return cache;
}

function sharedOf({ settings = {} }, store, cache) {
  return new SharedIo(store.fetchRange, cache, {
    coalesce: {
      maxGapBytes: settings.max_gap_bytes ?? 128 << 10,
      maxRequestBytes: settings.max_request_bytes ?? 8 << 20,
      maxPartBytes: settings.max_part_bytes ?? 8 << 20,
    },
    retry: { maxRetries: settings.max_retries ?? 0, initialBackoffMs: 0 },
    connections: 64,
    manifestTtlMs: settings.manifest_ttl_ms ?? 0,
    usesStaleManifest: false,
    isolatesSearches: false,
  });
}

function begin(shared, budget = {}) {
  const { max_requests, max_bytes, max_waves } = budget;
  const gate = new Gate({ maxRequests: max_requests, maxBytes: max_bytes, maxWaves: max_waves });
  const started = performance.now();
  const until = started + 60_000;
  const { signal } = new AbortController();
  const io = new SearchIo(shared, gate, newReport(), started, until, until, signal);
  return { io, session: new SessionIo(io) };
}

/** The demand of a case, as the guest makes it. */
function demandOf({ lookups = [], reads = [], stores = [] }) {
  const byteClass = "partial-result";
  return {
    lookups: lookups.map((key, id) => ({ id: BigInt(id), key, class: byteClass })),
    reads: reads.map(([object, offset, len, name], ord) => ({
      id: BigInt(lookups.length + ord),
      object,
      offset: BigInt(offset),
      len: len === null ? undefined : BigInt(len),
      class: classOf(name),
    })),
    stores: stores.map(([key, text]) => ({
      key,
      bytes: new TextEncoder().encode(text),
      class: byteClass,
    })),
  };
}

/** A supply, as a case says it. */
function shown({ objects }, { lookups = [], reads = [] }, { id, outcome }) {
  if (outcome.tag === "miss") return "miss";
  if (outcome.tag === "failed") return outcome.val.kind.replaceAll("-", "_");
  if (Number(id) < lookups.length) return `=${new TextDecoder().decode(outcome.val)}`;
  const [object, offset, len] = reads[Number(id) - lookups.length];
  const end = len === null ? objects[object] : offset + len;
  const wanted = bytesOf(objects[object]).subarray(offset, end);
  assert.ok(Buffer.from(outcome.val).equals(wanted), `${object} ${offset}: other bytes`);
  return "ok";
}

const inOrder = (a, b) =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1] || (a[2] ?? Infinity) - (b[2] ?? Infinity);

async function check(one) {
  const cache = await cacheOf(one);
  const store = storeOf(one, cache);
  const shared = sharedOf(one, store, cache);
  const searches = new Map();
  for (const { demands, requests } of one.steps) {
    const answers = demands.map((asked) => {
      const search = asked.search ?? 0;
      if (!searches.has(search)) {
        searches.set(search, begin(shared, search === 0 ? one.budget : {}));
      }
      return searches.get(search).session.answer(demandOf(asked));
    });
    for (const [ord, supplies] of (await Promise.all(answers)).entries()) {
      const byId = [...supplies].sort((a, b) => Number(a.id - b.id));
      const found = byId.map((supply) => shown(one, demands[ord], supply));
      assert.deepEqual(found, demands[ord].supplies);
    }
    // What was kept by then is in the cache before the next step.
    for (const { io } of searches.values()) await io.settle();
    assert.deepEqual(store.sent.sort(inOrder), requests);
    store.sent = [];
  }
  await checkProfile(one, [...searches.values()], store, cache);
}

async function checkProfile({ profile }, searches, store, cache) {
  const { kept = {}, exhausted, at_once, unchanged, shared, ...costs } = profile;
  const sum = (count) => searches.reduce((all, { io }) => all + io.report[count], 0);
  assert.deepEqual(
    {
      waves: sum("num_waves"),
      bytes: sum("num_bytes"),
      hits: sum("num_cache_hits"),
      misses: sum("num_cache_misses"),
    },
    costs,
  );
  assert.equal(searches[0].io.gate.exhausted, exhausted);
  if (shared !== undefined) assert.equal(sum("num_shared_requests"), shared, "shared");
  if (at_once !== undefined) assert.equal(store.atOnce, at_once, "at once");
  if (unchanged !== undefined) assert.equal(store.unchanged, unchanged, "unchanged");
  for (const [object, len] of Object.entries(kept)) {
    assert.equal(await manifestLen(cache, object), len, `${object} in the cache`);
  }
}

test("there are cases enough, each with a name of its own", () => {
  assert.ok(CASES.length >= 60, `only ${CASES.length}`);
  assert.equal(new Set(CASES.map(({ name }) => name)).size, CASES.length);
});

for (const one of CASES) {
  if (one.hosts === undefined || one.hosts.includes("typescript")) {
    test(one.name, () => check(one));
  }
}
