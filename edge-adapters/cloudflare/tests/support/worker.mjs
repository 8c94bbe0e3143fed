/*
 * The Worker on real workerd, with R2 and the Cache API emulated by miniflare.
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { Miniflare } from "miniflare";

const dist = fileURLToPath(new URL("../../dist/", import.meta.url));

/** Starts the Worker over `objects` in R2 under the prefix `tenants/logs`, or over `urls`. */
export async function startWorker({ objects, urls, bindings = {}, self = true, cacheFolder }) {
  if (!existsSync(`${dist}worker.js`)) throw new Error("run `npm run build` first");
  const worker = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    inspectorPort: 0,
    ...(cacheFolder === undefined ? {} : { cachePersist: cacheFolder }),
    workers: [
      {
        name: "canter-search",
        modulesRoot: dist,
        modules: [
          { type: "ESModule", path: `${dist}worker.js` },
          ...["core", "core2", "core3"].map((name) => ({
            type: "CompiledWasm",
            path: `${dist}canter-guest.${name}.wasm`,
          })),
        ],
        compatibilityDate: "2026-07-01",
        ...(objects === undefined ? {} : { r2Buckets: ["BUCKET"] }),
        ...(self
          ? { serviceBindings: { SELF: { name: "canter-search", entrypoint: "LeafSearch" } } }
          : {}),
        bindings: {
          INDEXES: objects === undefined ? urls : { logs: "tenants/logs" },
          PLAN: "free",
          ALLOWED_ORIGINS: "https://app.example.com, http://localhost:3000",
          ...bindings,
        },
      },
    ],
  });
  const url = await worker.ready;
  if (objects !== undefined) {
    const bucket = await worker.getR2Bucket("BUCKET");
    for (const [name, bytes] of objects) await bucket.put(`tenants/logs/${name}`, bytes);
  }
  const fetch = (path, init) => globalThis.fetch(new URL(path, url), init);
  return {
    worker,
    fetch,
    async search(body, init = {}) {
      const headers = { "content-type": "application/json", ...init.headers };
      const response = await fetch("/api/v1/logs/search", {
        method: "POST",
        body: JSON.stringify(body),
        headers,
      });
      const count = (name) => Number(response.headers.get(`x-canter-${name}`) ?? 0);
      return {
        status: response.status,
        headers: response.headers,
        requests: count("requests"),
        subrequests: Math.max(count("subrequests"), count("requests")),
        body: await response.json(),
      };
    },
    stop: () => worker.dispose(),
  };
}
