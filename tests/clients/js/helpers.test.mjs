// Helpers of Elasticsearch's JavaScript clients (scrolls, many searches), what they ask of a cluster, errors and tokens.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { CLIENTS, connect, docs, isWorker, makeIndex, notYet, serve } from "./support.mjs";

let made, server, guarded;
const tokens = {};

before(async () => {
  made = makeIndex();
  server = await serve(made.index);
  const keys = `${made.folder}/keys.toml`;
  const add = (...args) => made.run("key", "add", "--file", keys, ...args).trim();
  tokens.everything = add("--id", "everything");
  tokens.books = add("--id", "books", "--index", "sh*", "--filter", "kind:book");
  guarded = await serve(made.index, keys);
});

after(() => {
  server?.stop();
  guarded?.stop();
  made?.remove();
});

const books = docs.filter((doc) => doc.kind === "book");
const byId = (hits) => hits.map((hit) => (hit._source ?? hit).id).sort((a, b) => a - b);
const bookIds = books.map((doc) => doc.id);

for (const module of CLIENTS) {
  const { errors } = module;
  describe(`version ${module.version}`, () => {
    let client;
    before(() => (client = connect(module, { node: server.url })));
    after(() => client?.close());

    test("a scroll is read page by page", async () => {
      let page = await client.search({ index: "shop", scroll: "1m", size: 200, sort: ["_doc"], _source: ["id"] });
      const pages = [];
      while (page.hits.hits.length > 0) {
        pages.push(page.hits.hits);
        page = await client.scroll({ scroll_id: page._scroll_id, scroll: "1m" });
      }
      assert.deepEqual(pages.map((hits) => hits.length), [200, 200, 100]);
      assert.deepEqual(byId(pages.flat()), docs.map((doc) => doc.id));
      assert.equal((await client.clearScroll({ scroll_id: page._scroll_id })).succeeded, true);
    });

    test("scrollSearch goes through all pages", async () => {
      const found = [];
      const query = { term: { kind: "book" } };
      for await (const page of client.helpers.scrollSearch({ index: "shop", size: 45, query, sort: ["_doc"] })) {
        found.push(...page.documents);
      }
      assert.deepEqual(byId(found), bookIds);
      assert.deepEqual(found.find((doc) => doc.id === 3), docs[3]);
    });

    test("scrollSearch ends when it is told to", async () => {
      let pages = 0;
      for await (const page of client.helpers.scrollSearch({ index: "shop", size: 100, sort: ["_doc"] })) {
        pages += 1;
        if (pages === 2) await page.clear();
      }
      assert.equal(pages, 2);
    });

    test("scrollSearch without a sort leaves nothing out", async () => {
      const found = [];
      for await (const page of client.helpers.scrollSearch({ index: "shop", size: 45 })) found.push(...page.documents);
      assert.deepEqual(byId(found), docs.map((doc) => doc.id));
    });

    test("scrollDocuments gives one document after the other", async () => {
      const found = [];
      const query = { term: { kind: "book" } };
      for await (const doc of client.helpers.scrollDocuments({ index: "shop", size: 45, query, sort: ["_doc"] })) {
        found.push(doc);
      }
      assert.deepEqual(byId(found), bookIds);
    });

    test("the helper search gives documents", async () => {
      const found = await client.helpers.search({ index: "shop", size: docs.length, query: { term: { kind: "book" } } });
      assert.deepEqual(byId(found), bookIds);
    });

    test("the helper msearch puts searches together", async () => {
      const many = client.helpers.msearch({ operations: 5, flushInterval: 50 });
      const kinds = ["book", "lamp", "chair", "none", "book", "lamp", "chair"];
      const answers = kinds.map((kind) => many.search({ index: "shop" }, { size: docs.length, query: { term: { kind } } }));
      const wrong = many.search({ index: "shop" }, { query: { nope: {} } });
      await assert.rejects(wrong, (error) => error instanceof errors.ResponseError && error.statusCode === 400);
      for (const [nth, answer] of answers.entries()) {
        const { documents } = await answer;
        assert.deepEqual(byId(documents), docs.filter((doc) => doc.kind === kinds[nth]).map((doc) => doc.id));
      }
      many.stop();
    });

    test("the cluster and its indexes tell of themselves", async () => {
      const info = await client.info();
      assert.match(info.version.number, /^[89]\./);
      assert.equal(await client.ping(), true);
      const health = await client.cluster.health({ wait_for_status: "green", timeout: "5s" });
      assert.deepEqual([health.status, health.timed_out], ["green", false]);
      assert.equal(await client.indices.exists({ index: "shop" }), true);
      assert.equal(await client.indices.exists({ index: "missing" }), false);
      const { shop } = await client.indices.get({ index: "sh*" });
      assert.equal(shop.mappings.properties.price.type, "double");
      const stats = await client.indices.stats({ index: "shop" });
      assert.equal(stats.indices.shop.total.docs.count, docs.length);
      const { indices } = await client.indices.resolveIndex({ name: "*" });
      assert.deepEqual(indices.map((index) => index.name), ["shop"]);
      const valid = (query) => client.indices.validateQuery({ index: "shop", query });
      assert.equal((await valid({ match_all: {} })).valid, true);
      // A search of it would be refused.
      assert.equal((await valid({ term: { nowhere: 1 } })).valid, false);
      const { nodes } = await client.nodes.info({ metric: "http" });
      assert.equal(Object.keys(nodes).length, isWorker ? 0 : 1);
    });

    test("fields have Elasticsearch's types", async () => {
      const { shop } = await client.indices.getMapping({ index: "shop" });
      const types = Object.entries(shop.mappings.properties).map(([name, { type }]) => [name, type]);
      assert.deepEqual(Object.fromEntries(types), {
        id: "unsigned_long",
        name: "text",
        kind: "keyword",
        price: "double",
        sold: "date",
        is_new: "boolean",
        note: "keyword",
      });
      const field = await client.indices.getFieldMapping({ index: "shop", fields: "is_*" });
      assert.deepEqual(Object.keys(field.shop.mappings), ["is_new"]);
      const caps = await client.fieldCaps({ index: "shop", fields: "*" });
      assert.deepEqual(Object.keys(caps.fields).sort(), ["id", "is_new", "kind", "name", "note", "price", "sold"]);
      assert.deepEqual([caps.fields.name.text.aggregatable, caps.fields.kind.keyword.aggregatable], [false, true]);
      const some = await client.fieldCaps({ index: "shop", fields: ["pr*", "kind"] });
      assert.deepEqual(Object.keys(some.fields).sort(), ["kind", "price"]);
    });

    test("lists for people are tables or JSON", async () => {
      const rows = await client.cat.indices({ format: "json" });
      assert.deepEqual([rows.length, rows[0].index, rows[0]["docs.count"]], [1, "shop", String(docs.length)]);
      const table = await client.cat.indices({ v: true, h: "index,docs.count" });
      assert.deepEqual(String(table).split(/\s+/).filter(Boolean), ["index", "docs.count", "shop", String(docs.length)]);
      const [health] = await client.cat.health({ format: "json" });
      assert.equal(health.status, "green");
    });

    for (const [name, params, status, type] of [
      ["an index that there is not", { index: "missing" }, 404, "index_not_found_exception"],
      ["a clause that there is not", { query: { nope: {} } }, 400, "parsing_exception"],
      ["a field that there is not", { query: { term: { nowhere: "x" } } }, 400, "search_phase_execution_exception"],
      ["a value of another type", { query: { term: { price: "cheap" } } }, 400, "search_phase_execution_exception"],
      ["a field that is not fast", { sort: ["name"] }, 400, "search_phase_execution_exception"],
      ["an aggregation that there is not", { aggs: { a: { nope: {} } } }, 400, "parsing_exception"],
    ]) {
      test(`${name} is an error of Elasticsearch's`, async () => {
        await assert.rejects(client.search({ index: "shop", ...params }), (error) => {
          assert.ok(error instanceof errors.ResponseError);
          assert.equal(error.statusCode, status);
          assert.equal(error.meta.body.error.type, type);
          assert.ok(error.meta.body.error.root_cause[0].reason);
          return true;
        });
      });
    }

    test("statuses may be ignored, and ids of requests come back", async () => {
      const missing = await client.search({ index: "missing" }, { ignore: [404], meta: true });
      assert.equal(missing.statusCode, 404);
      if (isWorker) return;
      const named = await client.count({ index: "shop" }, { opaqueId: "dashboard/3", meta: true });
      assert.equal(named.headers["x-opaque-id"], "dashboard/3");
    });

    test("a hung-up search is aborted", async () => {
      const controller = new AbortController();
      const found = client.search({ index: "shop" }, { signal: controller.signal });
      controller.abort();
      await assert.rejects(found, (error) => error instanceof errors.RequestAbortedError);
    });

    // A Worker knows no address of its own.
    const ofServer = isWorker ? (name, body) => notYet("no node has an address", name, body) : test;
    ofServer("a client that asks for nodes has one", async () => {
      const sniffing = connect(module, { node: server.url });
      await new Promise((resolve, reject) => {
        sniffing.transport.sniff({ reason: "test" });
        sniffing.diagnostic.on("sniff", (error) => (error ? reject(error) : resolve()));
      });
      try {
        assert.equal((await sniffing.count({ index: "shop" })).count, docs.length);
      } finally {
        await sniffing.close();
      }
    });

    test("bodies and answers may be compressed", async () => {
      const compressing = connect(module, { node: server.url, compression: true });
      const query = { terms: { id: Array.from({ length: 400 }, (_, id) => id) } };
      try {
        const found = await compressing.search({ index: "shop", size: docs.length, query, sort: ["id"] });
        assert.deepEqual(found.hits.hits.map((hit) => hit._source), docs.slice(0, 400));
      } finally {
        await compressing.close();
      }
    });

    test("each kind of token sees what it allows", async () => {
      for (const [holder, expected] of [["everything", docs.length], ["books", books.length]]) {
        const [id, secret] = tokens[holder].split(".");
        for (const auth of [
          { apiKey: { id, api_key: secret } },
          { apiKey: Buffer.from(`${id}:${secret}`).toString("base64") },
          { bearer: tokens[holder] },
          { username: id, password: secret },
        ]) {
          const holding = connect(module, { node: guarded.url, auth });
          assert.equal((await holding.count({ index: "shop" })).count, expected);
          await holding.close();
        }
      }
    });

    test("a token that is not right is told so", async () => {
      for (const auth of [undefined, { bearer: "books.guessed" }, { username: "books", password: "guessed" }]) {
        const guessing = connect(module, { node: guarded.url, ...(auth && { auth }) });
        await assert.rejects(guessing.search({ index: "shop" }), (error) => error.statusCode === 401);
        await guessing.close();
      }
    });
  });
}
