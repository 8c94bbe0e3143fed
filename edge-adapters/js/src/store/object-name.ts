/*
 * Names of objects: what is asked of a store must lie below the index. The rules of
 * `stores/src/object_name.rs`.
 *
 * Names are made of what a manifest says, and whoever could write the manifest must not be able to have a
 * host ask for something else with the index's credentials. The guest refuses manifests with such ids; this
 * is the second lock on the same door.
 */

import { FetchFailure, type NamedRange } from "../errors.js";

/**
 * Throws if `object` is no path below its index: with an empty part, `.` or `..`, a backslash (which some
 * servers and folders take for a slash) or a control character.
 */
export function checkObjectName(object: string, range: NamedRange): void {
  const hasParts = object.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  if (hasParts && !/[\\\p{Cc}]/u.test(object)) return;
  const what = "the name leads out of the index, so nothing was asked for";
  throw FetchFailure.of("denied", object, range, what);
}
