/*
 * Planning against an oracle that knows single bytes: sets of places, and nothing of ranges.
 */

import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { blocksOf, longestRun } from "../dist/cache/blocks.js";
import { add, gaps, join } from "../dist/io/pieces.js";
import { align, DEFAULT_COALESCE, requestsOf, within } from "../dist/io/planning.js";

const range = fc.tuple(fc.nat(300), fc.integer({ min: 1, max: 80 })).map(([start, len]) => ({
  start,
  end: start + len,
}));
const classes = fc.constantFrom("head", "dictionary", "postings", "fast-field", "doc-store");
const missing = fc
  .array(fc.record({ range, object: fc.constantFrom("a", "b", "c"), class: classes }), {
    maxLength: 30,
  })
  .map((all) => all.map(({ range, ...rest }, readOrd) => ({ ...range, ...rest, readOrd })));
const options = fc.record({
  maxGapBytes: fc.nat(60),
  maxRequestBytes: fc.nat(400),
  maxPartBytes: fc.integer({ min: 1, max: 500 }),
});

function placesOf(ranges) {
  const places = new Set();
  for (const { start, end } of ranges) for (let at = start; at < end; at++) places.add(at);
  return places;
}

test("requests bring every missing byte, and of no other object", () => {
  fc.assert(
    fc.property(missing, options, (missing, options) => {
      const requests = requestsOf(missing, options);
      for (const object of ["a", "b", "c"]) {
        const wanted = placesOf(missing.filter((part) => part.object === object));
        const brought = placesOf(requests.filter((part) => part.object === object));
        for (const place of wanted) assert.ok(brought.has(place), `${object} ${place}`);
      }
    }),
  );
});

test("no byte is asked for twice, but where merging was not allowed", () => {
  fc.assert(
    fc.property(missing, options, (missing, options) => {
      const unbounded = { ...options, maxRequestBytes: Number.MAX_SAFE_INTEGER };
      const requests = requestsOf(missing, unbounded);
      for (const object of ["a", "b", "c"]) {
        const mine = requests.filter((request) => request.object === object);
        const numBytes = mine.reduce((sum, { start, end }) => sum + end - start, 0);
        assert.equal(placesOf(mine).size, numBytes);
      }
    }),
  );
});

test("gaps are closed up to the limit and no further", () => {
  fc.assert(
    fc.property(missing, options, (missing, options) => {
      const requests = requestsOf(missing, { ...options, maxPartBytes: 1e9 });
      for (const request of requests) {
        const held = placesOf(missing.filter((part) => part.object === request.object));
        let run = 0;
        for (let at = request.start; at < request.end; at++) {
          run = held.has(at) ? 0 : run + 1;
          assert.ok(run <= options.maxGapBytes);
        }
        const longest = Math.max(...request.parts.map((part) => part.end - part.start));
        assert.ok(request.end - request.start <= Math.max(options.maxRequestBytes, longest));
      }
    }),
  );
});

test("no request is longer than a part, and each knows its reads", () => {
  fc.assert(
    fc.property(missing, options, (missing, options) => {
      for (const request of requestsOf(missing, options)) {
        assert.ok(request.end - request.start <= options.maxPartBytes);
        const ords = new Set(request.parts.map((part) => part.readOrd));
        assert.equal(request.numReads, ords.size);
        assert.ok(request.numReads >= 1 || options.maxGapBytes > 0);
      }
    }),
  );
});

test("requests go out in the order in which the guest asked", () => {
  fc.assert(
    fc.property(missing, options, (missing, options) => {
      const ords = requestsOf(missing, options).map((request) => request.firstReadOrd);
      assert.deepEqual(
        ords,
        [...ords].sort((a, b) => a - b),
      );
    }),
  );
});

test("a request taken apart again is what it was made of", () => {
  fc.assert(
    fc.property(missing, (missing) => {
      for (const request of requestsOf(missing, DEFAULT_COALESCE)) {
        const parts = within(missing, request);
        assert.deepEqual(
          placesOf(parts),
          placesOf(
            missing
              .filter(
                (part) =>
                  part.object === request.object &&
                  part.start < request.end &&
                  request.start < part.end,
              )
              .map((part) => ({
                start: Math.max(part.start, request.start),
                end: Math.min(part.end, request.end),
              })),
          ),
        );
      }
    }),
  );
});

test("an aligned range holds the range, begins at a block, and ends with the object", () => {
  const len = fc.option(fc.nat(500), { nil: undefined });
  fc.assert(
    fc.property(range, fc.constantFrom(1, 16, 64), len, (range, blockLen, objectLen) => {
      const { start, end } = align(range, blockLen, objectLen);
      assert.ok(start <= range.start && range.end <= end);
      assert.equal(start % blockLen, 0);
      if (objectLen === undefined) assert.equal(end, range.end);
      else assert.ok(end <= Math.max(objectLen, range.end));
      assert.ok(end - range.end < blockLen);
    }),
  );
});

const piece = fc.tuple(fc.nat(200), fc.integer({ min: 1, max: 60 }));

test("pieces and gaps share a range between them, byte for byte", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), range, (places, range) => {
      const bytes = (start, len) => Uint8Array.from({ length: len }, (_, at) => (start + at) % 251);
      const pieces = [];
      for (const [offset, len] of places) add(pieces, { offset, bytes: bytes(offset, len) }, range);
      const held = placesOf(places.map(([offset, len]) => ({ start: offset, end: offset + len })));
      const missing = placesOf(gaps(range, pieces));
      for (let at = range.start; at < range.end; at++) assert.equal(missing.has(at), !held.has(at));
      const joined = join(pieces);
      const expected = [...placesOf([range])].filter((at) => held.has(at)).map((at) => at % 251);
      assert.deepEqual([...joined], expected);
    }),
  );
});

test("a block is kept from its longest run of bytes", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (places) => {
      const block = { start: 64, end: 128 };
      const pieces = places.map(([offset, len]) => ({
        offset,
        bytes: Uint8Array.from({ length: len }, (_, at) => (offset + at) % 251),
      }));
      const run = longestRun(pieces, block);
      const held = placesOf(places.map(([offset, len]) => ({ start: offset, end: offset + len })));
      let [longest, current] = [0, 0];
      for (let at = block.start; at < block.end; at++) {
        current = held.has(at) ? current + 1 : 0;
        longest = Math.max(longest, current);
      }
      assert.equal(run?.bytes.length ?? 0, longest);
      if (run !== undefined) {
        assert.ok(block.start <= run.offset && run.offset + longest <= block.end);
        run.bytes.forEach((byte, at) => assert.equal(byte, (run.offset + at) % 251));
      }
    }),
  );
});

test("the blocks of a range are those that hold one of its bytes", () => {
  fc.assert(
    fc.property(range, fc.constantFrom(16, 64), (range, blockLen) => {
      const expected = new Set([...placesOf([range])].map((at) => Math.floor(at / blockLen)));
      assert.deepEqual(blocksOf(range, blockLen), [...expected]);
    }),
  );
});
