// Searches of Elasticsearch's JavaScript clients, which know nothing of Canter, each beside a scan of the documents.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { CLIENTS, connect, docs, makeIndex, notYet, serve } from "./support.mjs";

let made, server;

before(async () => {
  made = makeIndex();
  server = await serve(made.index);
});

after(() => {
  server?.stop();
  made?.remove();
});

const idsOf = (found) => found.hits.hits.map((hit) => hit._source.id);
const scan = (matches) => docs.filter(matches).map((doc) => doc.id);
const words = (doc) => doc.name.toLowerCase().split(" ");
const near = (a, b) => Math.abs(a - b) < 1e-9;

const QUERIES = [
  ["match_all", { match_all: {} }, () => true],
  ["match", { match: { name: "red lamp" } }, (doc) => /red|lamp/.test(doc.name)],
  ["match with all words", { match: { name: { query: "red lamp", operator: "and" } } }, (doc) => /red lamp/.test(doc.name)],
  [
    "match with two of three words",
    { match: { name: { query: "dark blue lamp", minimum_should_match: 2 } } },
    (doc) => ["dark", "blue", "lamp"].filter((word) => words(doc).includes(word)).length >= 2,
  ],
  ["match nearly", { match: { name: { query: "lmap", fuzziness: "AUTO" } } }, (doc) => words(doc).includes("lamp")],
  ["match_phrase", { match_phrase: { name: "dark blue" } }, (doc) => /dark blue/.test(doc.name)],
  ["match_phrase_prefix", { match_phrase_prefix: { name: "blue ch" } }, (doc) => /blue chair/.test(doc.name)],
  ["match_bool_prefix", { match_bool_prefix: { name: "red ch" } }, (doc) => /red|chair/.test(doc.name)],
  ["multi_match", { multi_match: { query: "dark", fields: ["name", "note"] } }, (doc) => /dark/.test(doc.name)],
  ["query_string", { query_string: { query: "kind:lamp AND price:<5" } }, (doc) => doc.kind === "lamp" && doc.price < 5],
  [
    "simple_query_string",
    { simple_query_string: { query: "dark | (red + -book)", fields: ["name"] } },
    (doc) => /dark/.test(doc.name) || (/red/.test(doc.name) && doc.kind !== "book"),
  ],
  ["term", { term: { kind: { value: "chair" } } }, (doc) => doc.kind === "chair"],
  ["term of a flag", { term: { is_new: true } }, (doc) => doc.is_new],
  ["term of a day", { term: { sold: "2024-02-29" } }, (doc) => doc.sold.startsWith("2024-02-29")],
  ["terms", { terms: { kind: ["chair", "book"] } }, (doc) => doc.kind !== "lamp"],
  ["range", { range: { price: { gt: 10, lte: 50.25 } } }, (doc) => doc.price > 10 && doc.price <= 50.25],
  [
    "range of dates",
    { range: { sold: { gte: "2024-02-29||/d", lt: "2024-02-29||+1d/d" } } },
    (doc) => doc.sold.startsWith("2024-02-29"),
  ],
  ["exists", { exists: { field: "note" } }, (doc) => "note" in doc],
  ["prefix", { prefix: { kind: "bo" } }, (doc) => doc.kind === "book"],
  ["wildcard", { wildcard: { kind: { value: "*a*" } } }, (doc) => doc.kind.includes("a")],
  ["regexp", { regexp: { kind: "(b|l).*" } }, (doc) => /^[bl]/.test(doc.kind)],
  ["fuzzy", { fuzzy: { kind: { value: "chiar" } } }, (doc) => doc.kind === "chair"],
  [
    "bool",
    { bool: { should: [{ term: { kind: "lamp" } }, { prefix: { kind: "bo" } }], must_not: { match: { name: "green" } } } },
    (doc) => doc.kind !== "chair" && !/green/.test(doc.name),
  ],
  ["constant_score", { constant_score: { filter: { term: { kind: "book" } }, boost: 2 } }, (doc) => doc.kind === "book"],
  [
    "dis_max",
    { dis_max: { queries: [{ match: { name: "dark" } }, { term: { kind: "book" } }], tie_breaker: 0.5 } },
    (doc) => /dark/.test(doc.name) || doc.kind === "book",
  ],
  [
    "boosting",
    { boosting: { positive: { match: { name: "red" } }, negative: { term: { kind: "book" } }, negative_boost: 0.5 } },
    (doc) => /red/.test(doc.name),
  ],
];

for (const module of CLIENTS) {
  describe(`version ${module.version}`, () => {
    let client;
    before(() => (client = connect(module, { node: server.url })));
    after(() => client?.close());
    const search = (params) => client.search({ index: "shop", ...params });

    for (const [name, query, matches] of QUERIES) {
      test(`${name} finds what a scan finds`, async () => {
        const expected = scan(matches);
        assert.ok(expected.length > 0);
        const found = await search({ query, size: docs.length, sort: ["id"], track_total_hits: true });
        assert.deepEqual(idsOf(found), expected);
        assert.deepEqual(found.hits.total, { value: expected.length, relation: "eq" });
        assert.equal((await client.count({ index: "shop", query })).count, expected.length);
      });
    }

    test("hits are whole documents with scores", async () => {
      const found = await search({ query: { match: { name: "dark" } }, size: 20 });
      assert.equal(found.timed_out, false);
      for (const hit of found.hits.hits) {
        assert.equal(hit._index, "shop");
        assert.ok(hit._id && hit._score > 0 && hit._score <= found.hits.max_score);
        assert.deepEqual(hit._source, docs[hit._source.id]);
      }
    });

    test("pages go on behind the last hit", async () => {
      const sort = [{ price: "desc" }, { id: "asc" }];
      const seen = [];
      for (let after; ; ) {
        const page = await search({ size: 64, sort, ...(after && { search_after: after }) });
        if (page.hits.hits.length === 0) break;
        seen.push(...idsOf(page));
        after = page.hits.hits.at(-1).sort;
      }
      const expected = docs.toSorted((a, b) => b.price - a.price || a.id - b.id).map((doc) => doc.id);
      assert.deepEqual(seen, expected);
    });

    test("from and size are a page", async () => {
      const found = await search({ sort: [{ sold: { order: "desc" } }], from: 30, size: 7, _source: ["id"] });
      assert.deepEqual(idsOf(found), [469, 468, 467, 466, 465, 464, 463]);
      assert.deepEqual(found.hits.hits[0].sort, [Date.parse(docs[469].sold)]);
    });

    test("parts of documents are shown", async () => {
      const query = { term: { id: 8 } };
      const { hits } = await search({ query, _source: { excludes: ["name", "sold"] }, fields: ["kind"], docvalue_fields: ["price"] });
      const { name: _name, sold: _sold, ...rest } = docs[8];
      assert.deepEqual(hits.hits[0]._source, rest);
      assert.deepEqual(hits.hits[0].fields, { kind: [docs[8].kind], price: [docs[8].price] });
      const none = await search({ query, _source: false });
      assert.equal(none.hits.hits[0]._source, undefined);
    });

    test("matches are marked", async () => {
      const highlight = { fields: { name: {} }, pre_tags: ["<"], post_tags: [">"] };
      const found = await search({ query: { match: { name: "blue lamp" } }, highlight, size: 50 });
      for (const hit of found.hits.hits) {
        const marked = hit._source.name.replace(/blue|lamp/g, "<$&>");
        assert.deepEqual(hit.highlight.name, [marked]);
      }
    });

    test("totals are counted as far as asked", async () => {
      assert.deepEqual((await search({ track_total_hits: 100, sort: ["id"] })).hits.total, { value: 100, relation: "gte" });
      assert.equal((await search({ track_total_hits: false })).hits.total, undefined);
      assert.equal((await search({ rest_total_hits_as_int: true })).hits.total, docs.length);
    });

    test("aggregations are those of a scan", async () => {
      const aggs = {
        kinds: { terms: { field: "kind" }, aggs: { mean: { avg: { field: "price" } }, new: { filter: { term: { is_new: true } } } } },
        days: { date_histogram: { field: "sold", calendar_interval: "day" } },
        prices: { histogram: { field: "price", interval: 25 } },
        spread: { stats: { field: "price" } },
        halves: { range: { field: "price", ranges: [{ to: 50 }, { from: 50 }] } },
        noted: { value_count: { field: "note" } },
        bare: { missing: { field: "note" } },
      };
      const { aggregations } = await search({ size: 0, aggs });
      assert.equal(aggregations.kinds.buckets.length, 3);
      for (const { key, doc_count, mean, new: fresh } of aggregations.kinds.buckets) {
        const some = docs.filter((doc) => doc.kind === key);
        assert.equal(doc_count, some.length);
        assert.ok(near(mean.value, some.reduce((sum, doc) => sum + doc.price, 0) / some.length));
        assert.equal(fresh.doc_count, some.filter((doc) => doc.is_new).length);
      }
      const counted = (key) => Object.entries(groupBy(docs, key)).map(([of, some]) => [of, some.length]);
      const days = aggregations.days.buckets.map(({ key, doc_count }) => [new Date(key).toISOString().slice(0, 10), doc_count]);
      assert.deepEqual(days, counted((doc) => doc.sold.slice(0, 10)).sort());
      const prices = aggregations.prices.buckets.map(({ key, doc_count }) => [String(key), doc_count]);
      assert.deepEqual(prices, counted((doc) => Math.floor(doc.price / 25) * 25).sort((a, b) => a[0] - b[0]));
      const all = docs.map((doc) => doc.price);
      const { count, min, max, sum } = aggregations.spread;
      assert.deepEqual([count, min, max, sum], [all.length, Math.min(...all), Math.max(...all), all.reduce((a, b) => a + b)]);
      const low = all.filter((price) => price < 50).length;
      assert.deepEqual(aggregations.halves.buckets.map((bucket) => bucket.doc_count), [low, all.length - low]);
      const noted = scan((doc) => "note" in doc).length;
      assert.deepEqual([aggregations.noted.value, aggregations.bare.doc_count], [noted, docs.length - noted]);
    });

    test("many searches go in one request", async () => {
      const { responses } = await client.msearch({
        searches: [
          { index: "shop" },
          { size: 1, sort: ["id"] },
          { index: "shop" },
          { query: { nope: {} } },
          { index: "missing" },
          {},
          {},
          { size: 0, query: { term: { kind: "book" } } },
        ],
      });
      assert.equal(responses[0].hits.hits[0]._source.id, 0);
      assert.deepEqual(responses.map((response) => response.status), [200, 400, 404, 200]);
      assert.equal(responses[2].error.type, "index_not_found_exception");
      assert.equal(responses[3].hits.total.value, scan((doc) => doc.kind === "book").length);
    });

    test("a parameter in the URL is one of the body", async () => {
      const found = await search({ q: "kind:book", size: docs.length, sort: "id:desc", _source_includes: "id" });
      assert.deepEqual(idsOf(found), scan((doc) => doc.kind === "book").reverse());
      assert.equal((await client.count({ index: "shop", q: "kind:book" })).count, found.hits.total.value);
    });

    test("names of aggregations have their types in front", async () => {
      const aggs = { kinds: { terms: { field: "kind" } } };
      const { aggregations } = await search({ size: 0, aggs, typed_keys: true });
      assert.equal(aggregations["sterms#kinds"].buckets.length, 3);
    });
  });
}

function groupBy(items, key) {
  const groups = {};
  for (const item of items) (groups[key(item)] ??= []).push(item);
  return groups;
}
