/*
 * What the holders of tokens see of the Worker's indexes, and what the others are told.
 */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";

import { buildIndex, sampleDocuments } from "../../js/tests/support/index.mjs";
import { makeKeys } from "./support/keys.mjs";
import { startWorker } from "./support/worker.mjs";

const documents = sampleDocuments();
const numErrors = documents.filter((doc) => doc.status === 500).length;

let objects;
let keys;
before(() => {
  objects = buildIndex(after);
  keys = makeKeys({
    all: [],
    logs: ["--index", "lo*s"],
    errors: ["--index", "logs", "--index", "traces", "--filter", "status:500"],
    traces: ["--index", "traces"],
    writer: ["--right", "write"],
  });
});

/** Starts a Worker with these keys that ends with the test. */
async function started(t, bindings = {}) {
  const worker = await startWorker({ objects, bindings: { API_KEYS: keys.text, ...bindings } });
  t.after(() => worker.stop());
  const ask = async (authorization, path, headers = {}) => {
    const sent = authorization === undefined ? headers : { authorization, ...headers };
    const response = await worker.fetch(path, { headers: sent });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { worker, ask, hold: (id, path) => ask(`Bearer ${keys.tokens[id]}`, path) };
}

const search = (index) => `/api/v1/${index}/search?query=*&max_hits=0`;
const numHits = ({ text }) => JSON.parse(text).num_hits;

test("each form of a key is taken, and decides what is seen", async (t) => {
  const { ask, hold } = await started(t);
  const [id, secret] = keys.tokens.errors.split(".");
  const encoded = Buffer.from(`${id}:${secret}`).toString("base64");
  for (const form of [`Bearer ${id}.${secret}`, `ApiKey ${encoded}`, `Basic ${encoded}`]) {
    const answer = await ask(form, search("logs"));
    assert.equal(numHits(answer), numErrors, form);
    // What it cost depends on documents behind the filter.
    assert.equal(answer.headers.get("x-canter-requests"), null);
    assert.equal(answer.headers.get("x-canter-memory"), null);
  }
  assert.equal(numHits(await hold("all", search("logs"))), documents.length);
  // Elasticsearch's API too.
  const counted = JSON.parse((await hold("errors", "/logs/_count")).text);
  assert.equal(counted.count, numErrors);
});

test("a JWT decides what is seen", async (t) => {
  const secret = Buffer.alloc(32, 7);
  const JWKS = { keys: [{ kty: "oct", k: secret.toString("base64url") }] };
  const { ask, hold } = await started(t, { JWKS, JWT_CLAIM: "search", JWT_ISSUER: "tests" });
  const token = (claims) => {
    const exp = Math.floor(Date.now() / 1000) + 60;
    const parts = [{ alg: "HS256" }, { iss: "tests", exp, ...claims }];
    const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"));
    const signature = createHmac("sha256", secret).update(text.join("."));
    return `Bearer ${text.join(".")}.${signature.digest("base64url")}`;
  };
  const bounded = token({ search: { indexes: ["logs"], filter: "status:500" } });
  assert.equal(numHits(await ask(bounded, search("logs"))), numErrors);
  assert.equal((await ask(token({ search: { indexes: ["x*"] } }), search("logs"))).status, 404);
  assert.equal((await ask(token({ search: { rights: ["write"] } }), search("logs"))).status, 403);
  assert.equal((await ask(token({ canter: {} }), search("logs"))).status, 401);
  assert.equal((await ask(token({ search: {}, iss: "others" }), search("logs"))).status, 401);
  // Beside keys.
  assert.equal(numHits(await hold("all", search("logs"))), documents.length);
});

test("a wrong token is 401, a right one that allows something else 403, as the API says it", async (t) => {
  const { ask, hold } = await started(t);
  for (const [form, says] of [
    [undefined, /send a token/],
    ["Bearer word", /no token of a known form/],
    [`Bearer ${keys.tokens.all}x`, /not known/],
    ["Bearer a.b.c", /not known/],
  ]) {
    const answer = await ask(form, search("logs"));
    assert.equal(answer.status, 401);
    assert.match(JSON.parse(answer.text).message, says);
    assert.match(answer.headers.get("www-authenticate"), /ApiKey, Bearer, Basic realm="canter"/);
  }
  assert.equal(
    JSON.parse((await hold("writer", search("logs"))).text).message,
    "this token does not allow that",
  );
  // A page asks for the token itself.
  const asPage = await ask(undefined, search("logs"), { "x-requested-with": "XMLHttpRequest" });
  assert.equal(asPage.headers.get("www-authenticate"), "ApiKey, Bearer");
  // Clients of Elasticsearch's API read it elsewhere.
  for (const [id, status] of [
    ["none", 401],
    ["writer", 403],
  ]) {
    const {
      headers,
      text,
      status: answered,
    } = await ask(`Bearer ${keys.tokens[id]}`, "/logs/_search");
    assert.equal(answered, status);
    assert.equal(headers.get("x-elastic-product"), "Elasticsearch");
    assert.equal(JSON.parse(text).error.type, "security_exception");
  }
});

test("without a token there is a sign of life, and nothing else", async (t) => {
  const { ask, hold } = await started(t);
  const alive = await ask(undefined, "/health/livez");
  assert.deepEqual([alive.status, alive.text], [200, "true"]);
  assert.deepEqual(
    ["requests", "bytes", "cache-hits"].map((name) => alive.headers.get(`x-canter-${name}`)),
    ["0", "0", "0"],
  );
  assert.equal(alive.headers.get("x-canter-subrequests"), null);
  for (const path of [
    "/health/readyz",
    "/health/",
    "/health/other",
    "/health//livez",
    "/health/livez/",
    "/health/livez/../readyz",
    "/health/%6civez",
    "/api/v1/indexes",
    "/",
  ]) {
    const { status, text } = await ask(undefined, path);
    assert.equal(status, 401, path);
    assert.doesNotMatch(text, /logs/);
  }
  const ready = await hold("all", "/health/readyz");
  assert.equal(ready.status, 200);
  assert.notEqual(ready.headers.get("x-canter-requests"), "0");
});

test("a token may be good for some indexes only, and the others do not exist for it", async (t) => {
  // Nothing is stored under `traces`.
  const INDEXES = { logs: "tenants/logs", traces: "tenants/traces", secret: "tenants/logs" };
  const { hold } = await started(t, { INDEXES });
  assert.equal(numHits(await hold("logs", search("logs"))), documents.length);
  assert.equal(numHits(await hold("errors", search("logs"))), numErrors);
  assert.equal(numHits(await hold("all", search("secret"))), documents.length);
  // What is not its own is answered as what is not there.
  const expected = await hold("logs", search("nowhere"));
  assert.equal(expected.status, 404);
  for (const index of ["secret", "traces"]) {
    const { status, text } = await hold("logs", search(index));
    assert.deepEqual([status, text], [404, expected.text.replaceAll("nowhere", index)]);
    assert.equal((await hold("logs", `/api/v1/indexes/${index}`)).status, 404);
  }
  assert.equal((await hold("traces", search("logs"))).status, 404);
  const listed = async (id) => {
    const { text } = await hold(id, "/api/v1/indexes");
    return JSON.parse(text).map((index) => index.index_config.index_id);
  };
  assert.equal((await listed("all")).length, 2);
  assert.equal((await listed("logs")).length, 1);
  assert.deepEqual(await listed("traces"), []);
  // Ready is who can read what it may see.
  assert.equal((await hold("logs", "/health/readyz")).status, 200);
  assert.equal((await hold("traces", "/health/readyz")).status, 503);
  assert.equal((await hold("all", "/health/readyz")).status, 503);
});

test("settings of tokens that cannot work are named in the answer, and no key is shown", async (t) => {
  const hash = keys.text.match(/\$argon2id\$[^"]+/)[0];
  for (const [bindings, says] of [
    [{ API_KEYS: "" }, "API_KEYS is empty"],
    [{ API_KEYS: {} }, "API_KEYS is no text"],
    [{ API_KEYS: keys.text.replace("[[key]]", "[[key") }, "API_KEYS is no list of keys: line "],
    [{ API_KEYS: `${keys.text}indexs = ["logs"]` }, 'the key "writer" unknown field `indexs`'],
    [{ JWKS: "{" }, "JWKS is not JSON"],
    [{ JWKS: { keys: [] } }, "JWKS has no key that signs"],
    [{ JWT_AUDIENCE: "canter" }, "JWT_AUDIENCE is of no use without JWKS"],
  ]) {
    const { ask } = await started(t, bindings);
    const { status, text } = await ask(undefined, search("logs"));
    assert.equal(status, 500);
    const { message } = JSON.parse(text);
    assert.ok(message.includes(says), message);
    assert.ok(!message.includes(hash), message);
  }
});
