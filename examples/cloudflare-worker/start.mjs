/*
 * `npm start`: the Worker of `edge-adapters/cloudflare` in workerd, with the sample of `examples/access-logs`
 * in an emulated R2 bucket, on http://127.0.0.1:8787.
 *
 * PORT is another port, CANTER another build of the command line, INDEX the folder of another index (its
 * name in requests stays `logs`), API_KEYS a file of API keys.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { builtWorker } from "../../edge-adapters/cloudflare/miniflare.mjs";

const adapter = fileURLToPath(new URL("../../edge-adapters/cloudflare/", import.meta.url));
const sample = fileURLToPath(new URL("../access-logs/", import.meta.url));
const target =
  process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../target", import.meta.url));
const canter = process.env.CANTER ?? join(target, "debug/canter");
const built = builtWorker();
const { Miniflare } = createRequire(join(adapter, "package.json"))("miniflare");

const index = process.env.INDEX ?? makeIndex();
const worker = new Miniflare({
  ...built,
  host: "127.0.0.1",
  port: Number(process.env.PORT ?? 8787),
  r2Buckets: ["BUCKET"],
  serviceBindings: { SELF: { name: "canter-search", entrypoint: "LeafSearch" } },
  bindings: {
    INDEXES: { logs: "logs" },
    PLAN: "free",
    ALLOWED_ORIGINS: "*",
    ...(process.env.API_KEYS ? { API_KEYS: readFileSync(process.env.API_KEYS, "utf8") } : {}),
  },
});
const url = await worker.ready;
await upload(await worker.getR2Bucket("BUCKET"));
console.log(`the Worker listens on ${url}, with a search page (Ctrl-C ends it). Ask it, for example:

curl '${url}api/v1/logs/search?query=status:500&max_hits=2'`);

async function upload(bucket) {
  for (const entry of readdirSync(index, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (!entry.isFile() || path.endsWith(".lock")) continue;
    await bucket.put(`logs/${relative(index, path).replaceAll("\\", "/")}`, readFileSync(path));
  }
}

/** The sample in four splits, in a folder that goes when this ends. */
function makeIndex() {
  if (!existsSync(canter))
    fail(`there is no ${canter}: run \`cargo xtask demo --docs 1000\` first, or set CANTER`);
  const folder = mkdtempSync(join(tmpdir(), "canter-worker-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
  const options = {
    "--index": join(folder, "index"),
    "--index-config": join(sample, "index-config.yaml"),
    "--input": join(sample, "access-logs.ndjson"),
    "--rejects": join(folder, "rejects.ndjson"),
    "--split-num-docs": "100",
  };
  execFileSync(canter, ["index", "ingest", ...Object.entries(options).flat()], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  return join(folder, "index");
}

function fail(what) {
  console.error(what);
  process.exit(1);
}
