/*
 * What servers do besides searching: compressed bodies, and refusals in the form of the API that was asked.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { CanterError } from "../dist/index.js";
import { createNodeCanter, SERVING, toNodeListener } from "../dist/entry/node.js";

const MAX_BYTES = 1000;

/** The body of a request with such an encoding, as text, or why it is refused. */
async function read(body, encoding) {
  const headers = encoding === undefined ? {} : { "content-encoding": encoding };
  const request = new Request("http://x/", { method: "POST", body, headers, duplex: "half" });
  try {
    return new TextDecoder().decode(await SERVING.readBody(request, MAX_BYTES));
  } catch (error) {
    assert.ok(error instanceof CanterError, String(error));
    return `${error.status}: ${error.message}`;
  }
}

test("a body is read as it is encoded", async () => {
  const text = JSON.stringify({ query: "status:500" });
  for (const encoding of [undefined, "", "identity"]) {
    assert.equal(await read(text, encoding), text);
  }
  for (const encoding of ["gzip", " GZIP "])
    assert.equal(await read(gzipSync(text), encoding), text);
  assert.match(await read(text, "gzip"), /^400: .*no gzip/);
  assert.match(await read(gzipSync(text).subarray(0, 20), "gzip"), /^400: .*broke off/);
  for (const encoding of ["zstd", "br", "gzip, gzip", "x".repeat(1000)]) {
    const said = await read(text, encoding);
    assert.match(said, /^415: .*send gzip or none/);
    assert.ok(said.length < 200, said);
  }
  assert.equal(await read(null, "gzip"), "");
});

test("the limit is on what a body says, and on what comes", async () => {
  const tooLong = /^413: .*longer than the 1000 bytes/;
  assert.equal(await read(gzipSync("x".repeat(MAX_BYTES)), "gzip"), "x".repeat(MAX_BYTES));
  assert.match(await read(gzipSync("x".repeat(MAX_BYTES + 1)), "gzip"), tooLong);
  assert.match(await read(gzipSync(Buffer.alloc(50_000_000)), "gzip"), tooLong);
  assert.match(await read("x".repeat(MAX_BYTES + 1)), tooLong);
  // Blocks of nothing without end.
  const header = gzipSync("").subarray(0, 10);
  const nothing = Buffer.from([0, 0, 0, 0xff, 0xff]);
  let numBlocks = 0;
  const endless = new ReadableStream({
    start: (controller) => controller.enqueue(header),
    pull: (controller) => {
      numBlocks += 100;
      controller.enqueue(Buffer.concat(Array(100).fill(nothing)));
    },
  });
  assert.match(await read(endless, "gzip"), tooLong);
  assert.ok(numBlocks < 10_000, `${numBlocks}`);
});

test("a refusal has the form of the API that was asked", () => {
  const refused = (path, status) => {
    const { headers, body, ...rest } = SERVING.refuse(
      new CanterError("invalid", "no", status),
      path,
    );
    assert.equal(rest.status, status);
    const isElastic = new Headers(headers).get("x-elastic-product") === "Elasticsearch";
    return { isElastic, body: JSON.parse(new TextDecoder().decode(body)) };
  };
  for (const path of ["/api/v1/logs/search", "/health/readyz", "/api", "/v1/logs"]) {
    assert.deepEqual(refused(path, 413), { isElastic: false, body: { message: "no" } }, path);
  }
  for (const path of ["/", "/logs/_search", "/_msearch", "//api//v1/_elastic/_search"]) {
    const type = "content_too_long_exception";
    const error = { root_cause: [{ type, reason: "no" }], type, reason: "no" };
    assert.deepEqual(refused(path, 413), { isElastic: true, body: { error, status: 413 } }, path);
  }
  assert.equal(refused("/logs/_count", 415).body.error.type, "illegal_argument_exception");
});

test("Node's server tells how a body is encoded", async (t) => {
  const canter = {
    fetch: async (request) => new Response(await SERVING.readBody(request, MAX_BYTES)),
  };
  const server = createServer(toNodeListener(canter));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}/`;
  const headers = { "content-encoding": "gzip" };
  const answer = await fetch(url, { method: "POST", body: gzipSync("found"), headers });
  assert.equal(await answer.text(), "found");
});

test("who sends too much hears it", async (t) => {
  const canter = createNodeCanter({ indexes: { logs: "http://127.0.0.1:9/logs" } });
  const server = createServer(toNodeListener(canter));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  for (let time = 0; time < 10; time++) {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/logs/_search`, {
      method: "POST",
      body: "x".repeat(3 << 20),
    });
    assert.equal(answer.status, 413);
    assert.equal((await answer.json()).error.type, "content_too_long_exception");
  }
});
