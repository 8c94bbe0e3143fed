/*
 * What this package asks of a cache: entries by key, and nothing more. It may lose entries, and what it
 * returns is checked (`entry.ts`). Implementations: `memory.ts`, `cache-api.ts`, `opfs.ts`, `folder.ts`,
 * and `tiered.ts`, one over the other.
 */

/** Entries by key. Neither function may throw for an entry: what cannot be had is a miss. */
export interface EntryCache {
  get(key: string): Promise<Uint8Array | undefined>;
  put(key: string, entry: Uint8Array): Promise<void>;
  /**
   * Whether an operation counts as a request of the platform, as the Cache API of Workers does. Then
   * the budget pays for it, and the cache is used more sparingly.
   */
  readonly costsRequests?: boolean;
  /** Looks only where it costs nothing; without it, `get` is free. */
  readonly near?: EntryCache;
}
