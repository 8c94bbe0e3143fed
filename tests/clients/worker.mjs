// The Worker on workerd over the index in a folder, until its standard input ends: `node worker.mjs FOLDER`.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { startWorker } from "../../edge-adapters/cloudflare/tests/support/worker.mjs";

const [folder] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const objects = new Map(
  files.map((file) => {
    const path = join(file.parentPath, file.name);
    return [relative(folder, path), readFileSync(path)];
  }),
);
const { worker } = await startWorker({ objects, bindings: { PLAN: "paid" } });
console.log(String(await worker.ready));
process.stdin.resume();
process.stdin.on("end", async () => {
  await worker.dispose();
  process.exit(0);
});
