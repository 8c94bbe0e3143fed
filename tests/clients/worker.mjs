// The Worker on workerd over the index in a folder, until its standard input ends: `node worker.mjs FOLDER [NAME [KEYS]]`. KEYS is
// a file of API keys.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

import { startWorker } from "../../edge-adapters/cloudflare/tests/support/worker.mjs";

const [folder, name = "logs", keys] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
const objects = new Map(
  files.map((file) => {
    const path = join(file.parentPath, file.name);
    return [relative(folder, path), readFileSync(path)];
  }),
);
// The objects are put where the Worker's own tests have theirs; what the index is called is said here.
const bindings = {
  PLAN: "paid",
  INDEXES: { [name]: "tenants/logs" },
  ...(keys === undefined ? {} : { API_KEYS: readFileSync(keys, "utf8") }),
};
const { worker } = await startWorker({ objects, bindings });
console.log(String(await worker.ready));
process.stdin.resume();
process.stdin.on("end", async () => {
  await worker.dispose();
  process.exit(0);
});
