/*
 * Objects of an R2 bucket that is bound to a Worker. R2 ranges are exact and its answers are not HTTP,
 * so of the manners only the lengths are left to check.
 */

import { FetchFailure, messageOf } from "../errors.js";
import { asksForAll } from "./answer.js";
import { type FetchRange, MAX_WHOLE_OBJECT_BYTES } from "./contract.js";
import { checkObjectName } from "./object-name.js";

/** The part of an R2 binding that is used. */
export interface R2BucketLike {
  get(
    key: string,
    options?: {
      range?: { offset: number; length?: number };
      onlyIf?: { etagDoesNotMatch: string };
    },
  ): Promise<R2ObjectLike | null>;
}

/** An object of R2; it has a body unless the condition failed. */
export interface R2ObjectLike {
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  arrayBuffer?(): Promise<ArrayBuffer>;
}

/** Settings of a store on R2. */
export interface R2StoreOptions {
  /** Longest read to the end of an object, in bytes; 64 MiB by default. */
  readonly maxWholeObjectBytes?: number;
}

/** Reads the objects of each index below its prefix of `bucket`; `""` is the bucket's root. */
export function r2Store(
  bucket: R2BucketLike,
  prefixes: Readonly<Record<string, string>>,
  options: R2StoreOptions = {},
): FetchRange {
  const maxWholeBytes = options.maxWholeObjectBytes ?? MAX_WHOLE_OBJECT_BYTES;
  return async (request) => {
    const { object, offset, len, ifNoneMatch } = request;
    checkObjectName(object, request);
    const [index = "", ...rest] = object.split("/");
    const prefix = Object.hasOwn(prefixes, index) ? prefixes[index] : undefined;
    const fail = (kind: "not-found" | "unavailable" | "budget", what: string) =>
      FetchFailure.of(kind, object, request, what);
    if (prefix === undefined) throw fail("not-found", "no prefix is set for this index");
    const key = [...prefix.split("/").filter((part) => part !== ""), ...rest].join("/");
    const range = len === undefined ? { offset } : { offset, length: len };
    let found: R2ObjectLike | null;
    let bytes: Uint8Array | undefined;
    try {
      found = await bucket.get(key, {
        ...(asksForAll(request) ? {} : { range }),
        ...(ifNoneMatch === undefined ? {} : { onlyIf: { etagDoesNotMatch: bare(ifNoneMatch) } }),
      });
      // Before the body is taken: an isolate has no room for what is too large.
      if (found !== null && len === undefined && found.size - offset > maxWholeBytes) {
        throw fail(
          "budget",
          `the object is longer than the ${maxWholeBytes} bytes a whole read may have`,
        );
      }
      bytes = found?.arrayBuffer && new Uint8Array(await found.arrayBuffer());
    } catch (error) {
      if (error instanceof FetchFailure) throw error;
      throw rangeErrorOf(error, request) ?? fail("unavailable", messageOf(error));
    }
    if (found === null) throw fail("not-found", "the bucket has no such object");
    if (bytes === undefined) return { bytes: new Uint8Array(0), isUnchanged: true };
    if (len !== undefined && bytes.length < len) {
      const isEnd = offset + len > found.size;
      const seen = `only ${bytes.length} of ${len} bytes came${isEnd ? ": the object ends there" : ""}`;
      throw FetchFailure.misbehaved(object, request, isEnd ? "past_the_end" : "short_body", seen);
    }
    return { bytes, etag: found.httpEtag, objectLen: found.size };
  };
}

/** R2 tells with an exception that a range begins behind the end: code 10039. */
function rangeErrorOf(
  error: unknown,
  request: Parameters<FetchRange>[0],
): FetchFailure | undefined {
  const message = messageOf(error);
  if (!/10039|not satisfiable/i.test(message)) return undefined;
  const seen = "the object ends before the range begins";
  return FetchFailure.misbehaved(request.object, request, "past_the_end", seen);
}

function bare(etag: string): string {
  return etag.replace(/^"|"$/g, "");
}
