/*
 * The manifest in the cache: the one mutable object, kept whole with its ETag and revalidated.
 *
 * Kept as `checked_at_ms (u64) | etag_len (u16) | etag | manifest`, numbers in little endian.
 */

import { FetchFailure, messageOf } from "../errors.js";
import { type Landed, wasSent } from "./flights.js";
import type { SearchIo } from "./shared.js";

/** A manifest as it was last seen. */
interface KeptManifest {
  /** When the store last confirmed it, in milliseconds since 1970. */
  readonly checkedAtMs: number;
  readonly etag: string;
  readonly bytes: Uint8Array;
}

/** Longest ETag that is kept; a manifest with a longer one is read again each time. */
const MAX_ETAG_BYTES = 1024;

function writeKept({ checkedAtMs, etag, bytes }: KeptManifest): Uint8Array {
  const name = new TextEncoder().encode(etag);
  const kept = name.length <= MAX_ETAG_BYTES ? name : new Uint8Array(0);
  const entry = new Uint8Array(10 + kept.length + bytes.length);
  const head = new DataView(entry.buffer);
  head.setBigUint64(0, BigInt(Math.max(Math.round(checkedAtMs), 0)), true);
  head.setUint16(8, kept.length, true);
  entry.set(kept, 10);
  entry.set(bytes, 10 + kept.length);
  return entry;
}

function readKept(entry: Uint8Array): KeptManifest | undefined {
  if (entry.length < 10) return undefined;
  const head = new DataView(entry.buffer, entry.byteOffset, entry.length);
  const bytesAt = 10 + head.getUint16(8, true);
  if (entry.length < bytesAt) return undefined;
  return {
    checkedAtMs: Number(head.getBigUint64(0, true)),
    etag: new TextDecoder().decode(entry.subarray(10, bytesAt)),
    bytes: entry.subarray(bytesAt),
  };
}

const keyOf = (object: string) => `${object}#kept`;

/** What the cache has of a manifest. */
export interface HeldManifest {
  readonly kept: KeptManifest;
  /** Whether it may be used without asking. */
  readonly isFresh: boolean;
}

/** Looks for the manifest in the cache. */
export async function lookUpManifest(
  io: SearchIo,
  object: string,
): Promise<HeldManifest | undefined> {
  const { cache, options } = io.shared;
  const entry = await cache?.getEntry(keyOf(object), () => io.gate.admitCacheRead(), io.counts);
  const kept = entry && readKept(entry);
  io.isNewHere = kept === undefined;
  if (kept === undefined) return undefined;
  // A clock that was set back makes an entry from the future: ask.
  const age = Date.now() - kept.checkedAtMs;
  return { kept, isFresh: age >= 0 && age < options.manifestTtlMs };
}

/** Asks the store for the manifest, or whether `held` still holds, and keeps the answer. */
export async function flyManifest(
  io: SearchIo,
  object: string,
  held: KeptManifest | undefined,
  signal: AbortSignal,
): Promise<Landed> {
  let startMs = performance.now();
  const landed = (result: Landed["result"], numBytes = 0, numRetries = 0): Landed => ({
    result,
    startMs,
    endMs: performance.now(),
    numRetries,
    wasSent: !(result instanceof FetchFailure) || wasSent(result),
    numBytes,
  });
  // What is confirmed is what held when it was asked.
  const checkedAtMs = Date.now();
  const known = held?.etag === "" ? undefined : held?.etag;
  try {
    const { value, numRetries } = await io.fetch({ object, offset: 0 }, signal, known, () => {
      startMs = performance.now();
    });
    const isUnchanged = value.isUnchanged === true && held !== undefined;
    const kept: KeptManifest = isUnchanged
      ? { ...held, checkedAtMs }
      : { checkedAtMs, etag: value.etag ?? "", bytes: value.bytes };
    keep(io, object, kept, isUnchanged);
    return landed({ bytes: kept.bytes, etag: kept.etag }, value.bytes.length, numRetries);
  } catch (error) {
    const failure =
      error instanceof FetchFailure
        ? error
        : FetchFailure.of("unavailable", object, { offset: 0 }, messageOf(error));
    const mayStand = failure.suppliedKind === "unavailable" && io.shared.options.usesStaleManifest;
    if (held === undefined || !mayStand) return landed(failure, 0, failure.numRetries);
    // Off line: what was read before is better than nothing, and the report says how old it is.
    io.report.stale_manifest_ms = Math.max(Date.now() - held.checkedAtMs, 0);
    return landed({ bytes: held.bytes }, 0, failure.numRetries);
  }
}

/**
 * Whether a manifest that held at `checkedAtMs` may take the place of `held`: an answer that was long on its way
 * must not replace a later one. An entry from the future is no later one.
 */
function mayReplace(held: KeptManifest | undefined, checkedAtMs: number): boolean {
  return held === undefined || held.checkedAtMs <= checkedAtMs || held.checkedAtMs > Date.now();
}

function keep(io: SearchIo, object: string, kept: KeptManifest, isUnchanged: boolean): void {
  const { cache, options } = io.shared;
  if (cache === undefined) return;
  // A new time of the same version is worth an operation only if somebody looks at the time.
  if (isUnchanged && cache.costsRequests && options.manifestTtlMs === 0) return;
  io.keep(async () => {
    // A look that is not admitted finds nothing.
    const entry = await cache.getEntry(keyOf(object), () => io.gate.admitCacheRead(), io.counts);
    if (!mayReplace(entry && readKept(entry), kept.checkedAtMs)) return;
    if (cache.costsRequests && !io.gate.admitCacheWrite()) return;
    await cache.putEntry(keyOf(object), writeKept(kept));
  });
}
