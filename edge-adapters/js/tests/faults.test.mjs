/*
 * Stores that misbehave, over real sockets: each fault by the name that every host gives it.
 */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createCanter, httpStore } from "../dist/index.js";
import { folderStore } from "../dist/entry/node.js";
import { checkAnswer } from "../dist/store/answer.js";
import { r2Store } from "../dist/store/r2.js";
import { digest, run, scriptedGuest } from "./support/scripted-guest.mjs";
import { someBytes, startStore } from "./support/store.mjs";

const OBJECT = someBytes(100_000);
let store;
let elsewhere;
before(async () => {
  store = await startStore({ "logs/a": OBJECT });
  elsewhere = await startStore({ "logs/a": OBJECT });
});
after(() => Promise.all([store.close(), elsewhere.close()]));

async function supplyUnder(
  quirk,
  { offset = 1000, len = 500, object = "logs/a", fetchRange } = {},
) {
  store.quirk = quirk;
  store.requests.length = 0;
  const canter = createCanter({
    indexes: ["logs"],
    guest: scriptedGuest(),
    retry: { initialBackoffMs: 1 },
    fetchRange:
      fetchRange ??
      httpStore({ indexes: { logs: `${store.url}/logs` }, maxWholeObjectBytes: 50_000 }),
  });
  const answer = await run(canter, { waves: [{ reads: [{ object, offset, len }] }] });
  assert.equal(answer.status, 200, answer.message);
  return answer.supplied[0];
}

const faults = [
  ["rangeIgnored", "protocol", "range_ignored", 1],
  ["shifted", "protocol", "wrong_content_range", 1],
  ["clipped", "protocol", "wrong_content_range", 1],
  ["noContentRange", "protocol", "wrong_content_range", 1],
  ["longBody", "protocol", "long_body", 1],
  ["compressed", "protocol", "content_encoded", 1],
  // A body that broke off is worth another try; if that fails too, nothing is wrong with the index.
  ["cutBody", "unavailable", "short_body", 3],
  ["shortChunks", "unavailable", "short_body", 3],
  ["redirectsForever", "protocol", "too_many_redirects", 6],
  ["forbidden", "denied", "the server answered 403", 1],
  ["busy", "unavailable", "the server answered 503", 3],
];
for (const [quirk, kind, name, numRequests] of faults) {
  test(`${quirk} is ${name}`, async () => {
    const supply = await supplyUnder(quirk);
    assert.equal(supply.kind, kind);
    assert.ok(supply.message.startsWith(`logs/a, bytes 1000-1499: ${name}`), supply.message);
    assert.equal(store.requests.length, numRequests);
  });
}

test("a redirect leads to the same host or nowhere", async () => {
  elsewhere.requests.length = 0;
  const supply = await supplyUnder({ redirectTo: elsewhere.url });
  assert.match(supply.message, /redirected_to_other_host/);
  assert.equal(elsewhere.requests.length, 0);
  store.objects["moved/logs/a"] = OBJECT;
  store.quirkCount = 1;
  assert.equal((await supplyUnder({ redirectTo: `${store.url}/moved` })).tag, "bytes");
  store.quirkCount = Infinity;
});

test("an object that ends before the range is past_the_end", async () => {
  for (const place of [{ offset: 99_900 }, { offset: 200_000 }]) {
    const supply = await supplyUnder(undefined, place);
    assert.equal(supply.kind, "truncated");
    assert.match(supply.message, /past_the_end/);
  }
});

test("what is missing is not-found, of a known index or not", async () => {
  for (const object of ["logs/b", "other/a"]) {
    assert.equal((await supplyUnder(undefined, { object })).kind, "not-found");
  }
});

test("a whole object is read up to the cap", async () => {
  const supply = await supplyUnder(undefined, { offset: 0, len: null });
  assert.equal(supply.kind, "budget");
  assert.match(supply.message, /50000 bytes/);
});

test("a whole object of R2 is read up to the cap, and its body not taken beyond", async () => {
  let numTaken = 0;
  const bucket = {
    get: async () => ({
      size: OBJECT.length,
      etag: "v1",
      httpEtag: '"v1"',
      arrayBuffer: async () => (numTaken++, Uint8Array.from(OBJECT).buffer),
    }),
  };
  const whole = (...options) =>
    supplyUnder(undefined, {
      offset: 0,
      len: null,
      fetchRange: r2Store(bucket, { logs: "" }, ...options),
    });
  const refused = await whole({ maxWholeObjectBytes: OBJECT.length - 1 });
  assert.equal(refused.kind, "budget");
  assert.match(refused.message, /99999 bytes/);
  assert.equal(numTaken, 0);
  for (const options of [[{ maxWholeObjectBytes: OBJECT.length }], []]) {
    assert.equal((await whole(...options)).digest, digest(OBJECT));
  }
});

test("a server that is not there is unavailable", async () => {
  const fetchRange = httpStore({ indexes: { logs: "http://127.0.0.1:9/logs" } });
  assert.equal((await supplyUnder(undefined, { fetchRange })).kind, "unavailable");
});

test("a store of the caller's that throws or brings too little fails its reads only", async () => {
  const thrown = await supplyUnder(undefined, {
    fetchRange: () => Promise.reject(new Error("oh")),
  });
  assert.equal(thrown.kind, "unavailable");
  assert.match(thrown.message, /oh/);
  const short = await supplyUnder(undefined, {
    fetchRange: async () => ({ bytes: new Uint8Array(3) }),
  });
  assert.equal(short.kind, "truncated");
});

test("the query string of a base URL goes with every request, and names are encoded", async () => {
  const fetchRange = httpStore({ indexes: { logs: `${store.url}/logs/?sig=a%2Fb` } });
  store.objects["logs/x y#z"] = OBJECT;
  assert.equal((await supplyUnder(undefined, { fetchRange, object: "logs/x y#z" })).tag, "bytes");
  assert.equal(store.requests[0].url, "/logs/x%20y%23z?sig=a%2Fb");
});

test("the head of an answer is judged as the runtime judges it", () => {
  const check = (asked, status, headers, expected) => {
    const request = { object: "a", signal: undefined, ...asked };
    let seen;
    try {
      seen = checkAnswer(request, status, new Headers(headers)).bodyLen;
    } catch (error) {
      seen = error.fault;
    }
    assert.equal(seen, expected, JSON.stringify([asked, status, headers]));
  };
  const [range, open, all] = [{ offset: 2, len: 3 }, { offset: 2 }, { offset: 0 }];
  const answered = (value) => ({ "content-range": value });
  check(range, 206, answered("bytes 2-4/10"), 3);
  check(range, 206, answered("Bytes 2-4/*"), 3);
  check(open, 206, answered("bytes 2-9/10"), 8);
  for (const wrong of [
    "bytes 3-5/10",
    "bytes 2-5/10",
    "bytes 2-3/10",
    "bytes 2-4/4",
    "bytes 4-2/10",
    "bytes 2-x/10",
    "bytes 2-4",
    "bytes */10",
    "lines 2-4/10",
    "bytes 2-18446744073709551615/*",
  ]) {
    check(range, 206, answered(wrong), "wrong_content_range");
  }
  check(range, 206, {}, "wrong_content_range");
  check(open, 206, answered("bytes 2-8/10"), "wrong_content_range");
  check(all, 206, answered("bytes 0-9/10"), "wrong_content_range");
  check(range, 206, answered("bytes 2-3/4"), "past_the_end");
  check(range, 206, answered("bytes 2-3/*"), "past_the_end");
  check(range, 416, answered("bytes */4"), "past_the_end");
  check(all, 200, { "content-length": "10" }, 10);
  check(all, 200, {}, undefined);
  check(range, 200, {}, "range_ignored");
  check(all, 200, { "content-encoding": "gzip" }, "content_encoded");
  check(range, 206, { "content-encoding": "identity, BR" }, "content_encoded");
  check(all, 200, { "content-encoding": "aws-chunked" }, undefined);
});

test("a folder answers as a store does", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "canter-store-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "a"), OBJECT);
  const fetchRange = folderStore({ logs: folder });
  const bytes = await supplyUnder(undefined, { fetchRange });
  assert.equal(bytes.digest, digest(OBJECT.subarray(1000, 1500)));
  assert.equal((await supplyUnder(undefined, { fetchRange, offset: 99_900 })).kind, "truncated");
  assert.equal((await supplyUnder(undefined, { fetchRange, object: "logs/b" })).kind, "not-found");
  assert.equal(
    (await supplyUnder(undefined, { fetchRange, object: "logs/../../etc/passwd" })).kind,
    "denied",
  );
  const signal = new AbortController().signal;
  const { etag } = await fetchRange({ object: "logs/a", offset: 0, signal });
  assert.equal(
    (await fetchRange({ object: "logs/a", offset: 0, signal, ifNoneMatch: etag })).isUnchanged,
    true,
  );
});
