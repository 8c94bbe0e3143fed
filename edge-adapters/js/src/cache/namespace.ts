/*
 * Where an index lies, as the beginning of cache keys: caches outlive settings, and two indexes may have
 * the same name in different places.
 */

import { xxh32 } from "./checksum.js";

/** A name for these places. Query strings are left out: they may hold signatures that change. */
export function namespaceOf(places: Readonly<Record<string, string | URL>>): string {
  const list = Object.entries(places)
    .map(([name, place]) => `${name} ${String(place).split("?", 1)[0]}`)
    .sort();
  return xxh32(new TextEncoder().encode(list.join("\n")))
    .toString(16)
    .padStart(8, "0");
}
