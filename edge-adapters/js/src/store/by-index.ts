/*
 * One store out of several: each index is read from its own.
 */

import { FetchFailure } from "../errors.js";
import type { FetchRange } from "./contract.js";

/** Reads each object from the store of its index. */
export function storeByIndex(stores: ReadonlyMap<string, FetchRange>): FetchRange {
  return async (request) => {
    const store = stores.get(request.object.split("/", 1)[0] ?? "");
    if (store !== undefined) return store(request);
    throw FetchFailure.of("not-found", request.object, request, "no store is set for this index");
  };
}
