/*
 * The Worker on real workerd, with R2 and the Cache API emulated by miniflare.
 */

import { Miniflare } from "miniflare";

import { builtWorker } from "../../miniflare.mjs";

/** Starts the Worker over `objects` in R2 under the prefix `tenants/logs`, or over `urls`. */
export async function startWorker({ objects, urls, bindings = {}, self = true, cacheFolder }) {
  const worker = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    inspectorPort: 0,
    ...(cacheFolder === undefined ? {} : { cachePersist: cacheFolder }),
    workers: [
      {
        ...builtWorker(),
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
