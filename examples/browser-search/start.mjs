/*
 * `npm start`: builds the page and an index of generated logs, unless they are there, and serves them.
 *
 * INDEX is the folder of another index, PORT another port, CANTER another build of the command line.
 */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { serve } from "./serve.mjs";

const NUM_DOCS = 200_000;
const root = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "../../target");
const canter = process.env.CANTER ?? join(target, "debug/canter");

const page = join(root, "dist");
if (!existsSync(join(page, "app.js"))) await import("./build.mjs");
const index = process.env.INDEX ?? join(root, "index");
if (!existsSync(join(index, "manifest.canter"))) {
  if (process.env.INDEX !== undefined || !existsSync(canter)) {
    console.error(
      process.env.INDEX === undefined
        ? `there is no ${canter}: run \`cargo xtask demo --docs 1000\` first, or set CANTER`
        : `there is no index in ${index}: it has no manifest.canter`,
    );
    process.exit(1);
  }
  console.log(`making an index of ${NUM_DOCS} log lines in ${index}`);
  const size = ["--docs", String(NUM_DOCS), "--splits", "8"];
  execFileSync(canter, ["demo", ...size, "--dir", index], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
const server = await serve({ page, index, port: Number(process.env.PORT ?? 8080) });
console.log(`search at http://127.0.0.1:${server.address().port}/ (Ctrl-C ends it)`);
