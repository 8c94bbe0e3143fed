/*
 * API keys: the file that `canter key add` writes, as a text. `access/src/keys.rs` says what stands in it.
 */

import { parse, TomlError } from "smol-toml";

import { type Grant, grantOf, isObject, refuseOthers, Unusable } from "./grant.js";

/** A key, whose secret is its holder's. */
export interface ApiKey {
  readonly hash: string;
  /** When it ends, in milliseconds since 1970. */
  readonly expiresMs: number;
  readonly grant: Grant;
}

const FIELDS = ["id", "hash", "indexes", "rights", "filter", "expires"];
const HASH = /^\$argon2id\$v=\d+\$m=(\d+),t=(\d+),p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Most memory of a hash: an isolate has 128 MB for everything. */
const MAX_HASH_KIB = 32 * 1024;
/** Most memory that is gone through, passes counted: what can be computed within a request. */
const MAX_HASH_WORK_KIB = 64 * 1024;

/** Reads keys by their id. Throws what is wrong, with `setting` in front; no hash is shown. */
export function readKeys(setting: string, text: string): ReadonlyMap<string, ApiKey> {
  const refuse = (what: string) => new Unusable(`${setting}${what}`);
  const list = readList(text, (what) => refuse(` is no list of keys: ${what}`));
  const keys = new Map<string, ApiKey>();
  for (const entry of list) {
    const { id, hash } = entry;
    if (typeof id !== "string") throw refuse(" is no list of keys: missing field `id`");
    if (typeof hash !== "string") throw refuse(" is no list of keys: missing field `hash`");
    try {
      refuseOthers(entry, FIELDS);
      if (keys.has(id)) throw refuse(`: there are two keys ${JSON.stringify(id)}`);
      keys.set(id, keyOf(id, hash, entry));
    } catch (error) {
      if (!(error instanceof Unusable) || error.message.startsWith(setting)) throw error;
      throw refuse(`: the key ${JSON.stringify(id)} ${error.message}`);
    }
  }
  if (keys.size === 0)
    throw refuse(" has no key, so that nobody may ask; leave it out for everybody");
  return keys;
}

/** The entries; without the lines around what is wrong, which may have hashes. */
function readList(text: string, refuse: (what: string) => Error): Record<string, unknown>[] {
  let file: Record<string, unknown>;
  try {
    file = parse(text);
  } catch (error) {
    throw refuse(error instanceof TomlError ? `line ${error.line} is no TOML` : "it is no TOML");
  }
  const other = Object.keys(file).find((name) => name !== "key");
  if (other !== undefined) throw refuse(`unknown field \`${other}\`; there are entries [[key]]`);
  const { key: list = [] } = file;
  if (!Array.isArray(list) || !list.every(isObject)) throw refuse("an entry begins with [[key]]");
  return list;
}

function keyOf(id: string, hash: string, entry: Record<string, unknown>): ApiKey {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(id)) {
    throw new Unusable("has an id that is none: 1 to 64 letters, digits, - and _");
  }
  const [, memory, passes] = HASH.exec(hash) ?? [];
  if (memory === undefined) {
    throw new Unusable("has a hash that is none of argon2id; `canter key add` makes one");
  }
  const memoryKib = Number(memory);
  if (memoryKib > MAX_HASH_KIB || memoryKib * Number(passes) > MAX_HASH_WORK_KIB) {
    throw new Unusable(
      `has a hash of ${memory} KiB in ${passes} passes, more than a Worker can compute; \`canter key add\` makes one of 8192 in one`,
    );
  }
  const expiresMs = entry["expires"] === undefined ? Infinity : timeOf(entry["expires"]);
  return { hash, expiresMs, grant: grantOf(id, entry) };
}

function timeOf(text: unknown): number {
  const time = typeof text === "string" && TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new Unusable("expires at no time such as 2027-01-01T00:00:00Z");
}
