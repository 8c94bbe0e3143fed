/*
 * A cache in memory: the entries used last, bounded in bytes.
 */

import type { EntryCache } from "./contract.js";

/** What an entry costs besides its bytes. */
const OVERHEAD_BYTES = 200;

/** Keeps the entries used last, at most `maxBytes` of them. */
export function memoryCache(maxBytes: number): EntryCache {
  // A Map keeps the order of insertion, so the first is the one that was not used for longest.
  const entries = new Map<string, Uint8Array>();
  let numBytes = 0;
  const costOf = (key: string, entry: Uint8Array) => 2 * key.length + entry.length + OVERHEAD_BYTES;
  const remove = (key: string) => {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    numBytes -= costOf(key, entry);
  };
  return {
    async get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry;
    },
    async put(key, entry) {
      remove(key);
      if (costOf(key, entry) > maxBytes) return;
      entries.set(key, entry);
      numBytes += costOf(key, entry);
      for (const oldest of entries.keys()) {
        if (numBytes <= maxBytes) break;
        remove(oldest);
      }
    },
  };
}
