/*
 * Media types of Elasticsearch's API: what a request's headers ask of the form of its answer. The cases are those of
 * `runtime/src/searcher/media.rs`.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { createNodeCanter, toNodeListener } from "../dist/entry/node.js";
import { CanterError, createCanter } from "../dist/index.js";
import { SERVING } from "../dist/serving.js";

const JSON_TYPE = "application/json";
const EIGHT = "application/vnd.elasticsearch+json;compatible-with=8";
const NINE = "application/vnd.elasticsearch+json;compatible-with=9";
const SEVEN = "application/vnd.elasticsearch+json; compatible-with=7";
const NDJSON = "application/vnd.elasticsearch+x-ndjson; compatible-with=8";

function headersOf(accept, contentType) {
  const headers = new Headers();
  if (accept !== "") headers.set("accept", accept);
  if (contentType !== "") headers.set("content-type", contentType);
  return headers;
}

test("an answer has the media type that was asked for", () => {
  const answer = { status: 200, headers: [["Content-Type", JSON_TYPE]], body: new Uint8Array() };
  for (const [accept, contentType, expected] of [
    ["", "", JSON_TYPE],
    ["*/*", "application/json", JSON_TYPE],
    ["application/json", EIGHT, JSON_TYPE],
    [EIGHT, "", EIGHT],
    ['Application/VND.elasticsearch+JSON; Compatible-With="9"', "", NINE],
    ["text/plain,application/vnd.elasticsearch+json; compatible-with=8", "", EIGHT],
    [EIGHT, EIGHT, EIGHT],
    ["", NDJSON, EIGHT],
    ["*/*", EIGHT, EIGHT],
    [EIGHT, NDJSON, EIGHT],
    ["application/vnd.elasticsearch+json", "", "application/vnd.elasticsearch+json"],
    [SEVEN, "", /\[Accept\]: compatible-with=7/],
    ["", SEVEN, /\[Content-Type\]: compatible-with=7/],
    [EIGHT, NINE, /two versions/],
    ["application/vnd.elasticsearch+json;compatible-with=", "", /is not known/],
    ["application/vnd.other+json;compatible-with=7", "", JSON_TYPE],
  ]) {
    const shown = `${accept} ${contentType}`;
    const read = () => SERVING.mannerOf("/logs/_search", headersOf(accept, contentType));
    if (typeof expected !== "string") {
      assert.throws(read, (error) => {
        assert.ok(error instanceof CanterError, shown);
        assert.equal(error.status, 400);
        assert.match(error.message, expected, shown);
        return true;
      });
      continue;
    }
    const headers = new Headers(read().shape(answer).headers);
    assert.equal(headers.get("content-type"), expected, shown);
    assert.equal(headers.get("x-elastic-product"), "Elasticsearch", shown);
  }
});

test("what is no JSON or of another API stays as it is", () => {
  const manner = SERVING.mannerOf("/_cat/indices", headersOf(EIGHT, ""));
  const text = { status: 200, headers: [["content-type", "text/plain"]], body: new Uint8Array() };
  assert.equal(manner.shape(text), text);
  assert.equal(SERVING.mannerOf("/api/v1/logs/search", headersOf(SEVEN, "")), undefined);
});

test("cat answers in JSON to who wants that most", () => {
  for (const [accept, path, query, expected] of [
    [JSON_TYPE, "/_cat/indices", "", "format=json"],
    [EIGHT, "/_cat/indices/logs", "v=true", "v=true&format=json"],
    [JSON_TYPE, "/api/v1/_elastic/_cat/health", "", "format=json"],
    [JSON_TYPE, "/_cat/indices", "h=index&format=txt", "h=index&format=txt"],
    [JSON_TYPE, "/_cat/indices", "format", "format"],
    ["text/plain,application/json", "/_cat/indices", "", ""],
    ["application/json, text/plain, */*", "/_cat/indices", "", ""],
    [`${EIGHT},text/plain`, "/_cat/indices", "v=true", "v=true"],
    ["text/plain;q=0.5, application/json;q=0.9", "/_cat/indices", "", "format=json"],
    ["application/json;q=0", "/_cat/indices", "", ""],
    ["*/*", "/_cat/indices", "", ""],
    ["", "/_cat/indices", "", ""],
    [JSON_TYPE, "/logs/_search", "q=a", "q=a"],
  ]) {
    const manner = SERVING.mannerOf(path, headersOf(accept, ""));
    assert.equal(manner.query(query), expected, `${accept} ${path}?${query}`);
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
