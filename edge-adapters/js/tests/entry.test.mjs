/*
 * Checksums, entries of the cache, and the caches themselves: what was damaged or lost is a miss.
 */

import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import fc from "fast-check";

import { xxh32 } from "../dist/cache/checksum.js";
import { readEntry, writeEntry } from "../dist/cache/entry.js";
import { folderCache } from "../dist/cache/folder.js";
import { cacheApiCache, memoryCache, tieredCache } from "../dist/index.js";

test("the checksum is XXH32", () => {
  const check = (text, seed, expected) =>
    assert.equal(xxh32(Buffer.from(text), seed), expected, text);
  check("", 0, 0x02cc5d05);
  check("a", 0, 0x550d7456);
  check("abc", 0, 0x32d153ff);
  check("Nobody inspects the spammish repetition", 0, 0xe2293b2f);
});

const bytes = fc.uint8Array({ maxLength: 200 });

test("an entry is read as it was written, under its own key only", () => {
  fc.assert(
    fc.property(fc.string(), bytes, fc.nat(65_535), (key, payload, start) => {
      const entry = writeEntry(key, { start, payload });
      const held = readEntry(key, entry);
      assert.equal(held.start, start);
      assert.deepEqual([...held.payload], [...payload]);
      assert.equal(readEntry(`${key}x`, entry), undefined);
    }),
  );
});

test("a flipped bit or a lost byte makes an entry a miss", () => {
  fc.assert(
    fc.property(bytes, fc.nat(), fc.nat(7), (payload, place, bit) => {
      const entry = writeEntry("key", { start: 5, payload });
      const flipped = Uint8Array.from(entry);
      flipped[place % entry.length] ^= 1 << bit;
      assert.equal(readEntry("key", flipped), undefined);
      assert.equal(readEntry("key", entry.subarray(0, place % entry.length)), undefined);
    }),
  );
});

test("any bytes at all are an entry or a miss, and no exception", () => {
  fc.assert(fc.property(bytes, (bytes) => void readEntry("key", bytes)));
});

test("the memory cache keeps within its bytes what was used last", async () => {
  const cache = memoryCache(3000);
  const entry = new Uint8Array(700);
  for (const key of ["a", "b", "c"]) await cache.put(key, entry);
  assert.ok(await cache.get("a"));
  await cache.put("d", entry);
  assert.equal(await cache.get("b"), undefined);
  assert.ok((await cache.get("a")) && (await cache.get("c")) && (await cache.get("d")));
  await cache.put("large", new Uint8Array(4000));
  assert.equal(await cache.get("large"), undefined);
  assert.ok(await cache.get("d"));
});

test("what the slow cache has comes into the fast one", async () => {
  const [near, far] = [memoryCache(1e6), memoryCache(1e6)];
  await far.put("key", new Uint8Array([1]));
  assert.deepEqual(await tieredCache(near, far).get("key"), new Uint8Array([1]));
  assert.deepEqual(await near.get("key"), new Uint8Array([1]));
});

test("a folder keeps entries for the next process, within its bytes", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "canter-cache-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await folderCache(folder).put("logs/b/1", new Uint8Array([1, 2, 3]));
  assert.deepEqual(
    new Uint8Array(await folderCache(folder).get("logs/b/1")),
    new Uint8Array([1, 2, 3]),
  );
  assert.equal(await folderCache(folder).get("logs/b/2"), undefined);

  const small = folderCache(folder, { maxBytes: 10_000 });
  for (let key = 0; key < 40; key++) await small.put(`key ${key}`, new Uint8Array(1000));
  const deadline = Date.now() + 10_000;
  const numFiles = async () => {
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    return names.filter((name) => name.isFile()).length;
  };
  // Sweeping goes on behind.
  while ((await numFiles()) > 11 && Date.now() < deadline) {
    await small.put("one more", new Uint8Array(1000));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok((await numFiles()) <= 11);
});

test("a folder that cannot be written is a cache that keeps nothing", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "canter-cache-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "file"), "");
  const cache = folderCache(join(folder, "file"));
  await cache.put("key", new Uint8Array(1));
  assert.equal(await cache.get("key"), undefined);
});

test("the Cache API gets complete answers, and its failures are misses", async () => {
  const held = new Map();
  const cache = cacheApiCache({
    async match(url) {
      return held.get(url)?.clone();
    },
    async put(url, response) {
      assert.equal(response.status, 200);
      held.set(url, response);
    },
  });
  await cache.put("logs/a b/1", new Uint8Array([7]));
  assert.deepEqual(await cache.get("logs/a b/1"), new Uint8Array([7]));
  assert.ok([...held.keys()].every((url) => URL.canParse(url)));
  const broken = cacheApiCache({
    match: () => Promise.reject(new Error("no")),
    put: () => Promise.reject(new Error("full")),
  });
  await broken.put("key", new Uint8Array(1));
  assert.equal(await broken.get("key"), undefined);
});

test("the Cache API keeps within its entries however short the visits are", async () => {
  const held = new Map();
  const cache = {
    match: async (url) => held.get(url)?.clone(),
    put: async (url, response) => void held.set(url, response),
    keys: async () => [...held.keys()].map((url) => new Request(url)),
    delete: async ({ url }) => held.delete(url),
  };
  for (let visit = 0; visit < 50; visit++) {
    // Each begins to count anew.
    const entries = cacheApiCache(cache, { maxEntries: 20 });
    for (const key of ["a", "b"]) await entries.put(`${visit}/${key}`, new Uint8Array([visit]));
    assert.ok(held.size <= 21, `${held.size} entries after visit ${visit}`);
    assert.deepEqual(await entries.get(`${visit}/a`), new Uint8Array([visit]));
  }
});
