/*
 * An entry of the cache as bytes: it says what it is, and a damaged one is a miss.
 *
 *   magic "CNE1" | start (u32) | xxh32 of key, start and payload (u32) | payload       little endian
 *
 * `start` is where the payload begins in its block, since a block may be partly filled; 0 in all
 * other entries. The key is part of the checksum: an entry under a wrong name is damaged too.
 */

import { xxh32 } from "./checksum.js";

const MAGIC = 0x31454e43;
const HEAD_LEN = 12;

/** What an entry holds. */
export interface Entry {
  readonly start: number;
  readonly payload: Uint8Array;
}

/** The entry as bytes. */
export function writeEntry(key: string, { start, payload }: Entry): Uint8Array {
  const bytes = new Uint8Array(HEAD_LEN + payload.length);
  bytes.set(payload, HEAD_LEN);
  const head = new DataView(bytes.buffer);
  head.setUint32(0, MAGIC, true);
  head.setUint32(4, start, true);
  head.setUint32(8, checksum(key, start, payload), true);
  return bytes;
}

/** What `bytes` hold under `key`; nothing if they were damaged. */
export function readEntry(key: string, bytes: Uint8Array): Entry | undefined {
  if (bytes.length < HEAD_LEN) return undefined;
  const head = new DataView(bytes.buffer, bytes.byteOffset, HEAD_LEN);
  const start = head.getUint32(4, true);
  const payload = bytes.subarray(HEAD_LEN);
  const isWhole = head.getUint32(0, true) === MAGIC;
  return isWhole && head.getUint32(8, true) === checksum(key, start, payload)
    ? { start, payload }
    : undefined;
}

function checksum(key: string, start: number, payload: Uint8Array): number {
  return xxh32(payload, xxh32(new TextEncoder().encode(key), start));
}
