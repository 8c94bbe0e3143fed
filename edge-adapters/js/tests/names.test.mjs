/*
 * What a hostile manifest could have a host ask for, and what the keys of a cache tell.
 */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import fc from "fast-check";

import { namespaceOf } from "../dist/cache/namespace.js";
import { sha256 } from "../dist/cache/sha256.js";
import { createNodeCanter, folderStore } from "../dist/entry/node.js";
import { createCanter, httpStore } from "../dist/index.js";
import { r2Store } from "../dist/store/r2.js";
import { run, scriptedGuest } from "./support/scripted-guest.mjs";
import { startStore } from "./support/store.mjs";

const HOSTILE = [
  "logs/splits/../../other/manifest.canter",
  "logs/../other/manifest.canter",
  "logs/splits/..",
  "logs/./manifest.canter",
  "logs//etc/passwd",
  "logs/splits/",
  "logs/splits\\..\\..\\other",
  "logs/a\u0000",
  "logs/a\r\nhost: b",
];

const ask = (fetchRange, object) =>
  fetchRange({ object, offset: 0, len: 4, signal: new AbortController().signal });

test("no store is asked for a name that leads out of the index", async (t) => {
  const server = await startStore({ "other/manifest.canter": Buffer.from("secret") });
  t.after(() => server.close());
  const folder = mkdtempSync(join(tmpdir(), "canter-names-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "logs/splits"), { recursive: true });
  mkdirSync(join(folder, "other"));
  writeFileSync(join(folder, "other/manifest.canter"), "secret");
  const keys = [];
  const bucket = { get: async (key) => (keys.push(key), null) };
  const stores = [
    httpStore({ indexes: { logs: `${server.url}/logs/?signature=5ec2e7` } }),
    folderStore({ logs: join(folder, "logs") }),
    r2Store(bucket, { logs: "tenants/logs" }),
  ];
  for (const object of HOSTILE) {
    for (const fetchRange of stores) {
      await assert.rejects(ask(fetchRange, object), { kind: "denied" }, object);
    }
  }
  assert.deepEqual([server.requests, keys], [[], []]);
});

test("nor is a store of one's own", async () => {
  const asked = [];
  const fetchRange = async (request) => (asked.push(request.object), { bytes: new Uint8Array(4) });
  const canter = createCanter({ indexes: ["logs"], guest: scriptedGuest(), fetchRange });
  const reads = HOSTILE.map((object) => ({ object, offset: 0, len: 4, class: "head" }));
  const { supplied } = await run(canter, { waves: [{ reads }] });
  assert.deepEqual(
    supplied.map(({ kind }) => kind),
    HOSTILE.map(() => "denied"),
  );
  assert.ok(supplied.every(({ message }) => /leads out of the index/.test(message)));
  assert.deepEqual(asked, []);
});

test("a missing file is not told with its path", async () => {
  const folder = "/no/such/place";
  await assert.rejects(ask(folderStore({ logs: folder }), "logs/manifest.canter"), (error) => {
    assert.equal(error.kind, "not-found");
    assert.doesNotMatch(error.message, /no\/such/);
    return true;
  });
});

test("the hash is SHA-256", () => {
  const expect = (text) => createHash("sha256").update(text).digest("hex");
  for (let len = 0; len < 200; len++) assert.equal(sha256("x".repeat(len)), expect("x".repeat(len)));
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => sha256(text) === expect(text)));
});

test("places that differ in anything have other keys, and no key tells a secret", () => {
  const places = [
    "https://h/logs",
    "https://h/logs/",
    "https://h/logs?tenant=a",
    "https://h/logs?tenant=b",
    "https://user:password@h/logs",
    "https://user:other@h/logs",
    "http://h/logs",
    "/srv/logs",
  ];
  const names = places.map((logs) => namespaceOf({ logs }));
  assert.equal(new Set(names).size, places.length);
  for (const name of names) assert.match(name, /^[0-9a-f]{64}$/);
  assert.equal(namespaceOf({ logs: "HTTPS://H:443/logs" }), namespaceOf({ logs: "https://h/logs" }));
  assert.equal(namespaceOf({ a: "x", b: "y" }), namespaceOf({ b: "y", a: "x" }));
  // Names and places cannot be shifted into one another.
  assert.notEqual(namespaceOf({ a: "x", b: "y" }), namespaceOf({ "a x\nb": "y" }));
  assert.notEqual(namespaceOf({ logs: new URL("https://h/a") }), namespaceOf({ logs: "https://h/b" }));
});

test("a cache is shared by those who read the same place, and by nobody else", async (t) => {
  const objects = { "logs/a": Buffer.from("of every tenant") };
  const server = await startStore(objects);
  t.after(() => server.close());
  const held = new Map();
  const cache = {
    get: async (key) => held.get(key),
    put: async (key, entry) => void held.set(key, entry),
  };
  const search = async (url) => {
    const canter = createNodeCanter({
      indexes: { logs: url },
      cache,
      guest: scriptedGuest(),
      waitUntil: undefined,
    });
    const read = { object: "logs/a", offset: 0, len: 8, class: "head" };
    return (await run(canter, { waves: [{ reads: [read] }] })).report.num_requests;
  };
  const base = `${server.url}/logs`;
  assert.equal(await search(`${base}?signature=5ec2e7`), 1);
  assert.equal(await search(`${base}?signature=5ec2e7`), 0);
  assert.equal(await search(`${base}?signature=07he12`), 1);
  assert.ok(held.size > 0);
  for (const key of held.keys()) assert.doesNotMatch(key, /5ec2e7|07he12|127\.0\.0\.1/);
});
