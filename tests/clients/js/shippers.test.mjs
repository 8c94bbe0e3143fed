// What sends logs from JavaScript, as its documentation says, to `canter serve --writable`: the bulk helper of Elasticsearch's
// clients, and the transports of pino and winston. No line may be lost, or be in the index twice.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";

import pino from "pino";
import pinoElastic from "pino-elasticsearch";
import winston from "winston";
import { ElasticsearchTransport } from "winston-elasticsearch";

import { holdsEach, lines, sleep, takeLogs } from "./shipping.mjs";
import { CLIENTS, connect, isWorker } from "./support.mjs";

const NUM_LINES = 1_500;
const ECS = { time: "@timestamp", text: "message" };

let server;
afterEach(() => server?.stop());

/** What a bulk helper takes: the lines as documents of the Elastic Common Schema. */
const documents = (texts) => texts.map((message, nth) => ({ "@timestamp": new Date(nth).toISOString(), message }));

describe("shippers", { skip: isWorker && "a Worker only searches" }, () => {
  for (const module of CLIENTS) {
    const bulk = (client, options) =>
      client.helpers.bulk({ onDocument: () => ({ create: { _index: "logs" } }), wait: 100, flushBytes: 100_000, ...options });

    test(`the bulk helper ${module.version} sends each line once`, async () => {
      server = await takeLogs(ECS, "--commit-interval", "50ms");
      const client = connect(module, { node: server.url, compression: true });
      const stats = await bulk(client, { datasource: documents(lines(NUM_LINES)), concurrency: 3 });
      assert.deepEqual([stats.successful, stats.failed, stats.aborted], [NUM_LINES, 0, false]);
      await holdsEach(server, lines(NUM_LINES));
      await client.close();
    });

    test(`the bulk helper ${module.version} is told which documents were not taken`, async () => {
      server = await takeLogs(ECS, "--commit-interval", "50ms");
      const client = connect(module, { node: server.url });
      const datasource = documents(lines(20));
      datasource[3]["@timestamp"] = "never";
      datasource[8] = { message: "without a time" };
      const dropped = [];
      const stats = await bulk(client, { datasource, onDrop: ({ document, error }) => dropped.push([document, error.type]) });
      assert.deepEqual([stats.successful, stats.failed], [18, 2]);
      assert.deepEqual(dropped, [3, 8].map((nth) => [datasource[nth], "document_parsing_exception"]));
      await client.close();
    });

    test(`the bulk helper ${module.version} may send again what a killed server did not acknowledge`, async () => {
      server = await takeLogs(ECS, "--commit-interval", "100ms");
      const client = connect(module, { node: server.url, maxRetries: 0 });
      const sent = lines(NUM_LINES);
      const acknowledged = new Set();
      const send = async (texts) => {
        const onSuccess = ({ document }) => acknowledged.add(document.message);
        return bulk(client, { datasource: documents(texts), flushBytes: 20_000, concurrency: 1, onSuccess });
      };
      const sending = send(sent).catch((error) => error);
      while (acknowledged.size === 0) await sleep(10);
      await server.kill();
      assert.ok((await sending) instanceof module.errors.ConnectionError);
      await server.start();
      // Without an answer nobody knows: those of the last request may be there.
      const kept = new Set(await server.texts());
      assert.ok([...acknowledged].every((text) => kept.has(text)), "an acknowledged line is lost");
      await send(sent.filter((text) => !kept.has(text)));
      await holdsEach(server, sent);
      await client.close();
    });
  }

  test("pino-elasticsearch sends each line once", async () => {
    const fields = { time: "time", text: "msg" };
    server = await takeLogs(fields, "--commit-interval", "50ms");
    const stream = pinoElastic({ index: "logs", node: server.url, esVersion: 8, flushBytes: 100_000, flushInterval: 200 });
    const problems = [];
    for (const event of ["unknown", "insertError", "error"]) stream.on(event, (problem) => problems.push(problem));
    const inserted = new Promise((resolve) => stream.on("insert", resolve));
    const log = pino({}, stream);
    for (const text of lines(NUM_LINES)) log.info({ nested: { list: [1, { of: 2 }] } }, text);
    stream.end();
    assert.equal((await inserted).successful, NUM_LINES);
    assert.deepEqual(problems, []);
    await holdsEach(server, lines(NUM_LINES));
  });

  /** Logs with winston, and waits until it has sent all, or for some seconds. */
  const logWithWinston = async (options) => {
    const transport = new ElasticsearchTransport({
      index: "logs",
      clientOpts: { node: server.url },
      flushInterval: 100,
      retryLimit: 2,
      internalLogger: () => {},
      ...options,
    });
    transport.on("error", () => {});
    const log = winston.createLogger({ transports: [transport] });
    for (const text of lines(100)) log.info(text);
    for (let tries = 0; tries < 20 && (await server.texts()).length < 100; tries += 1) await sleep(100);
    transport.bulkWriter.stop();
    await holdsEach(server, lines(100));
  };

  test("winston-elasticsearch sends each line once", async () => {
    server = await takeLogs(ECS, "--commit-interval", "50ms");
    await logWithWinston({ ensureIndexTemplate: false });
  });
});
