/*
 * Where an index lies, as the beginning of cache keys: caches outlive settings, and two indexes may have
 * the same name in different places.
 */

import { sha256 } from "./sha256.js";

/**
 * A name for these places: a SHA-256 over the whole of each, with its query string and its credentials. Two
 * tenants of one server may differ in nothing else, and none of it can be read out of a cache. An address
 * whose signature has changed is another place, so what was read under the old one is read again.
 */
export function namespaceOf(places: Readonly<Record<string, string | URL>>): string {
  const list = Object.entries(places).map(([name, place]) => [name, addressOf(String(place))]);
  list.sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0));
  return sha256(JSON.stringify(list));
}

/** The same address for the same place, however it is written. */
function addressOf(place: string): string {
  return /^https?:/i.test(place) && URL.canParse(place) ? new URL(place).href : place;
}
