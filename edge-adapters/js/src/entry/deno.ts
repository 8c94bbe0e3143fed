/*
 * Deno: as on Node, with Deno's Cache API as one more place for the cache. Needs the permissions
 * `--allow-net` for indexes on web servers and `--allow-read` for the guest and for folders.
 */

import { cacheApiCache } from "../cache/cache-api.js";
import { memoryCache } from "../cache/memory.js";
import { tieredCache } from "../cache/tiered.js";
import type { Canter } from "../canter.js";
import { createNodeCanter, type NodeOptions } from "./node.js";

export * from "../index.js";
export { folderCache, folderStore, SERVING } from "./node.js";

/** Settings of `createDenoCanter`: those of Node, and `cache: "cache-api"`. */
export type DenoOptions = NodeOptions;

const MEMORY_BYTES = 32 * 1024 * 1024;
/** Entries have at most 256 KiB, and mostly 64. */
const MAX_ENTRIES = 10_000;

/** A `Canter` on Deno. */
export async function createDenoCanter(options: DenoOptions): Promise<Canter> {
  if (options.cache !== "cache-api") return createNodeCanter(options);
  const kept = cacheApiCache(await caches.open("canter"), { maxEntries: MAX_ENTRIES });
  return createNodeCanter({ ...options, cache: tieredCache(memoryCache(MEMORY_BYTES), kept) });
}

/** What `Deno.serve` passes to its handler besides the request. */
interface ServeInfo {
  readonly completed: Promise<void>;
}

/** A handler for `Deno.serve`. A search ends when its caller has gone. */
export function toDenoHandler(
  canter: Canter,
): (request: Request, info: ServeInfo) => Promise<Response> {
  return (request, info) => {
    // The request's own signal is aborted when all is well, too.
    const gone = new AbortController();
    info.completed.catch(() => gone.abort());
    return canter.fetch(request, { signal: gone.signal });
  };
}
