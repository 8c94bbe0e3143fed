/*
 * `npm start`: makes vectors, documents and index unless they are there, builds the page and serves all of it.
 *
 * PORT is another port, CANTER another build of the command line.
 */

import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { serve } from "../browser-search/serve.mjs";
import { make } from "./make.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "../../target");
const canter = process.env.CANTER ?? join(target, "debug/canter");
const [data, index] = [join(root, "data"), join(root, "index")];
if (!existsSync(join(index, "manifest.canter"))) {
  if (!existsSync(canter)) {
    console.error(`there is no ${canter}: run \`cargo xtask demo --docs 1000\` first, or set CANTER`);
    process.exit(1);
  }
  const { numDocs, numWords } = await make(data);
  console.log(`${numDocs} documents, vectors of ${numWords} words`);
  const config = ["--index-config", join(root, "canter.yaml")];
  const input = ["--input", join(data, "documents.ndjson")];
  execFileSync(canter, ["index", "ingest", "--index", index, ...config, ...input], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}
await import("./build.mjs");
for (const name of ["words.json", "vectors.bin"]) {
  cpSync(join(data, name), join(root, "dist/data", name));
}
const server = await serve({ page: join(root, "dist"), index, port: Number(process.env.PORT ?? 8080) });
console.log(`search at http://127.0.0.1:${server.address().port}/ (Ctrl-C ends it)`);
