/*
 * What a token allows: as `access/src/lib.rs` has it, in the words of keys and of claims.
 */

/** Something that may be done with an index. A Worker only reads. */
export type Right = "read" | "write" | "delete";

const RIGHTS: readonly Right[] = ["read", "write", "delete"];

/** What the holder of a token may do. */
export interface Grant {
  /** Who holds it: the id of a key, the subject of a JWT. */
  readonly name: string;
  /** The names of indexes, in which `*` stands for anything; all if absent. */
  readonly indexes?: readonly string[];
  readonly rights: readonly Right[];
  /** A query that every hit must match. */
  readonly filter?: string;
}

/** What a key or a claim says of a grant. */
export interface Said {
  readonly indexes?: unknown;
  readonly rights?: unknown;
  readonly filter?: unknown;
}

/** Why something that was set cannot be used, in words for whoever set it. */
export class Unusable extends Error {}

/** Reads what is said. Throws what is wrong with it, in words that go behind its name. */
export function grantOf(name: string, { indexes, rights = ["read"], filter }: Said): Grant {
  if (indexes !== undefined && !isListOf(indexes, (one) => typeof one === "string")) {
    throw new Unusable("has indexes that are no list of names");
  }
  if (indexes?.length === 0) {
    throw new Unusable(
      "has an empty list of indexes, so that it would allow nothing; leave it out for all",
    );
  }
  const isRight = (one: unknown): one is Right => RIGHTS.some((right) => right === one);
  if (!isListOf(rights, isRight)) {
    throw new Unusable(`has the rights ${JSON.stringify(rights)}; there are ${RIGHTS.join(", ")}`);
  }
  if (rights.length === 0) {
    throw new Unusable("has an empty list of rights, so that it would allow nothing");
  }
  if (filter !== undefined && typeof filter !== "string") {
    throw new Unusable("has a filter that is no text");
  }
  if (filter?.trim() === "") {
    throw new Unusable("has an empty filter; leave it out to allow all documents");
  }
  return {
    name,
    rights,
    ...(indexes === undefined ? {} : { indexes }),
    ...(filter === undefined ? {} : { filter }),
  };
}

function isListOf<T>(value: unknown, isOne: (one: unknown) => one is T): value is readonly T[] {
  return Array.isArray(value) && value.every(isOne);
}

/** An object, and neither `null` nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Refuses what is not among `known`: it would seem to bound something. */
export function refuseOthers(said: object, known: readonly string[]): void {
  const other = Object.keys(said).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw new Unusable(`unknown field \`${other}\`; there are ${known.join(", ")}`);
}

/** Whether one of `patterns`, in which each `*` stands for any text, is that of `name`. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matches(pattern, name));
}

function matches(pattern: string, name: string): boolean {
  const [start = "", ...parts] = pattern.split("*");
  const end = parts.pop();
  if (end === undefined) return pattern === name;
  if (!name.startsWith(start)) return false;
  let at = start.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - at >= end.length && name.endsWith(end);
}
