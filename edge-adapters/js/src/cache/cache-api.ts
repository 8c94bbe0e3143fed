/*
 * Entries in the Cache API of a browser, of Deno or of Workers, each as a complete answer with status
 * 200 under a URL that nobody serves: those caches refuse partial answers (206).
 */

import type { EntryCache } from "./contract.js";

/** The part of the Cache API that is used. */
export interface CacheLike {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  delete?(url: string | Request): Promise<boolean>;
  keys?(): Promise<readonly Request[]>;
}

/** Settings of `cacheApiCache`. */
export interface CacheApiOptions {
  /** Whether operations count as requests of the platform. */
  readonly costsRequests?: boolean;
  /** Begins the URL of every entry. A host of the reserved `.invalid`, so that none is asked for it. */
  readonly baseUrl?: string;
  /** Most entries; without it the platform alone decides what goes. */
  readonly maxEntries?: number;
}

/** How many entries are added between two looks at how many there are. */
const PUTS_PER_SWEEP = 256;

/** A year: what is immutable is so for ever, and the manifest has its own age. */
const HEADERS = {
  "content-type": "application/octet-stream",
  "cache-control": "public, max-age=31536000, immutable",
};

/** Keeps entries in `cache`. */
export function cacheApiCache(cache: CacheLike, options: CacheApiOptions = {}): EntryCache {
  const base = options.baseUrl ?? "https://canter.invalid/";
  const urlOf = (key: string) => base + key.split("/").map(encodeURIComponent).join("/");
  let numPuts = 0;
  return {
    costsRequests: options.costsRequests ?? false,
    async get(key) {
      try {
        const response = await cache.match(urlOf(key));
        return response === undefined ? undefined : new Uint8Array(await response.arrayBuffer());
      } catch {
        return undefined;
      }
    },
    async put(key, entry) {
      try {
        // A copy: an entry may be a window on a larger buffer.
        await cache.put(urlOf(key), new Response(new Uint8Array(entry), { headers: HEADERS }));
        // At the first, too: visits may be so short that none ever adds many.
        if (numPuts++ % PUTS_PER_SWEEP === 0) await sweep(cache, options.maxEntries);
      } catch {
        // A full cache keeps what it has.
      }
    },
  };
}

/** Removes the oldest entries beyond `maxEntries`, and a tenth more, so that it need not be done soon. */
async function sweep(cache: CacheLike, maxEntries: number | undefined): Promise<void> {
  if (maxEntries === undefined || cache.keys === undefined) return;
  const keys = await cache.keys();
  if (keys.length <= maxEntries) return;
  const surplus = keys.slice(0, keys.length - Math.floor(maxEntries * 0.9));
  await Promise.all(surplus.map((key) => cache.delete?.(key)));
}
