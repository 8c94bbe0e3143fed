/*
 * Objects that are files, on Node and Bun. A file's ETag is made of its length and its time.
 */

import { open } from "node:fs/promises";
import { join, resolve, sep } from "node:path";

import { FetchFailure } from "../errors.js";
import { asksForAll } from "./answer.js";
import { type FetchRange, MAX_WHOLE_OBJECT_BYTES } from "./contract.js";
import { checkObjectName } from "./object-name.js";

/** Reads the objects of each index from its folder. */
export function folderStore(indexes: Readonly<Record<string, string>>): FetchRange {
  return async (request) => {
    const { object, offset, len, ifNoneMatch } = request;
    checkObjectName(object, request);
    const [index = "", ...rest] = object.split("/");
    const folder = Object.hasOwn(indexes, index) ? indexes[index] : undefined;
    const fail = (kind: "not-found" | "denied" | "unavailable" | "budget", what: string) =>
      FetchFailure.of(kind, object, request, what);
    if (folder === undefined) throw fail("not-found", "no folder is set for this index");
    const path = join(folder, ...rest);
    if (!resolve(path).startsWith(resolve(folder) + sep)) {
      throw fail("denied", "the name leads out of the index's folder");
    }
    const file = await open(path).catch((error: NodeJS.ErrnoException) => {
      // The message of the system names the path, which is no caller's business.
      if (error.code === "ENOENT") throw fail("not-found", "the folder has no such file");
      throw fail("unavailable", `the file cannot be opened (${error.code ?? "no reason given"})`);
    });
    try {
      const { size, mtimeMs } = await file.stat();
      const etag = `"${size.toString(16)}-${Math.round(mtimeMs).toString(16)}"`;
      if (ifNoneMatch === etag) return { bytes: new Uint8Array(0), isUnchanged: true };
      const numBytes = len ?? Math.max(size - offset, 0);
      if (offset + numBytes > size || (offset >= size && !asksForAll(request))) {
        const seen = `the object has only ${size} bytes`;
        throw FetchFailure.misbehaved(object, request, "past_the_end", seen);
      }
      if (len === undefined && numBytes > MAX_WHOLE_OBJECT_BYTES) {
        throw fail(
          "budget",
          `the object is longer than the ${MAX_WHOLE_OBJECT_BYTES} bytes a whole read may have`,
        );
      }
      const bytes = new Uint8Array(numBytes);
      for (let at = 0; at < numBytes;) {
        const { bytesRead } = await file.read(bytes, at, numBytes - at, offset + at);
        if (bytesRead === 0) {
          const seen = `only ${at} of ${numBytes} bytes came`;
          throw FetchFailure.misbehaved(object, request, "short_body", seen);
        }
        at += bytesRead;
      }
      return { bytes, etag, objectLen: size };
    } finally {
      await file.close();
    }
  };
}
