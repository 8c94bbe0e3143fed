/*
 * The guest in threads, on Node and Deno (and Bun, where it is installed): the event loop goes on while a step
 * computes, a step that goes on past its deadline is ended with its thread, and nobody else notices.
 */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { CanterError, createNodeCanter, guestSource, ownModule } from "../dist/entry/node.js";
import { buildIndex, sampleDocuments } from "./support/index.mjs";
import { startStore } from "./support/store.mjs";

const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? fileOf("../../../target");
const installed = `${target}/tools/javascript/node_modules/.bin/deno`;
const deno = process.env.CANTER_DENO ?? (existsSync(installed) ? installed : "deno");

const RUNTIMES = {
  node: [process.execPath],
  deno: [deno, "run", "--quiet", "--no-config", "--node-modules-dir=none", "--allow-all"],
  bun: [process.env.CANTER_BUN ?? "bun", "run"],
};

/** Whether the program is there; whoever must not skip a runtime names it. */
async function skipsWithout([program]) {
  const found = await promisify(execFile)(program, ["--version"]).catch(() => undefined);
  return found === undefined ? `there is no ${program}` : false;
}

for (const [name, command] of Object.entries(RUNTIMES)) {
  const skip = await skipsWithout(command);
  if (skip && process.env[`CANTER_${name.toUpperCase()}`]) throw new Error(skip);
  if (skip) console.error(`skipped: threads on ${name}: ${skip}`);
  test(`threads keep their promises on ${name}`, { skip }, async () => {
    const [program, ...args] = [...command, fileOf("support/threads-check.mjs")];
    // It must end by itself, although its threads have not been ended.
    const { stdout } = await promisify(execFile)(program, args, { timeout: 120_000 });
    const seen = JSON.parse(stdout);
    judge(seen);
  });
}

function judge(seen) {
  assert.equal(seen.version, "scripted");
  assert.equal(seen.here.status, 200);
  assert.equal(seen.here.supplied.length, 3);
  assert.deepEqual(seen.there, seen.here);
  for (const one of seen.many) assert.deepEqual(one, seen.here);

  assert.equal(seen.late.status, 504);
  // How long it took is the machine's; the step would have gone on for 20 s.
  assert.match(seen.late.message, /^there is no answer after \d+ ms; raise deadline_ms/);
  assert.ok(seen.late.afterMs < 15_000, `answered after ${seen.late.afterMs} ms`);
  assert.ok(seen.numTicks >= 5, `${seen.numTicks} ticks`);
  assert.equal(seen.shared.status, 200);
  assert.equal(seen.shared.supplied.length, 9);
  assert.ok(seen.allMs < 18_000, `all answered after ${seen.allMs} ms`);
  assert.equal(seen.numStarted, 2);

  assert.equal(seen.left.status, 504);
  assert.deepEqual(seen.afterwards, seen.here);

  assert.equal(seen.trapped.status, 500);
  assert.match(seen.trapped.message, /^the search broke off inside the engine/);
  assert.doesNotMatch(seen.trapped.message, /unreachable/);
  assert.deepEqual(seen.beside, seen.here);
  assert.equal(seen.logged.length, 3, seen.logged.join("\n"));
  assert.match(seen.logged[0], /ran on when its time was up/);
  assert.match(seen.logged[1], /ran on when its time was up/);
  assert.match(seen.logged[2], /trapped while stepping.*unreachable/);

  assert.deepEqual(seen.both.statuses, [200, 200]);
  assert.equal(seen.broken.status, 500);
  assert.doesNotMatch(seen.broken.message, /no-such-thread/);
  assert.equal(seen.closed.status, 503);
}

test("the real guest answers in threads as it does without", async (t) => {
  const objects = buildIndex((end) => t.after(end));
  const store = await startStore(
    Object.fromEntries([...objects].map(([name, bytes]) => [`logs/${name}`, bytes])),
  );
  t.after(() => store.close());
  const indexes = { logs: `${store.url}/logs` };
  const here = createNodeCanter({ indexes });
  const there = createNodeCanter({ indexes, threads: 2 });
  t.after(() => there.close());
  assert.equal(await there.warmUp(), await here.warmUp());
  const aggs = { by_status: { terms: { field: "status", size: 20 } } };
  const requests = [
    { query: "status:500", max_hits: 5 },
    { query: "*", max_hits: 20, aggs },
    { query: "status:404", max_hits: 0 },
  ];
  const untimed = ({ response }) => ({ ...response, elapsed_time_micros: 0 });
  for (const request of requests) {
    const expected = untimed(await here.search(request));
    const answers = await Promise.all(Array.from({ length: 6 }, () => there.search(request)));
    for (const answer of answers) {
      assert.deepEqual(untimed(answer), expected);
      assert.ok(answer.report.guest_us > 0);
    }
  }
  assert.ok(there.memoryBytes > here.memoryBytes, "each thread has an instance");
  const numErrors = sampleDocuments().filter((doc) => doc.status === 500).length;
  assert.equal((await there.search(requests[0])).response.num_hits, numErrors);
  await assert.rejects(there.search({ query: "nofield:1" }), (error) => {
    assert.ok(error instanceof CanterError);
    assert.deepEqual([error.kind, error.status], ["invalid", 400]);
    return true;
  });
});

test("threads run the package's own guest and no other", () => {
  const indexes = { logs: "https://h/logs" };
  for (const other of [{ guest: guestSource(ownModule) }, { module: ownModule }]) {
    assert.throws(() => createNodeCanter({ indexes, threads: 1, ...other }), /leave module and guest/);
  }
  assert.throws(() => createNodeCanter({ indexes, threads: -1 }), /threads.max is -1/);
});
