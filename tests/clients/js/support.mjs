// An index of known documents, a host that serves it, and Elasticsearch's clients, whose calls are counted.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as version8 from "elasticsearch8";
import * as version9 from "elasticsearch9";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const versionOf = (name) => dependencies[name].split("@").at(-1);

export const CLIENTS = [
  { version: versionOf("elasticsearch8"), ...version8 },
  { version: versionOf("elasticsearch9"), ...version9 },
];

export const isWorker = process.env.HOST === "worker";

const canter = process.env.CANTER;
const NUM_DOCS = 500;
const CONFIG = `
version: 0.9
index_id: shop
doc_mapping:
  mode: strict
  timestamp_field: sold
  field_mappings:
    - {name: id, type: u64, fast: true}
    - {name: name, type: text, record: position}
    - {name: kind, type: text, tokenizer: raw, fast: true}
    - {name: price, type: f64, fast: true}
    - {name: sold, type: datetime, fast: true, input_formats: [rfc3339], fast_precision: milliseconds}
    - {name: is_new, type: bool, fast: true}
    - {name: note, type: text, tokenizer: raw, fast: true}
search_settings:
  default_search_fields: [name]
`;

const KINDS = ["book", "lamp", "chair"];
const COLOURS = ["red", "green", "blue", "dark blue"];
const START_MS = Date.UTC(2024, 1, 28, 22);

export const docs = Array.from({ length: NUM_DOCS }, (_, id) => ({
  id,
  name: `A ${COLOURS[(id * 7) % 4]} ${KINDS[id % 3]}`,
  kind: KINDS[id % 3],
  price: ((id * 37) % 400) / 4,
  // As documents are shown: without fractions of a second that are 0.
  sold: new Date(START_MS + id * 450_000).toISOString().replace(".000Z", "Z"),
  is_new: id % 5 < 2,
  ...(id % 4 === 0 && { note: `note ${id % 3}` }),
}));

/** The documents as an index of three splits in a new folder. */
export function makeIndex() {
  const folder = mkdtempSync(join(tmpdir(), "canter-clients-"));
  const [config, lines, index] = ["index.yaml", "docs.ndjson", "shop"].map((name) => join(folder, name));
  const run = (...args) => execFileSync(canter, args, { stdio: "pipe", encoding: "utf8" });
  writeFileSync(config, CONFIG);
  run("index", "create", "--index", index, "--index-config", config);
  for (const [from, to] of [[0, 150], [150, 320], [320, NUM_DOCS]]) {
    writeFileSync(lines, docs.slice(from, to).map((doc) => JSON.stringify(doc) + "\n").join(""));
    run("index", "ingest", "--index", index, "--input", lines);
  }
  const remove = () => rmSync(folder, { recursive: true, force: true });
  return { folder, index, run, remove };
}

/** The URL that a server says when it listens; fails if it ends first. */
export const urlOf = (server) =>
  new Promise((resolve, reject) => {
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

/** Serves an index, to holders of `keys` if there are any: with `canter serve`, or with HOST=worker by the Worker on workerd. */
export async function serve(index, keys) {
  const worker = fileURLToPath(new URL("../worker.mjs", import.meta.url));
  const listen = ["--listen", "127.0.0.1:0", "--engine", process.env.ENGINE ?? "wasm"];
  const server = isWorker
    ? spawn("node", [worker, index, "shop", ...(keys ? [keys] : [])])
    : spawn(canter, ["serve", "--index", `shop=${index}`, ...listen, ...(keys ? ["--api-keys", keys] : [])]);
  const url = await urlOf(server);
  return { url, stop: () => server.kill() };
}

const calls = new Map();

/** A client; each answer that it has is counted. */
export function connect({ Client, version }, options) {
  const client = new Client(options);
  client.diagnostic.on("response", (_, result) => {
    if (!result?.statusCode) return;
    const words = result.meta.request.params.path.split("/").filter((word) => word.startsWith("_"));
    const kinds = calls.get(version) ?? new Map();
    const kind = words.at(-1) ?? "index";
    calls.set(version, kinds.set(kind, (kinds.get(kind) ?? 0) + 1));
  });
  return client;
}

// Fewer calls with one version of the client: tests were skipped, or say nothing of what they ask.
const LEAST_CALLS = { "search.test.mjs": isWorker ? 20 : 60, "helpers.test.mjs": isWorker ? 20 : 60 };
const isSelection = process.execArgv.some((arg) => /^--test-(name-pattern|skip-pattern|only)/.test(arg));

process.on("exit", () => {
  const least = LEAST_CALLS[basename(process.argv[1])] ?? 0;
  for (const [version, kinds] of calls) {
    const sorted = [...kinds].sort((a, b) => b[1] - a[1]);
    const total = sorted.reduce((sum, [, num]) => sum + num, 0);
    const shown = sorted.map(([kind, num]) => `${kind} ${num}`).join(", ");
    console.log(`@elastic/elasticsearch ${version}: ${total} API calls (${shown})`);
    if (total < least && !isSelection && !process.exitCode) {
      console.log(`these are not at least ${least}`);
      process.exitCode = 1;
    }
  }
});

/** A test of what does not work yet: it fails when that works, so that it becomes a test like the others. */
export function notYet(reason, name, body) {
  test(`not yet (${reason}): ${name}`, () => assert.rejects(async () => body(), undefined, "this works now"));
}
