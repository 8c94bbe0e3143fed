/*
 * Any runtime that speaks `fetch`: Vercel, Netlify, Bun. Nothing is kept but in memory, and the caller
 * brings the compiled modules, because each of these loads WebAssembly in its own way.
 */

import { memoryCache } from "../cache/memory.js";
import { namespaceOf } from "../cache/namespace.js";
import { type Canter, createCanter } from "../canter.js";
import type { CanterOptions } from "../options.js";
import { SERVING } from "../serving.js";
import { httpStore, type HttpStoreOptions } from "../store/http.js";

export * from "../index.js";
export { SERVING };

/** Settings of `createGenericCanter`. */
export type GenericOptions = Omit<CanterOptions, "indexes" | "fetchRange"> &
  Pick<HttpStoreOptions, "headers" | "fetch"> & {
    /** Where each index is: its base URL by its name. */
    readonly indexes: Readonly<Record<string, string | URL>>;
  };

/** Default bound of the memory cache: 32 MiB. */
const MEMORY_BYTES = 32 * 1024 * 1024;

/** A `Canter` over web servers. */
export function createGenericCanter(options: GenericOptions): Canter {
  return createCanter({
    cache: memoryCache(MEMORY_BYTES),
    cacheNamespace: namespaceOf(options.indexes),
    http: SERVING,
    ...options,
    indexes: Object.keys(options.indexes),
    fetchRange: httpStore(options),
  });
}
