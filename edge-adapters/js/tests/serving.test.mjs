/*
 * What servers do besides searching: compressed bodies, and refusals in the form of the API that was asked.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, request as requestOf } from "node:http";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { PLAIN } from "../dist/http.js";
import { CanterError, createCanter } from "../dist/index.js";
import { createNodeCanter, SERVING, toNodeListener } from "../dist/entry/node.js";
import { scriptedGuest } from "./support/scripted-guest.mjs";

const MAX_BYTES = 1000;

/** What the crate `canter-names` decides alike. */
const CASES = new URL("../../../guest/names/src/api/cases.json", import.meta.url);
const { paths, kinds } = JSON.parse(readFileSync(CASES, "utf8"));

/** What a client of Elasticsearch reads of an error. */
function elasticError(type, reason, status) {
  return { error: { root_cause: [{ type, reason }], type, reason }, status };
}

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
  assert.ok(paths.elasticsearch.length > 5 && paths.quickwit.length > 5);
  for (const manners of [SERVING, PLAIN]) {
    const refused = (path, status) => {
      const error = new CanterError("invalid", "no", status);
      const { headers, body, ...rest } = manners.refuse(error, path, new Headers());
      assert.equal(rest.status, status, path);
      const isElastic = new Headers(headers).get("x-elastic-product") === "Elasticsearch";
      return { isElastic, body: JSON.parse(new TextDecoder().decode(body)) };
    };
    for (const path of paths.quickwit) {
      assert.deepEqual(refused(path, 413), { isElastic: false, body: { message: "no" } }, path);
    }
    const body = elasticError("content_too_long_exception", "no", 413);
    for (const path of paths.elasticsearch) {
      assert.deepEqual(refused(path, 413), { isElastic: true, body }, path);
    }
    for (const [status, type] of Object.entries(kinds)) {
      const { body: said } = refused("/logs/_count", Number(status));
      assert.deepEqual(said, elasticError(type, "no", Number(status)), status);
    }
  }
});

const DIVIDED = { waves: [], leaves: [[]], rootWaves: [] };

/** Ways to fail outside of the guest: what is asked, of whom, and what comes of it. */
const FAILURES = {
  "a trap": [{ waves: [], trapAt: 0 }, {}, 500, /broke off inside the engine/],
  "no instance": [
    { waves: [] },
    { guest: () => Promise.reject(new Error("no module")) },
    500,
    /cannot be started/,
  ],
  "no time left": [
    DIVIDED,
    {
      fanOut: { maxLeaves: 2, runLeaf: () => new Promise(() => undefined) },
      budget: { deadlineMs: 50 },
    },
    504,
    /there is no answer after/,
  ],
  "a leaf that is away": [
    DIVIDED,
    {
      fanOut: {
        maxLeaves: 2,
        runLeaf: () => Promise.reject(new CanterError("unavailable", "the leaf is away")),
      },
    },
    503,
    /the leaf is away/,
  ],
};

for (const [what, [script, options, status, says]] of Object.entries(FAILURES)) {
  test(`${what} is told in the form of the API that was asked`, async () => {
    const own = "application/vnd.elasticsearch+json;compatible-with=8";
    for (const manners of [{}, { http: SERVING }]) {
      const canter = createCanter({
        indexes: ["logs"],
        guest: scriptedGuest(),
        fetchRange: () => Promise.reject(new Error("nothing is read")),
        log: () => undefined,
        ...options,
        ...manners,
      });
      const body = JSON.stringify(script);
      const handled = async (path) => {
        const bytes = new TextEncoder().encode(body);
        const { response } = await canter.handle({ method: "POST", path, query: "", body: bytes });
        return new Response(response.body, response);
      };
      const fetched = (path) => {
        const headers = { accept: own };
        return canter.fetch(new Request(`http://x${path}`, { method: "POST", body, headers }));
      };
      for (const ask of [handled, fetched]) {
        const plain = await ask("/api/v1/logs/search");
        assert.deepEqual([plain.status, plain.headers.has("x-elastic-product")], [status, false]);
        const { message, ...others } = await plain.json();
        assert.match(message, says);
        assert.deepEqual(others, {});

        const elastic = await ask("/logs/_search");
        assert.equal(elastic.status, status);
        assert.equal(elastic.headers.get("x-elastic-product"), "Elasticsearch");
        const knowsMediaTypes = ask === fetched && manners.http !== undefined;
        const type = knowsMediaTypes ? own : "application/json";
        assert.equal(elastic.headers.get("content-type"), type);
        const said = await elastic.json();
        assert.match(said.error.reason, says);
        assert.deepEqual(said, elasticError(kinds[status], said.error.reason, status));
      }
    }
  });
}

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

test("Node's server tells in the form of the API that was asked what it cannot read", async (t) => {
  const canter = { fetch: () => Promise.reject(new Error("nothing is asked")) };
  const server = createServer(toNodeListener(canter));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address();
  // No `Request` has this method.
  const ask = (path) =>
    new Promise((resolve, reject) => {
      const asked = requestOf({ host: "127.0.0.1", port, path, method: "TRACE" }, resolve);
      asked.on("error", reject).end();
    });
  const said = async (path) => {
    const answer = await ask(path);
    assert.equal(answer.statusCode, 400, path);
    let text = "";
    for await (const part of answer) text += part;
    return JSON.parse(text);
  };
  const reason = "the request cannot be read";
  assert.deepEqual(await said("/api/v1/logs/search?query=a"), { message: reason });
  const error = elasticError("illegal_argument_exception", reason, 400);
  assert.deepEqual(await said("/logs/_search?q=a"), error);
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
