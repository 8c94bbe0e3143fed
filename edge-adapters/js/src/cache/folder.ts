/*
 * Entries as files in a folder, on Node, Deno and Bun: bounded in bytes, and safe to kill at any time.
 *
 * A file is written beside its place and renamed, so it is there whole or not at all; and it has a
 * checksum (`entry.ts`), so that a disk may still do what disks do. Several processes may share a folder:
 * each bounds what it sees.
 */

import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { EntryCache } from "./contract.js";

/** Default bound: 1 GiB. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** What is left after a sweep, of what may be kept. */
const KEPT_SHARE = 0.9;
/** A temporary file older than this belongs to nobody. */
const ABANDONED_MS = 3_600_000;

/** Keeps entries in files of `folder`, which is made if it does not exist. */
export function folderCache(
  folder: string,
  options: { readonly maxBytes?: number } = {},
): EntryCache {
  const maxBytes = options.maxBytes ?? MAX_BYTES;
  // Names of entries hold slashes and may be long.
  const pathOf = (key: string) => {
    const name = createHash("sha256").update(key).digest("hex");
    return join(folder, name.slice(0, 2), name.slice(2, 40));
  };
  let numBytes: number | undefined;
  let sweeping: Promise<void> | undefined;
  const sweepIfFull = (added: number) => {
    if (numBytes !== undefined) numBytes += added;
    if (numBytes !== undefined && numBytes <= maxBytes) return;
    sweeping ??= sweep(folder, maxBytes)
      .then((left) => {
        numBytes = left;
      })
      .catch(() => undefined)
      .finally(() => {
        sweeping = undefined;
      });
  };
  return {
    async get(key) {
      const path = pathOf(key);
      const entry = await readFile(path).catch(() => undefined);
      // The time of the last use decides what goes first.
      if (entry !== undefined) void utimes(path, new Date(), new Date()).catch(() => undefined);
      return entry;
    },
    async put(key, entry) {
      if (entry.length > maxBytes) return;
      const path = pathOf(key);
      const temporary = `${path}.${randomUUID()}.tmp`;
      try {
        await mkdir(join(path, ".."), { recursive: true });
        await writeFile(temporary, entry);
        await rename(temporary, path);
        sweepIfFull(entry.length);
      } catch {
        await rm(temporary, { force: true }).catch(() => undefined);
      }
    },
  };
}

/** Removes what was not used for longest until the rest fits. Gives the bytes that are left. */
async function sweep(folder: string, maxBytes: number): Promise<number> {
  const files: { path: string; len: number; usedMs: number }[] = [];
  for (const sub of await readdir(folder)) {
    if (!/^[0-9a-f]{2}$/.test(sub)) continue;
    for (const name of await readdir(join(folder, sub))) {
      const path = join(folder, sub, name);
      const info = await stat(path).catch(() => undefined);
      if (info === undefined) continue;
      const isAbandoned = name.endsWith(".tmp") && Date.now() - info.mtimeMs > ABANDONED_MS;
      if (isAbandoned) await rm(path, { force: true });
      else files.push({ path, len: info.size, usedMs: info.mtimeMs });
    }
  }
  let left = files.reduce((sum, file) => sum + file.len, 0);
  if (left <= maxBytes) return left;
  files.sort((a, b) => a.usedMs - b.usedMs);
  for (const file of files) {
    if (left <= maxBytes * KEPT_SHARE) break;
    await rm(file.path, { force: true });
    left -= file.len;
  }
  return left;
}
