/*
 * Media types of Elasticsearch's API: what a request's headers ask of the form of its answer. The cases are in
 * `runtime/src/searcher/media/cases.json`, which the crate `runtime` decides alike.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { test } from "node:test";

import { createNodeCanter, toNodeListener } from "../dist/entry/node.js";
import { CanterError, createCanter } from "../dist/index.js";
import { SERVING } from "../dist/serving.js";

const JSON_TYPE = "application/json";
const EIGHT = "application/vnd.elasticsearch+json;compatible-with=8";
const SEVEN = "application/vnd.elasticsearch+json; compatible-with=7";

const CASES = new URL("../../../runtime/src/searcher/media/cases.json", import.meta.url);
const cases = JSON.parse(readFileSync(CASES, "utf8"));

function headersOf(accept, contentType) {
  const headers = new Headers();
  if (accept !== "") headers.set("accept", accept);
  if (contentType !== "") headers.set("content-type", contentType);
  return headers;
}

test("an answer has the media type that was asked for", () => {
  assert.ok(cases.answers.length > 5);
  const answer = { status: 200, headers: [["Content-Type", JSON_TYPE]], body: new Uint8Array() };
  for (const { case: what, accept, content_type: sent, answered, refused } of cases.answers) {
    const read = () => SERVING.mannerOf("/logs/_search", headersOf(accept, sent));
    if (refused !== undefined) {
      assert.equal(answered, undefined, what);
      assert.throws(read, (error) => {
        assert.ok(error instanceof CanterError, what);
        assert.equal(error.status, 400, what);
        assert.ok(error.message.includes(refused), `${what}: ${error.message}`);
        return true;
      });
      continue;
    }
    const headers = new Headers(read().shape(answer).headers);
    assert.equal(headers.get("content-type"), answered, what);
    assert.equal(headers.get("x-elastic-product"), "Elasticsearch", what);
  }
});

test("what is no JSON or of another API stays as it is", () => {
  const manner = SERVING.mannerOf("/_cat/indices", headersOf(EIGHT, ""));
  assert.ok(cases.untouched.length > 0);
  for (const type of cases.untouched) {
    const text = { status: 200, headers: [["content-type", type]], body: new Uint8Array() };
    assert.equal(manner.shape(text), text, type);
  }
  assert.equal(SERVING.mannerOf("/api/v1/logs/search", headersOf(SEVEN, "")), undefined);
});

test("cat answers in JSON to who wants that most", () => {
  assert.ok(cases.queries.length > 5);
  for (const { case: what, accept, path, query, asked } of cases.queries) {
    const manner = SERVING.mannerOf(path, headersOf(accept, ""));
    assert.equal(manner.query(query), asked, what);
  }
});

test("a refusal has the media type too, and one of the media type is in plain JSON", () => {
  const refused = (error, headers) => {
    const { headers: set, body } = SERVING.refuse(error, "/logs/_search", headers);
    const { type } = JSON.parse(new TextDecoder().decode(body)).error;
    return [new Headers(set).get("content-type"), new Headers(set).get("x-elastic-product"), type];
  };
  const tooLong = new CanterError("limit", "no", 413);
  const kind = "content_too_long_exception";
  assert.deepEqual(refused(tooLong, headersOf(EIGHT, "")), [EIGHT, "Elasticsearch", kind]);
  assert.deepEqual(refused(tooLong, undefined), [JSON_TYPE, "Elasticsearch", kind]);
  let invalid;
  try {
    SERVING.mannerOf("/logs/_search", headersOf(SEVEN, ""));
  } catch (error) {
    invalid = error;
  }
  const expected = [JSON_TYPE, "Elasticsearch", "media_type_header_exception"];
  assert.deepEqual(refused(invalid, headersOf(SEVEN, "")), expected);
});

/** A guest that answers with its query, as the search API answers what it does not know. */
function echoing() {
  class Session {
    static http(request) {
      const session = new this();
      session.request = request;
      return session;
    }

    budget() {
      return {};
    }

    step() {
      const body = new TextEncoder().encode(JSON.stringify({ query: this.request.query }));
      const headers = [["content-type", JSON_TYPE]];
      return { tag: "done", val: { tag: "http", val: { status: 404, headers, body } } };
    }

    [Symbol.dispose ?? Symbol.for("dispose")]() {}
  }
  return async () => ({ guest: { Session, version: () => "echoing" } });
}

test("fetch asks and answers so, and a page that asks by itself is answered plainly", async () => {
  const options = {
    guest: echoing(),
    indexes: ["logs"],
    fetchRange: () => Promise.reject(new Error("nothing is read")),
  };
  const headers = { accept: EIGHT };
  const canter = createCanter({ ...options, http: SERVING });
  const listed = await canter.fetch(new Request("http://x/_cat/indices?v=true", { headers }));
  assert.equal(listed.headers.get("content-type"), EIGHT);
  assert.equal(listed.headers.get("x-elastic-product"), "Elasticsearch");
  assert.deepEqual(await listed.json(), { query: "v=true&format=json" });
  const unknown = await canter.fetch(new Request("http://x/_sql"));
  assert.deepEqual(
    [unknown.status, unknown.headers.get("x-elastic-product")],
    [404, "Elasticsearch"],
  );
  const refused = await canter.fetch(
    new Request("http://x/_search", { headers: { accept: SEVEN } }),
  );
  assert.equal(refused.status, 400);
  assert.equal((await refused.json()).error.type, "media_type_header_exception");
  const plain = createCanter(options);
  const answer = await plain.fetch(new Request("http://x/_cat/indices", { headers }));
  assert.equal(answer.headers.get("content-type"), JSON_TYPE);
  assert.deepEqual(await answer.json(), { query: "" });
});

test("Node's server passes on what is asked for", async (t) => {
  const canter = createNodeCanter({ indexes: { logs: "http://127.0.0.1:9/logs" } });
  const server = createServer(toNodeListener(canter));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  const answer = await fetch(`${url}/_sql`, { headers: { accept: EIGHT } });
  assert.equal(answer.headers.get("content-type"), EIGHT);
  assert.equal(answer.headers.get("x-elastic-product"), "Elasticsearch");
});
