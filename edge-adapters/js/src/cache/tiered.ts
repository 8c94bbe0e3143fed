/*
 * A small, fast cache over a large, slow one. What the slow one has comes into the fast one.
 */

import type { EntryCache } from "./contract.js";

/** `near` is asked first, `far` after it; entries go into both. */
export function tieredCache(near: EntryCache, far: EntryCache): EntryCache {
  return {
    costsRequests: far.costsRequests ?? false,
    near,
    async get(key) {
      const held = await near.get(key);
      if (held !== undefined) return held;
      const entry = await far.get(key);
      if (entry !== undefined) await near.put(key, entry);
      return entry;
    },
    async put(key, entry) {
      await Promise.all([near.put(key, entry), far.put(key, entry)]);
    },
  };
}
