/*
 * Node: indexes on web servers or in folders, a cache in memory or in a folder, and the bridge from
 * Node's own HTTP server.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import { resolve } from "node:path";
import { Readable } from "node:stream";

import type { EntryCache } from "../cache/contract.js";
import { folderCache } from "../cache/folder.js";
import { memoryCache } from "../cache/memory.js";
import { namespaceOf } from "../cache/namespace.js";
import { tieredCache } from "../cache/tiered.js";
import { type Canter, createCanter } from "../canter.js";
import { CanterError } from "../errors.js";
import { responseOf } from "../http.js";
import { newReport } from "../io/report.js";
import type { CanterOptions } from "../options.js";
import { SERVING } from "../serving.js";
import { storeByIndex } from "../store/by-index.js";
import type { FetchRange } from "../store/contract.js";
import { folderStore } from "../store/folder.js";
import { httpStore, type HttpStoreOptions } from "../store/http.js";
import { nodeThreads } from "../thread/node.js";
import { ownModule } from "./own-module.js";

export * from "../index.js";
export { folderCache, folderStore, ownModule, SERVING };

/** Settings of `createNodeCanter`. */
export type NodeOptions = Omit<CanterOptions, "indexes" | "fetchRange" | "cache" | "threads"> &
  Pick<HttpStoreOptions, "headers"> & {
    /** Where each index is, by its name: a URL, or a folder. */
    readonly indexes: Readonly<Record<string, string>>;
    /**
     * What keeps bytes between searches: `memory` (64 MiB, the default), `none`, a folder, with 32 MiB of
     * memory over it, or a cache of your own.
     */
    readonly cache?: "none" | "memory" | string | EntryCache;
    /** Most bytes of the cache in a folder; 1 GiB by default. */
    readonly maxCacheBytes?: number;
    /**
     * How many threads run the guest. Without any (0, the default) it runs on the thread that calls, which
     * does nothing else while a step of a search computes, and cannot end one that takes too long.
     */
    readonly threads?: number;
  };

const MEMORY_BYTES = 64 * 1024 * 1024;
const MEMORY_OVER_FOLDER_BYTES = 32 * 1024 * 1024;

/** A `Canter` on Node. */
export function createNodeCanter(options: NodeOptions): Canter {
  const { cache: _, module: __, guest: ___, threads: ____, ...rest } = options;
  const cache = cacheOf(options);
  return createCanter({
    cacheNamespace: namespaceOf(placesOf(options.indexes)),
    // The process goes on behind an answer.
    waitUntil: () => undefined,
    http: SERVING,
    ...rest,
    ...guestOf(options),
    ...(cache === undefined ? {} : { cache }),
    indexes: Object.keys(options.indexes),
    fetchRange: storeOf(options),
  });
}

/** What runs the guest. */
function guestOf({ module, guest, threads = 0 }: NodeOptions) {
  if (threads === 0) return guest === undefined ? { module: module ?? ownModule } : { guest };
  if (module !== undefined || guest !== undefined) {
    const what = "threads run the guest that this package brings along: leave module and guest out";
    throw new CanterError("invalid", what);
  }
  const script = new URL("./node-thread.js", import.meta.url);
  return { threads: { max: threads, start: nodeThreads(script) } };
}

const isUrl = (place: string) => /^https?:\/\//i.test(place);

/** Folders by their full path: the same short one may be another index elsewhere. */
function placesOf(indexes: Readonly<Record<string, string>>): Record<string, string> {
  const places = Object.entries(indexes).map(([name, place]) => [
    name,
    isUrl(place) ? place : resolve(place),
  ]);
  return Object.fromEntries(places) as Record<string, string>;
}

function cacheOf({ cache = "memory", maxCacheBytes }: NodeOptions): EntryCache | undefined {
  if (typeof cache === "object") return cache;
  if (cache === "none") return undefined;
  if (cache === "memory") return memoryCache(MEMORY_BYTES);
  const folder = folderCache(cache, maxCacheBytes === undefined ? {} : { maxBytes: maxCacheBytes });
  return tieredCache(memoryCache(MEMORY_OVER_FOLDER_BYTES), folder);
}

function storeOf(options: NodeOptions): FetchRange {
  const stores = new Map<string, FetchRange>();
  for (const [name, place] of Object.entries(options.indexes)) {
    const indexes = { [name]: place };
    const { headers } = options;
    if (isUrl(place))
      stores.set(name, httpStore({ indexes, ...(headers === undefined ? {} : { headers }) }));
    else stores.set(name, folderStore(indexes));
  }
  return storeByIndex(stores);
}

/** A listener for `http.createServer` that answers the search API. It never throws. */
export function toNodeListener(
  canter: Canter,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    void answer(canter, incoming, gone.signal)
      .then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.end(new Uint8Array(await response.arrayBuffer()));
      })
      .catch(() => outgoing.destroy());
  };
}

async function answer(
  canter: Canter,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<Response> {
  const { method = "GET", url = "/", headers } = incoming;
  // What says how to read the request, and how to answer.
  const passed = ["accept", "content-encoding", "content-type"]
    .map((name) => [name, headers[name]] as const)
    .filter((header): header is readonly [string, string] => typeof header[1] === "string");
  const hasBody = method !== "GET" && method !== "HEAD";
  try {
    // Only path and query are looked at; the host is whatever reached us.
    const request = new Request(new URL(url, "http://localhost"), {
      method,
      headers: Object.fromEntries(passed),
      ...(hasBody ? { body: Readable.toWeb(incoming), duplex: "half" } : {}),
    } as RequestInit);
    return await canter.fetch(request, { signal });
  } catch {
    const failure = new CanterError("invalid", "the request cannot be read");
    const [path = "/"] = url.split("?");
    return responseOf(SERVING.refuse(failure, path), newReport());
  }
}
