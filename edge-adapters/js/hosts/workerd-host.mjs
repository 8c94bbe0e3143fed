/*
 * The search API in workerd, the runtime of Cloudflare Workers: the Worker of `edge-adapters/cloudflare`
 * under miniflare, reading web servers instead of R2. `--cache memory` and a folder both mean the Cache API,
 * which a folder outlives.
 */

import { createRequire } from "node:module";

import { builtWorker } from "../../cloudflare/miniflare.mjs";
import { announce, readArguments } from "./arguments.mjs";

const { port, indexes, cache } = readArguments(process.argv.slice(2));
const adapter = new URL("../../cloudflare/", import.meta.url);
const { Miniflare } = createRequire(new URL("package.json", adapter))("miniflare");

const worker = new Miniflare({
  host: "127.0.0.1",
  port,
  ...builtWorker(),
  bindings: {
    INDEXES: indexes,
    PLAN: "paid",
    CACHE: cache === "none" ? "off" : "on",
    ALLOWED_ORIGINS: "*",
  },
  ...(["none", "memory"].includes(cache) ? {} : { cachePersist: cache }),
});
const url = await worker.ready;
announce(url.port);
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    await worker.dispose();
    process.exit(0);
  });
}
