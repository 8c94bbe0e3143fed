/*
 * A browser: indexes on any server that honours `Range` (and CORS, if it is another origin), a cache that
 * outlives the page, and answers from it when there is no network.
 *
 * `startCanter` runs the guest in a Web Worker, so that a search never blocks the page; in a worker of
 * your own, `createBrowserCanter` runs it right there.
 */

import { cacheApiCache } from "../cache/cache-api.js";
import type { EntryCache } from "../cache/contract.js";
import { memoryCache } from "../cache/memory.js";
import { namespaceOf } from "../cache/namespace.js";
import { opfsCache } from "../cache/opfs.js";
import { tieredCache } from "../cache/tiered.js";
import { type Canter, createCanter } from "../canter.js";
import { CanterError } from "../errors.js";
import type { SearchReport } from "../io/report.js";
import type { BudgetOptions } from "../options.js";
import type { HttpRequest, HttpResponse } from "../protocol.js";
import { httpStore } from "../store/http.js";

export * from "../index.js";
export { opfsCache };

/** Settings of a `Canter` in a browser: plain data, so that they can be sent to a worker. */
export interface BrowserOptions {
  /** Where each index is, by its name: a URL, relative to the page or absolute. */
  readonly indexes: Readonly<Record<string, string>>;
  /** The folder with the guest's modules: a URL that ends in a slash. */
  readonly guestUrl: string;
  /** What keeps bytes: the Cache API (the default), the origin's private file system, memory, nothing. */
  readonly cache?: "cache-api" | "opfs" | "memory" | "none";
  /** Most bytes in the private file system, and about that in the Cache API; 256 MiB by default. */
  readonly maxCacheBytes?: number;
  readonly budget?: BudgetOptions;
  readonly limits?: Readonly<Record<string, unknown>>;
  readonly manifestTtlMs?: number;
}

const MEMORY_BYTES = 32 * 1024 * 1024;
const CACHE_BYTES = 256 * 1024 * 1024;
const BYTES_PER_ENTRY = 64 * 1024;

/** A `Canter` on this thread. */
export async function createBrowserCanter(options: BrowserOptions): Promise<Canter> {
  const base = globalThis.location.href;
  const places = Object.entries(options.indexes).map(
    ([name, url]) => [name, new URL(url, base)] as const,
  );
  const indexes = Object.fromEntries(places);
  const isForeign = places.some(([, url]) => url.origin !== globalThis.location.origin);
  const cache = await cacheOf(options);
  const { budget, limits, manifestTtlMs } = options;
  return createCanter({
    module: (name) => loadModule(new URL(name, new URL(options.guestUrl, base))),
    indexes: Object.keys(indexes),
    fetchRange: httpStore({
      indexes,
      // Blocks have a cache of their own, and a copy in the browser's would only push out other things.
      requestInit: { cache: "no-store", credentials: "same-origin" },
      checksRedirects: "after",
      revalidatesBy: isForeign ? "http-cache" : "header",
    }),
    ...(cache === undefined ? {} : { cache }),
    cacheNamespace: namespaceOf(indexes),
    usesStaleManifest: true,
    waitUntil: () => undefined,
    ...(budget === undefined ? {} : { budget }),
    ...(limits === undefined ? {} : { limits }),
    ...(manifestTtlMs === undefined ? {} : { manifestTtlMs }),
  });
}

async function cacheOf(options: BrowserOptions): Promise<EntryCache | undefined> {
  const near = memoryCache(MEMORY_BYTES);
  const maxBytes = options.maxCacheBytes ?? CACHE_BYTES;
  switch (options.cache ?? "cache-api") {
    case "none":
      return undefined;
    case "memory":
      return near;
    case "opfs":
      return tieredCache(near, await opfsCache({ maxBytes }));
    case "cache-api": {
      // Missing where the page is not served over https or from this machine.
      if (globalThis.caches === undefined) return near;
      const maxEntries = Math.max(Math.floor(maxBytes / BYTES_PER_ENTRY), 16);
      return tieredCache(near, cacheApiCache(await caches.open("canter"), { maxEntries }));
    }
  }
}

async function loadModule(url: URL): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) {
    throw new CanterError(
      "unavailable",
      `the guest cannot be loaded: ${url.pathname}, status ${response.status}`,
    );
  }
  const isTyped = response.headers.get("content-type")?.startsWith("application/wasm") === true;
  // Some static hosts do not know the type of .wasm, and only with it can a stream be compiled.
  return isTyped
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

/** An answer, as it comes from the worker. */
export interface WorkerAnswer {
  readonly response: HttpResponse;
  readonly report: SearchReport;
}

/** What the page sends to the worker; the first message has the options. */
export type WorkerRequest =
  | { readonly id: number; readonly options: BrowserOptions }
  | { readonly id: number; readonly request: HttpRequest }
  | { readonly id: number; readonly abort: true };

/** What the worker sends back. */
export type WorkerReply =
  | { readonly id: number; readonly answer: WorkerAnswer | null }
  | { readonly id: number; readonly failure: string };

/** A `Canter` in a worker, as the page sees it. */
export interface BrowserCanter {
  /** Answers a request to the search API. */
  handle(request: HttpRequest, signal?: AbortSignal): Promise<WorkerAnswer>;
  /** Ends the worker. */
  close(): void;
}

/** Starts the guest in `worker`, which runs `canter-search/browser-worker`. */
export async function startCanter(worker: Worker, options: BrowserOptions): Promise<BrowserCanter> {
  const waiting = new Map<
    number,
    { resolve(answer: WorkerAnswer | null): void; reject(error: Error): void }
  >();
  let lastId = 0;
  worker.addEventListener("message", ({ data }: MessageEvent<WorkerReply>) => {
    const caller = waiting.get(data.id);
    waiting.delete(data.id);
    if ("answer" in data) caller?.resolve(data.answer);
    else caller?.reject(new CanterError("internal", data.failure));
  });
  worker.addEventListener("error", (event) => {
    for (const caller of waiting.values()) {
      caller.reject(new CanterError("internal", `the worker broke off: ${event.message}`));
    }
    waiting.clear();
  });
  const ask = (message: (id: number) => WorkerRequest, signal?: AbortSignal) =>
    new Promise<WorkerAnswer | null>((resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, { resolve, reject });
      signal?.addEventListener("abort", () => worker.postMessage({ id, abort: true }));
      worker.postMessage(message(id));
    });
  // A worker of this origin resolves URLs against its own file; the page's base is meant.
  const absolute = (url: string) => new URL(url, globalThis.location.href).href;
  const indexes = Object.entries(options.indexes).map(([name, url]) => [name, absolute(url)]);
  const resolved: BrowserOptions = {
    ...options,
    indexes: Object.fromEntries(indexes) as Record<string, string>,
    guestUrl: absolute(options.guestUrl),
  };
  await ask((id) => ({ id, options: resolved }));
  return {
    async handle(request, signal) {
      const answer = await ask((id) => ({ id, request }), signal);
      if (answer === null) throw new CanterError("internal", "the worker gave no answer");
      return answer;
    },
    close: () => worker.terminate(),
  };
}
