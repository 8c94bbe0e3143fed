/*
 * What threads promise, on whatever runtime runs this file: it prints what it has seen, as JSON, and ends by
 * itself, with idle threads left behind. `threads.test.mjs` judges.
 */

import { createCanter } from "../../dist/index.js";
import { nodeThreads } from "../../dist/thread/node.js";
import { run, scriptedGuest } from "./scripted-guest.mjs";

const SPIN_MS = 20_000;

const bytes = Uint8Array.from({ length: 10_000 }, (_, at) => (at * 31) % 251);
const fetchRange = async ({ offset, len }) => {
  await pause(20);
  // A window on a larger buffer.
  return { bytes: bytes.subarray(offset, offset + len) };
};
const read = (offset) => ({ object: "logs/a", offset, len: 100, class: "postings" });
const waves = [{ reads: [read(0), read(5000)] }, { reads: [read(9000)] }];

const logged = [];
let numStarted = 0;
const start = nodeThreads(new URL("./scripted-thread.mjs", import.meta.url));
const options = {
  indexes: ["logs"],
  fetchRange,
  coalesce: { maxGapBytes: 0 },
  log: (what, error) => logged.push(`${what}: ${error}`),
};
const threads = (max) => ({ max, start: (listener) => (numStarted++, start(listener)) });
const canter = createCanter({ ...options, threads: threads(1) });
const seen = { version: await canter.warmUp() };

const bare = ({ status, supplied, message }) => ({ status, supplied, message });
const local = createCanter({ ...options, guest: scriptedGuest() });
seen.here = bare(await run(local, { waves }));
seen.there = bare(await run(canter, { waves }));
seen.many = (await Promise.all(Array.from({ length: 20 }, () => run(canter, { waves })))).map(bare);

// A step that goes on long past the deadline, and a search that shares its thread.
const ticks = [];
const ticking = setInterval(() => ticks.push(performance.now()), 10);
const startedMs = performance.now();
const other = run(canter, { waves: [...waves, ...waves, ...waves] });
const late = await run(canter, { waves: [{ spinMs: SPIN_MS }] }, { budget: { deadlineMs: 300 } });
seen.late = { ...bare(late), afterMs: performance.now() - startedMs };
seen.numTicks = ticks.length;
seen.shared = bare(await other);
clearInterval(ticking);
seen.allMs = performance.now() - startedMs;
seen.numStarted = numStarted;

// A caller who goes.
const gone = new AbortController();
const left = run(canter, { waves: [{ spinMs: SPIN_MS }] }, { signal: gone.signal });
await pause(100);
gone.abort();
seen.left = bare(await left);
seen.afterwards = bare(await run(canter, { waves }));

// A trap, and a search that shares its thread.
const beside = run(canter, { waves });
seen.trapped = bare(await run(canter, { waves: [{ reads: [read(0)] }], trapAt: 1 }));
seen.beside = bare(await beside);
seen.logged = logged.splice(0);

// Several threads compute at once: each spins for as long as the other.
const pair = createCanter({ ...options, threads: threads(2) });
await pair.warmUp();
const pairMs = performance.now();
const both = await Promise.all([0, 1].map(() => run(pair, { waves: [{ spinMs: 1500 }] })));
seen.both = { statuses: both.map(({ status }) => status), ms: performance.now() - pairMs };

// A thread whose guest cannot be started.
const missing = nodeThreads(new URL("./no-such-thread.mjs", import.meta.url));
const broken = createCanter({ ...options, threads: { max: 1, start: missing } });
seen.broken = bare(await run(broken, { waves }));

// Nothing runs when it is closed.
await pair.close();
seen.closed = bare(await run(pair, { waves }));

console.log(JSON.stringify(seen));

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
