// Indexes and templates made, shown and deleted by Elasticsearch's clients, on `canter serve --writable --indexes-in`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { CLIENTS, connect, isWorker, urlOf } from "./support.mjs";

const MAPPINGS = {
  properties: {
    "@timestamp": { type: "date" },
    message: { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } },
    tags: { type: "keyword" },
  },
};

const event = (number) => ({
  "@timestamp": new Date(Date.UTC(2026, 10, 5, 10, 0, number)).toISOString(),
  message: `event ${number} came in`,
  tags: ["all", `n${number % 3}`],
});

/** Serves a new folder in which no index is yet. */
async function manage() {
  const folder = mkdtempSync(join(tmpdir(), "canter-managing-"));
  const args = ["serve", "--indexes-in", join(folder, "all"), "--writable", "--auto-create-index", "none", "--commit-interval", "50ms"];
  const listen = ["--listen", "127.0.0.1:0", "--engine", process.env.ENGINE ?? "wasm"];
  const server = spawn(process.env.CANTER, [...args, ...listen]);
  const url = await urlOf(server);
  const stop = async () => {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url, stop };
}

/** Fails unless a call is refused with this status and Elasticsearch's word for it. */
const refused = (call, status, type) =>
  assert.rejects(call, (error) => {
    assert.deepEqual([error.statusCode, error.meta.body.error.type], [status, type]);
    return true;
  });

for (const module of CLIENTS) {
  describe(`indexes that come and go, ${module.version}`, { skip: isWorker && "a Worker only searches" }, () => {
    let server, client;
    before(async () => {
      server = await manage();
      client = connect(module, { node: server.url });
    });
    after(async () => {
      await client?.close();
      await server?.stop();
    });

    test("an index is made, found, filled and deleted", async () => {
      assert.equal(await client.indices.exists({ index: "logs" }), false);
      const made = await client.indices.create({ index: "logs", mappings: MAPPINGS, settings: { number_of_shards: 1 } });
      assert.deepEqual(made, { acknowledged: true, shards_acknowledged: true, index: "logs" });
      assert.equal(await client.indices.exists({ index: "logs" }), true);
      await refused(client.indices.create({ index: "logs" }), 400, "resource_already_exists_exception");
      const onDocument = () => ({ create: { _index: "logs" } });
      const stats = await client.helpers.bulk({ datasource: Array.from({ length: 60 }, (_, n) => event(n)), onDocument });
      assert.deepEqual([stats.successful, stats.failed], [60, 0]);
      const found = await client.search({ index: "logs", query: { term: { "message.keyword": "event 7 came in" } } });
      assert.deepEqual(found.hits.hits.map((hit) => hit._source), [event(7)]);
      assert.deepEqual(await client.indices.delete({ index: "logs" }), { acknowledged: true });
      assert.equal(await client.indices.exists({ index: "logs" }), false);
      await refused(client.indices.delete({ index: "logs" }), 404, "index_not_found_exception");
    });

    test("patterns delete nothing, and lists of names delete each", async () => {
      await client.indices.create({ index: "one" });
      await client.indices.create({ index: "two" });
      for (const index of ["*", "_all", ["one", "t*"]]) {
        await refused(client.indices.delete({ index }), 400, "illegal_argument_exception");
      }
      assert.deepEqual(await client.indices.delete({ index: ["one", "two"] }), { acknowledged: true });
    });

    test("what would not mean the same is refused", async () => {
      const mappings = { properties: { f: { type: "text", analyzer: "mine" } } };
      await refused(client.indices.create({ index: "bad", mappings }), 400, "mapper_parsing_exception");
      await refused(client.indices.create({ index: "Bad" }), 400, "invalid_index_name_exception");
    });

    test("a document makes the index that a template describes", async () => {
      const template = { mappings: MAPPINGS };
      await client.cluster.putComponentTemplate({ name: "part", template });
      const put = { name: "app", index_patterns: ["app-*"], priority: 5, composed_of: ["part"], data_stream: {} };
      assert.deepEqual(await client.indices.putIndexTemplate(put), { acknowledged: true });
      assert.equal(await client.indices.existsIndexTemplate({ name: "app" }), true);
      const shown = await client.indices.getIndexTemplate({ name: "app" });
      assert.deepEqual(shown.index_templates.map((one) => one.name), ["app"]);
      const { result } = await client.index({ index: "app-web", document: event(1), op_type: "create" });
      assert.equal(result, "created");
      assert.equal((await client.count({ index: "app-web", query: { match: { message: "came" } } })).count, 1);
      const streams = await client.indices.getDataStream({ name: "app-*" });
      assert.deepEqual(streams.data_streams.map((one) => one.name), ["app-web"]);
      await refused(client.index({ index: "other", document: event(1) }), 404, "index_not_found_exception");
      await client.indices.deleteDataStream({ name: "app-web" });
      await client.indices.deleteIndexTemplate({ name: "app" });
      await client.cluster.deleteComponentTemplate({ name: "part" });
      assert.equal(await client.indices.existsIndexTemplate({ name: "app" }), false);
    });
  });
}
