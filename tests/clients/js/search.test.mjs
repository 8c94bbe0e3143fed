// Elasticsearch's JavaScript client, which knows nothing of Canter, against `canter serve`.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { Client } from "@elastic/elasticsearch";

const NUM_DOCS = 500;
const CONFIG = `
version: 0.9
index_id: shop
doc_mapping:
  mode: strict
  field_mappings:
    - {name: id, type: u64, fast: true}
    - {name: name, type: text, record: position}
    - {name: kind, type: text, tokenizer: raw, fast: true}
    - {name: price, type: f64, fast: true}
`;

const KINDS = ["book", "lamp", "chair"];
const COLOURS = ["red", "green", "blue", "dark blue"];
const docs = Array.from({ length: NUM_DOCS }, (_, id) => ({
  id,
  name: `A ${COLOURS[(id * 7) % 4]} ${KINDS[id % 3]}`,
  kind: KINDS[id % 3],
  price: ((id * 37) % 400) / 4,
}));

let folder, server, client;

before(async () => {
  const canter = process.env.CANTER;
  folder = mkdtempSync(join(tmpdir(), "canter-clients-"));
  const [config, lines, index] = ["index.yaml", "docs.ndjson", "shop"].map((name) => join(folder, name));
  writeFileSync(config, CONFIG);
  writeFileSync(lines, docs.map((doc) => JSON.stringify(doc) + "\n").join(""));
  execFileSync(canter, ["index", "create", "--index", index, "--index-config", config], { stdio: "pipe" });
  execFileSync(canter, ["index", "ingest", "--index", index, "--input", lines], { stdio: "pipe" });
  server = spawn(canter, ["serve", "--index", index, "--listen", "127.0.0.1:0", "--engine", process.env.ENGINE ?? "wasm"]);
  const url = await new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk) => {
      text += chunk;
      const found = text.match(/http:\/\/127\.0\.0\.1:\d+/);
      if (found) resolve(found[0]);
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
    server.on("exit", () => reject(new Error(text)));
  });
  client = new Client({ node: url });
});

after(async () => {
  await client?.close();
  server?.kill();
  rmSync(folder, { recursive: true, force: true });
});

const ids = async (query) => {
  const found = await client.search({ index: "shop", query, size: NUM_DOCS, sort: ["id"], track_total_hits: true });
  const hits = found.hits.hits.map((hit) => hit._source.id);
  assert.equal(found.hits.total.value, hits.length);
  assert.equal((await client.count({ index: "shop", query })).count, hits.length);
  return hits;
};

for (const [name, query, matches] of [
  ["match", { match: { name: "red lamp" } }, (doc) => /red|lamp/.test(doc.name)],
  ["match all words", { match: { name: { query: "red lamp", operator: "and" } } }, (doc) => /red lamp/.test(doc.name)],
  ["a phrase", { match_phrase: { name: "dark blue" } }, (doc) => /dark blue/.test(doc.name)],
  ["a term", { term: { kind: { value: "chair" } } }, (doc) => doc.kind === "chair"],
  ["terms", { terms: { kind: ["chair", "book"] } }, (doc) => doc.kind !== "lamp"],
  ["a range", { range: { price: { gt: 10, lte: 50.25 } } }, (doc) => doc.price > 10 && doc.price <= 50.25],
  ["nearly", { fuzzy: { kind: { value: "chiar" } } }, (doc) => doc.kind === "chair"],
  ["a query string", { query_string: { query: "kind:lamp AND price:<5" } }, (doc) => doc.kind === "lamp" && doc.price < 5],
  [
    "bool",
    { bool: { should: [{ term: { kind: "lamp" } }, { prefix: { kind: "bo" } }], must_not: { match: { name: "green" } } } },
    (doc) => doc.kind !== "chair" && !/green/.test(doc.name),
  ],
]) {
  test(`${name} finds what a scan finds`, async () => {
    const expected = docs.filter(matches).map((doc) => doc.id);
    assert.ok(expected.length > 0);
    assert.deepEqual(await ids(query), expected);
  });
}

test("pages go on behind the last hit", async () => {
  const sort = [{ price: "desc" }, { id: "asc" }];
  const seen = [];
  for (let after; ; ) {
    const page = await client.search({ index: "shop", size: 64, sort, ...(after && { search_after: after }) });
    if (page.hits.hits.length === 0) break;
    seen.push(...page.hits.hits.map((hit) => hit._source.id));
    after = page.hits.hits.at(-1).sort;
  }
  const expected = docs.toSorted((a, b) => b.price - a.price || a.id - b.id).map((doc) => doc.id);
  assert.deepEqual(seen, expected);
});

test("aggregations", async () => {
  const aggs = { kinds: { terms: { field: "kind" }, aggs: { mean: { avg: { field: "price" } } } } };
  const { aggregations } = await client.search({ index: "shop", size: 0, aggs });
  for (const { key, doc_count, mean } of aggregations.kinds.buckets) {
    const some = docs.filter((doc) => doc.kind === key);
    assert.equal(doc_count, some.length);
    assert.ok(Math.abs(mean.value - some.reduce((sum, doc) => sum + doc.price, 0) / some.length) < 1e-9);
  }
});

test("many searches, mappings and what there is", async () => {
  const { responses } = await client.msearch({
    searches: [{ index: "shop" }, { size: 1, sort: ["id"] }, { index: "shop" }, { query: { nope: {} } }],
  });
  assert.equal(responses[0].hits.hits[0]._source.id, 0);
  assert.equal(responses[1].status, 400);
  assert.match((await client.info()).version.number, /^8\./);
  assert.ok(await client.indices.exists({ index: "shop" }));
  const mapping = await client.indices.getMapping({ index: "shop" });
  assert.deepEqual(mapping.shop.mappings.properties.kind, { type: "keyword" });
  const caps = await client.fieldCaps({ index: "shop", fields: "*" });
  assert.deepEqual(Object.keys(caps.fields).sort(), ["id", "kind", "name", "price"]);
});

test("errors are Elasticsearch's", async () => {
  const fails = (params, status) =>
    assert.rejects(client.search({ index: "shop", ...params }), (error) => error.meta.statusCode === status);
  await fails({ query: { term: { nowhere: "x" } } }, 400);
  await fails({ index: "missing" }, 404);
  await fails({ size: 20_000 }, 400);
});
