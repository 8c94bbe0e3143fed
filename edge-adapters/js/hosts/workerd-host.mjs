/*
 * The search API in workerd, the runtime of Cloudflare Workers: the Worker of `edge-adapters/cloudflare`
 * under miniflare, reading web servers instead of R2. `--cache memory` and a folder both mean the Cache API,
 * which a folder outlives.
 */

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

import { announce, readArguments } from "./arguments.mjs";

const { port, indexes, cache } = readArguments(process.argv.slice(2));
const adapter = new URL("../../cloudflare/", import.meta.url);
const { Miniflare } = createRequire(new URL("package.json", adapter))("miniflare");
const dist = fileURLToPath(new URL("dist/", adapter));
if (!existsSync(`${dist}worker.js`)) {
  console.error(
    `there is no ${dist}worker.js: run \`npm ci && npm run build\` in edge-adapters/cloudflare`,
  );
  process.exit(1);
}

const worker = new Miniflare({
  host: "127.0.0.1",
  port,
  modulesRoot: dist,
  modules: [
    { type: "ESModule", path: `${dist}worker.js` },
    ...["core", "core2", "core3"].map((name) => ({
      type: "CompiledWasm",
      path: `${dist}canter-guest.${name}.wasm`,
    })),
  ],
  compatibilityDate: "2026-07-01",
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
