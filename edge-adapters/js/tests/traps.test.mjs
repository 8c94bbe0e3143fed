/*
 * A trap in the guest: whoever caused it is told no details, whoever shared the instance is answered as if
 * nothing had happened, and the log has what happened.
 */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { CanterError, createCanter, httpStore, memoryCache } from "../dist/index.js";
import { createNodeCanter, guestSource, ownModule } from "../dist/entry/node.js";
import { LocalInstance } from "../dist/guest.js";
import { buildIndex, sampleDocuments } from "./support/index.mjs";
import { digest, run, scriptedGuest } from "./support/scripted-guest.mjs";
import { someBytes, startStore } from "./support/store.mjs";

const OBJECT = someBytes(1_000_000);

let store;
let logged;
beforeEach(async () => {
  store = await startStore({ "logs/a": OBJECT });
  logged = [];
});
afterEach(() => store.close());

function canterOn(options = {}) {
  return createCanter({
    indexes: ["logs"],
    retry: { initialBackoffMs: 1 },
    fetchRange: httpStore({ indexes: { logs: `${store.url}/logs` } }),
    log: (what, error) => logged.push({ what, error }),
    ...options,
    guest: options.guest ?? scriptedGuest(),
  });
}

const wave = (...offsets) => ({
  reads: offsets.map((offset) => ({ object: "logs/a", offset, len: 10, class: "postings" })),
});
const part = (offset) => digest(OBJECT.subarray(offset, offset + 10));
const BAD = { waves: [wave(900_000)], trapAt: 1 };

test("who caused a trap is told no details, and the log has them", async () => {
  const canter = canterOn();
  for (const script of [{ ...BAD, trapAt: 0 }, BAD]) {
    logged.length = 0;
    const { status, message } = await run(canter, script);
    assert.equal(status, 500);
    assert.match(message, /broke off/);
    assert.doesNotMatch(message, /unreachable|wasm|\.m?js|\bat /);
    assert.equal(logged.length, 1);
    assert.match(logged[0].what, /trapped while stepping/);
    assert.ok(logged[0].error instanceof WebAssembly.RuntimeError);
    assert.match(logged[0].error.stack, /unreachable/);
  }
  const leaf = new TextEncoder().encode(JSON.stringify(null));
  await assert.rejects(canter.leaf(leaf), (error) => {
    assert.ok(error instanceof CanterError);
    assert.equal(error.kind, "internal");
    assert.doesNotMatch(error.message, /null|undefined|read properties/);
    return true;
  });
});

test("however many searches trap, all others are answered", async () => {
  const guest = scriptedGuest();
  const canter = canterOn({ guest });
  store.delayMs = 20;
  const bad = Array.from({ length: 6 }, () => run(canter, BAD));
  const good = Array.from({ length: 6 }, (_, ord) =>
    run(canter, { waves: [wave(ord * 100), wave(500_000 + ord * 100)] }),
  );
  for (const { status } of await Promise.all(bad)) assert.equal(status, 500);
  for (const [ord, { status, supplied, message }] of (await Promise.all(good)).entries()) {
    assert.equal(status, 200, message);
    assert.deepEqual(
      supplied.map((one) => one.digest),
      [part(ord * 100), part(500_000 + ord * 100)],
    );
  }
  assert.equal(logged.length, 6);
  // What a search has left open is lost with its instance; all others have been closed.
  const numMade = guest.made;
  assert.ok(numMade <= 2 + 12, `${numMade} instances`);
  assert.equal((await run(canter, { waves: [wave(0)] })).status, 200);
  assert.ok(guest.made <= numMade + 1);
});

test("a search that is run again has its budget anew, and says what it has cost in all", async () => {
  const canter = canterOn({ retry: { maxRetries: 0 } });
  const good = { waves: [wave(100_000), wave(200_000)], budget: { maxRequests: 2, maxWaves: 2 } };
  store.delayMs = 30;
  const first = run(canter, good);
  while (store.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  // In the middle of the first.
  const second = await run(canter, { waves: [], trapAt: 0 });
  const { status, supplied, host, report } = await first;
  assert.deepEqual([second.status, status], [500, 200]);
  assert.deepEqual(
    supplied.map((one) => one.digest),
    [part(100_000), part(200_000)],
  );
  assert.equal(host.budgetExhausted, null);
  assert.equal(report.num_requests, 3);
  assert.equal(report.num_requests, store.requests.length);
  assert.equal(report.num_waves, 3);
});

test("what a platform allows a search it has once, however often it is run", async () => {
  const canter = canterOn({ budget: { maxSubrequests: 2 }, retry: { maxRetries: 0 } });
  store.delayMs = 30;
  const first = run(canter, { waves: [wave(100_000), wave(200_000)] });
  while (store.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  await run(canter, { waves: [], trapAt: 0 });
  const { supplied, report } = await first;
  assert.deepEqual(
    supplied.map((one) => one.kind ?? one.tag),
    ["bytes", "budget"],
  );
  assert.equal(store.requests.length, 2);
  assert.equal(report.num_subrequests, 2);
});

test("a trap at the end of a session costs the instance and not the answer", async () => {
  const guest = scriptedGuest();
  const canter = canterOn({ guest });
  const script = { waves: [wave(0)], trapsWhenClosed: true };
  for (let number = 1; number <= 2; number++) {
    const { status, supplied } = await run(canter, script);
    assert.equal(status, 200);
    assert.equal(supplied[0].digest, part(0));
    assert.equal(guest.made, number);
    assert.match(logged[number - 1].what, /closing a session/);
  }
});

test("an error of the host itself is no caller's either", async () => {
  const cache = { get: () => Promise.reject(new Error("/etc/secret")), put: async () => undefined };
  const { status, message } = await run(canterOn({ cache }), { waves: [wave(0)] });
  assert.equal(status, 500);
  assert.match(message, /the log of this host says why/);
  assert.equal(logged[0].error.message, "/etc/secret");
});

/** The real guest, of which a request with `poison` in it destroys the memory. */
function poisonedGuest() {
  const source = guestSource(ownModule);
  let numMade = 0;
  const made = async () => {
    numMade += 1;
    const { guest, memory, abandon } = await source();
    const Session = {
      ...guest.Session,
      http(request, settings, maxLeaves) {
        const session = guest.Session.http(request, settings, maxLeaves);
        if (!request.query.includes("poison")) return session;
        const step = session.step.bind(session);
        session.step = (supplies, report) => {
          new Uint8Array(memory.buffer).fill(0xff);
          return step(supplies, report);
        };
        return session;
      },
    };
    return { guest: { Session, version: guest.version }, memory, abandon };
  };
  return { made, numMade: () => numMade };
}

test("the real guest traps, and its searches run again", async (t) => {
  const objects = buildIndex((end) => t.after(end));
  for (const [name, bytes] of objects) store.objects[`logs/${name}`] = bytes;
  const { made, numMade } = poisonedGuest();
  const canter = createNodeCanter({
    indexes: { logs: `${store.url}/logs` },
    guest: made,
    cache: memoryCache(1e7),
    log: (what, error) => logged.push({ what, error }),
  });
  const ask = async (query) => {
    const path = "/api/v1/logs/search";
    const request = { method: "GET", path, query, body: new Uint8Array() };
    const { response } = await canter.handle(request);
    return { status: response.status, ...JSON.parse(new TextDecoder().decode(response.body)) };
  };
  const numErrors = sampleDocuments().filter((doc) => doc.status === 500).length;
  store.delayMs = 10;
  for (let round = 1; round <= 3; round++) {
    const good = Array.from({ length: 4 }, () => ask("query=status:500&max_hits=0"));
    const bad = await ask("query=poison");
    assert.equal(bad.status, 500);
    assert.match(bad.message, /^the search broke off inside the engine/);
    assert.ok(logged.at(-1).error instanceof WebAssembly.RuntimeError, String(logged.at(-1).error));
    for (const { status, num_hits, message } of await Promise.all(good)) {
      assert.equal(status, 200, message);
      assert.equal(num_hits, numErrors);
    }
  }
  assert.ok(numMade() >= 4);
});

test("sessions that a trap took along are given up without running in the broken instance", async (t) => {
  const source = guestSource(ownModule);
  const body = new Uint8Array();
  const request = { method: "GET", path: "/api/v1/logs/search", query: "query=a", body };
  const settings = JSON.stringify({ indexes: ["logs"], limits: {} });
  const breakOne = async () => {
    const made = await source();
    const instance = new LocalInstance(made, (what, error) => logged.push({ what, error }));
    const opening = { kind: "http", request, settings, maxLeaves: 1 };
    const [first, other] = await Promise.all([instance.open(opening), instance.open(opening)]);
    new Uint8Array(made.memory.buffer).fill(0xff);
    const report = { elapsedUs: 0n, timedOut: false };
    await assert.rejects(first.step([], report), { kind: "internal" });
    await assert.rejects(other.step([], report), { name: "InstanceLost" });
    for (const session of [first, other]) session.close();
  };
  // Destructors that trap when the garbage collector calls them can be caught by nobody.
  const uncaught = [];
  const note = (error) => uncaught.push(error);
  process.on("uncaughtException", note);
  t.after(() => process.off("uncaughtException", note));
  for (let round = 0; round < 3; round++) await breakOne();
  assert.equal(logged.length, 3);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  for (let round = 0; round < 10; round++) {
    collect();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(uncaught, []);
});
