// A server that takes documents and may be killed and started again, and log lines that are hard to carry.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { urlOf } from "./support.mjs";

const canter = process.env.CANTER;

/** The config of an index whose documents have their time and text in these fields. */
const config = ({ time, text }) => `
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: "${time}"
  field_mappings:
    - {name: "${time}", type: datetime, fast: true, input_formats: [rfc3339, unix_timestamp]}
    - {name: "${text}", type: text, record: position}
search_settings:
  default_search_fields: ["${text}"]
`;

/** Starts a server over a new index `logs`. It listens on one port, however often it is started. */
export async function takeLogs(fields, ...more) {
  const folder = mkdtempSync(join(tmpdir(), "canter-shippers-"));
  const [file, index] = ["index.yaml", "logs"].map((name) => join(folder, name));
  writeFileSync(file, config(fields));
  execFileSync(canter, ["index", "create", "--index", index, "--index-config", file], { stdio: "pipe" });
  const args = ["serve", "--index", `logs=${index}`, "--engine", process.env.ENGINE ?? "wasm", "--writable", ...more];
  let server, url;

  const start = async () => {
    server = spawn(canter, [...args, "--listen", url?.slice("http://".length) ?? "127.0.0.1:0"]);
    url = await urlOf(server);
  };
  const end = async (signal) => {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill(signal);
    await ended;
  };
  /** The texts of all documents, in their order. */
  const texts = async () => {
    const body = JSON.stringify({ size: 10_000, _source: [fields.text] });
    await fetch(`${url}/logs/_refresh`, { method: "POST" });
    const answer = await fetch(`${url}/logs/_search`, { method: "POST", body, headers: { "content-type": "application/json" } });
    const { hits } = await answer.json();
    return hits.hits.map((hit) => hit._source[fields.text]).sort(byNumber);
  };
  const stop = async () => {
    await end("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  };
  await start();
  return { url, start, kill: () => end("SIGKILL"), stop, texts };
}

/** A line of a log, with what JSON, UTF-8 and line feeds make hard. */
export function line(number) {
  const rest = [
    "GET /cart status=200",
    "Ünïcödé 日本語 🎉 \u2028 \u0085 \u202e",
    'a "quoted" \\ backslash, \\u0041 and {"json": [1, 2}',
    "\u0000 \u0001 \u001b[31mred\u001b[0m \u007f and\ttabs",
    "two\nlines\r\nor three",
    "x".repeat(number % 50 === 5 ? 40_000 : 400),
    "   spaces   ",
  ][number % 7];
  return `${number} ${rest}`;
}

export const lines = (num) => Array.from({ length: num }, (_, number) => line(number));

const byNumber = (a, b) => parseInt(a, 10) - parseInt(b, 10);

/** Each of the lines came in, as it was, and once. */
export async function holdsEach(server, expected) {
  const found = await server.texts();
  assert.equal(found.length, expected.length);
  assert.deepEqual(found, expected);
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
