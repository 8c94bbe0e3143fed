/*
 * XXH32, the 32-bit xxHash: finds bytes that were damaged by accident. No protection against attacks,
 * and none is needed: the guest checks every byte once more against the checksums of its split.
 */

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

function rotl(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function round(acc: number, lane: number): number {
  return Math.imul(rotl((acc + Math.imul(lane, P2)) | 0, 13), P1);
}

/** The XXH32 of `bytes` as a number from 0 to 2^32 - 1. */
export function xxh32(bytes: Uint8Array, seed = 0): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const len = bytes.length;
  let at = 0;
  let hash: number;
  if (len >= 16) {
    let a = (seed + P1 + P2) | 0;
    let b = (seed + P2) | 0;
    let c = seed | 0;
    let d = (seed - P1) | 0;
    for (const end = len - 16; at <= end; at += 16) {
      a = round(a, view.getUint32(at, true));
      b = round(b, view.getUint32(at + 4, true));
      c = round(c, view.getUint32(at + 8, true));
      d = round(d, view.getUint32(at + 12, true));
    }
    hash = (rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18)) | 0;
  } else {
    hash = (seed + P5) | 0;
  }
  hash = (hash + len) | 0;
  for (; at + 4 <= len; at += 4) {
    const lane = Math.imul(view.getUint32(at, true), P3);
    hash = Math.imul(rotl((hash + lane) | 0, 17), P4);
  }
  for (; at < len; at++) {
    hash = Math.imul(rotl((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), P2);
  hash = Math.imul(hash ^ (hash >>> 13), P3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
