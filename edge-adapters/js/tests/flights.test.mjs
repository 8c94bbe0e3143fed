/*
 * Ranges on their way, and who may join them: what several searches share of their traffic.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Flights } from "../dist/io/flights.js";

const RANGE = { start: 0, end: 100 };
const never = () => new Promise(() => undefined);

test("a flight is joined until its time is over, and forgotten whatever is asked for then", (t) => {
  let nowMs = 1000;
  t.mock.method(performance, "now", () => nowMs);
  const flights = new Flights();
  const short = flights.launch("a", RANGE, 2000, never);
  const long = flights.launch("b", RANGE, 3000, never);
  assert.deepEqual(flights.claim("a", RANGE), { joined: [short], free: [] });

  // Nobody asks for the same object again: it must not be held for ever.
  nowMs = 2000;
  assert.deepEqual(flights.claim("c", RANGE), { joined: [], free: [RANGE] });
  assert.deepEqual([...flights.underway.keys()], ["b"]);
  assert.deepEqual(flights.claim("a", RANGE), { joined: [], free: [RANGE] });
  assert.deepEqual(flights.claim("b", RANGE).joined, [long]);

  nowMs = 3000;
  const next = flights.launch("a", RANGE, 4000, never);
  assert.deepEqual([...flights.underway], [["a", [next]]]);
});

test("who waits for a flight gets its bytes, even if nobody else may join it any more", async (t) => {
  let nowMs = 1000;
  t.mock.method(performance, "now", () => nowMs);
  const flights = new Flights();
  let land;
  const flight = flights.launch("a", RANGE, 2000, () => new Promise((resolve) => (land = resolve)));
  const waiting = flight.wait(new AbortController().signal, Infinity);
  nowMs = 2000;
  const second = flights.launch("a", RANGE, 3000, never);
  const landed = { result: { bytes: new Uint8Array(100) } };
  land(landed);
  assert.equal(await waiting, landed);
  // Its landing takes no other out of the way.
  assert.deepEqual(flights.claim("a", RANGE).joined, [second]);
});
