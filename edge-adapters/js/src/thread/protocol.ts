/*
 * What a host and a thread that runs the guest say to each other.
 *
 *   host ──── open, step, version ───▶ thread      each is answered by one reply, in the order of the calls
 *        ──── close ─────────────────▶             is not answered
 *        ◀─── ready | broken ────────              once, when the guest has been started
 *        ◀─── reply ─────────────────
 *
 * The host names the sessions, so that it can close one whose opening it did not wait for.
 */

import type { Opening } from "../guest.js";
import type { Budget, HostReport, Progress, SearchErrorKind, Supply } from "../protocol.js";

/** What the host says. */
export type ToThread =
  | { readonly call: "open"; readonly id: number; readonly session: number; readonly opening: Opening }
  | {
      readonly call: "step";
      readonly id: number;
      readonly session: number;
      readonly supplies: Supply[];
      readonly report: HostReport;
    }
  | { readonly call: "version"; readonly id: number }
  | { readonly call: "close"; readonly session: number };

/** What came of a call. */
export type Result =
  | { readonly tag: "opened"; readonly budget: Budget; readonly guestUs: number }
  | { readonly tag: "stepped"; readonly progress: Progress; readonly guestUs: number }
  | { readonly tag: "version"; readonly version: string }
  /** The guest's own error. */
  | { readonly tag: "refused"; readonly kind: SearchErrorKind; readonly message: string }
  /** The instance is lost; for the log. */
  | { readonly tag: "trapped"; readonly what: string; readonly error: string };

/** What the thread says. */
export type FromThread =
  | { readonly tag: "ready"; readonly memoryBytes: number }
  | { readonly tag: "broken"; readonly error: string }
  | {
      readonly tag: "reply";
      readonly id: number;
      readonly result: Result;
      readonly memoryBytes: number;
    };

/** A thread of the platform, as the host sees it. */
export interface Thread {
  post(message: ToThread, transfer: ArrayBuffer[]): void;
  /** Ends it wherever it is, in the middle of a computation too. */
  terminate(): void;
  /** Whether the process must go on for its sake. */
  hold(isBusy: boolean): void;
}

/** What a thread tells its host. */
export interface ThreadListener {
  message(message: FromThread): void;
  /** It has ended by itself. */
  failure(error: unknown): void;
}

/** Starts a thread that serves the guest (`serve.ts`). */
export type ThreadSource = (listener: ThreadListener) => Thread;

/** The buffers of `parts` that can be handed over as they are, each once. */
export function transferable(parts: Iterable<Uint8Array>): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const { buffer, byteLength } of parts) {
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffers.add(buffer);
  }
  return [...buffers];
}
