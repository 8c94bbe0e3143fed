/*
 * Entries as files of the origin's private file system, in a browser. Safer from eviction than the Cache
 * API where the page has asked for persistent storage; works in workers only in some browsers.
 */

import type { EntryCache } from "./contract.js";
import { sha256 } from "./sha256.js";

/** Default bound: 256 MiB. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Longest name of a file. */
const MAX_NAME_LEN = 200;
/** What is left after a sweep, of what may be kept. */
const KEPT_SHARE = 0.8;

/** Keeps entries in a folder of the origin's private file system. */
export async function opfsCache(
  options: { readonly folder?: string; readonly maxBytes?: number } = {},
): Promise<EntryCache> {
  const root = await navigator.storage.getDirectory();
  const folder = await root.getDirectoryHandle(options.folder ?? "canter", { create: true });
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  let numBytes = await sweep(folder, maxBytes);
  let sweeping: Promise<void> | undefined;
  return {
    async get(key) {
      try {
        const file = await (await folder.getFileHandle(nameOf(key))).getFile();
        return new Uint8Array(await file.arrayBuffer());
      } catch {
        return undefined;
      }
    },
    async put(key, entry) {
      try {
        const handle = await folder.getFileHandle(nameOf(key), { create: true });
        const file = await handle.createWritable();
        await file.write(new Uint8Array(entry));
        await file.close();
        numBytes += entry.length;
      } catch {
        return;
      }
      if (numBytes <= maxBytes) return;
      sweeping ??= sweep(folder, maxBytes)
        .then((left) => {
          numBytes = left;
        })
        .finally(() => {
          sweeping = undefined;
        });
    },
  };
}

/** A key as the name of a file: no slash may stand in it, and it may not be too long for one. */
function nameOf(key: string): string {
  const name = encodeURIComponent(key);
  return name.length <= MAX_NAME_LEN ? name : sha256(key);
}

/** Removes the oldest files if there are more bytes than `maxBytes`. Gives the bytes that are left. */
async function sweep(folder: FileSystemDirectoryHandle, maxBytes: number): Promise<number> {
  const files: { name: string; len: number; writtenMs: number }[] = [];
  // Not in TypeScript's library yet.
  const handles = folder as unknown as AsyncIterable<[string, FileSystemHandle]>;
  for await (const [name, handle] of handles) {
    if (handle.kind !== "file") continue;
    const file = await (handle as FileSystemFileHandle).getFile();
    files.push({ name, len: file.size, writtenMs: file.lastModified });
  }
  let left = files.reduce((sum, file) => sum + file.len, 0);
  if (left <= maxBytes) return left;
  files.sort((a, b) => a.writtenMs - b.writtenMs);
  for (const { name, len } of files) {
    if (left <= maxBytes * KEPT_SHARE) break;
    await folder.removeEntry(name).catch(() => undefined);
    left -= len;
  }
  return left;
}
