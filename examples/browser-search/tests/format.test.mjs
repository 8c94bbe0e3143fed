/*
 * Numbers and times as people read them, from whatever an index has.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { transform } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = readFileSync(join(root, "src/format.ts"), "utf8");
const { code } = await transform(source, { loader: "ts", format: "esm" });
const { timeOf, timestamp } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

test("a time is seconds as a number, or a text with its zone", () => {
  for (const value of [
    1463086043,
    1463086043.9,
    "2016-05-12T20:47:23Z",
    "2016-05-12T20:47:23.123456789Z",
    "2016-05-12T22:47:23+02:00",
  ]) {
    assert.equal(timestamp(timeOf(value)), "2016-05-12 20:47:23", String(value));
  }
  assert.equal(timestamp(timeOf(0)), "1970-01-01 00:00:00");
});

test("what is no time is left out instead of breaking the page", () => {
  for (const value of [undefined, null, "", "yesterday", NaN, 1e300, -1e300, {}, [], true]) {
    assert.equal(timeOf(value), undefined, JSON.stringify(value));
  }
});
