/*
 * Instances of the guest: how one is made, and which is used. No I/O but loading the module.
 *
 * Many searches share an instance, because `step` returns between waves: their sessions are stepped in
 * turns. A trap leaves an instance in an unknown state, so it is thrown away with all its sessions.
 */

import { instantiate } from "../guest/canter-guest.js";
import { CanterError, isSearchErrorKind, messageOf } from "./errors.js";
import { pause } from "./io/retry.js";
import type { Guest, SearchError } from "./protocol.js";

/** Gives the core module of a name such as `canter-guest.core.wasm`. */
export type ModuleSource = (name: string) => WebAssembly.Module | Promise<WebAssembly.Module>;

/** Makes a fresh instance of the guest. */
export type GuestSource = () => Promise<{
  readonly guest: Guest;
  /** Its memory, where it is known: an instance that has grown is replaced when it is idle. */
  readonly memory?: WebAssembly.Memory | undefined;
}>;

/** Instances of the guest that this package brings along. Each module is asked for once. */
export function guestSource(modules: ModuleSource): GuestSource {
  const loaded = new Map<string, Promise<WebAssembly.Module>>();
  const load = (name: string) => {
    const module = loaded.get(name) ?? Promise.resolve(modules(name));
    loaded.set(name, module);
    // What could not be loaded is tried again next time.
    module.catch(() => loaded.delete(name));
    return module;
  };
  return async () => {
    let memory: WebAssembly.Memory | undefined;
    const root = await instantiate(load, {}, async (module, imports) => {
      const instance = await WebAssembly.instantiate(module, imports);
      const exported = instance.exports["memory"];
      if (exported instanceof WebAssembly.Memory) memory = exported;
      return instance;
    });
    return { guest: root.engine, memory };
  };
}

/** The instance that a search ran on was lost by no fault of the search: it may be run again. */
export class InstanceLost extends Error {}

/** One instance, with the searches that use it. */
export class LiveGuest {
  private hasTrapped = false;

  constructor(
    private readonly guest: Guest,
    private readonly memory: WebAssembly.Memory | undefined,
  ) {}

  get isLost(): boolean {
    return this.hasTrapped;
  }

  /** Bytes of its memory, which never shrinks; 0 if unknown. */
  get memoryBytes(): number {
    return this.memory?.buffer.byteLength ?? 0;
  }

  /**
   * Calls the guest. Its own errors become a `CanterError`; anything else is a trap, and the instance is
   * not used again.
   */
  call<T>(work: (guest: Guest) => T): T {
    if (this.hasTrapped) throw new InstanceLost("another search broke the guest's instance");
    try {
      return work(this.guest);
    } catch (error) {
      const refused = refusalOf(error);
      if (refused !== undefined) throw new CanterError(refused.kind, refused.message);
      this.hasTrapped = true;
      const what = `the guest broke off (${messageOf(error)}); please report the query`;
      throw new CanterError("internal", what);
    }
  }
}

/**
 * The error case of a `result`: jco throws it as it is, or, in other modes, wrapped as `payload`. What is an
 * `Error` itself was thrown by the glue or the runtime.
 */
function refusalOf(error: unknown): SearchError | undefined {
  const refusal = (error as { payload?: unknown } | null | undefined)?.payload ?? error;
  if (typeof refusal !== "object" || refusal === null || refusal instanceof Error) return undefined;
  const { kind, message } = refusal as { kind?: unknown; message?: unknown };
  return isSearchErrorKind(kind) && typeof message === "string" ? { kind, message } : undefined;
}

/** Settings of the instances. */
export interface InstanceOptions {
  /** Most searches at once; more wait. */
  readonly maxSearches: number;
  /** With more memory than this, an instance takes no further search, and is replaced when idle. */
  readonly maxMemoryBytes: number;
  /** Whether no search may wait for a promise of another; see `TrafficOptions`. */
  readonly isolatesSearches: boolean;
}

/** How long those who wait for room sleep between two looks. */
const POLL_MS = 5;

/** The one instance in use, and who uses it. */
export class Instances {
  private current: LiveGuest | undefined;
  private starting: Promise<LiveGuest> | undefined;
  /** Until when each search may take at most, in milliseconds of `performance.now()`. */
  private readonly leases = new Set<{ readonly untilMs: number }>();

  constructor(
    private readonly source: GuestSource,
    private readonly options: InstanceOptions,
  ) {}

  /**
   * Runs `work` on an instance as soon as there is room. Waiting is looking again after a pause, and room
   * is given for a time only: on Workers no promise of one request may wait for another request, which
   * may be ended at any moment without a word.
   */
  async use<T>(
    maxMs: number,
    signal: AbortSignal,
    work: (live: LiveGuest) => Promise<T>,
  ): Promise<T> {
    while (!this.hasRoom()) {
      if (signal.aborted) {
        const what = `${this.leases.size} searches run already; try again`;
        throw new CanterError("unavailable", what);
      }
      await pause(POLL_MS, signal);
    }
    const lease = { untilMs: performance.now() + maxMs };
    this.leases.add(lease);
    try {
      return await work(await this.live());
    } finally {
      this.leases.delete(lease);
      this.retire();
    }
  }

  /**
   * Calls the instance in use, if there is one. Takes no room, because it gives the guest back at once: what
   * is said of a full house must not wait for room itself.
   */
  callNow<T>(work: (guest: Guest) => T): T | undefined {
    return this.current?.isLost === false ? this.current.call(work) : undefined;
  }

  /** Bytes of the instance in use. */
  get memoryBytes(): number {
    return this.current?.memoryBytes ?? 0;
  }

  private hasRoom(): boolean {
    const now = performance.now();
    for (const lease of this.leases) {
      if (lease.untilMs < now) this.leases.delete(lease);
    }
    this.retire();
    const isFull = this.memoryBytes > this.options.maxMemoryBytes && this.leases.size > 0;
    return !isFull && this.leases.size < this.options.maxSearches;
  }

  private retire(): void {
    const isIdle = this.leases.size === 0;
    const isLarge = this.memoryBytes > this.options.maxMemoryBytes;
    if (this.current?.isLost === true || (isIdle && isLarge)) this.current = undefined;
  }

  private async live(): Promise<LiveGuest> {
    if (this.current !== undefined && !this.current.isLost) return this.current;
    const make = async () => {
      const { guest, memory } = await this.source();
      return new LiveGuest(guest, memory);
    };
    if (this.options.isolatesSearches) {
      const made = await make();
      // Another search may have been faster.
      if (this.current === undefined || this.current.isLost) this.current = made;
      return this.current;
    }
    this.starting ??= make();
    try {
      this.current = await this.starting;
      return this.current;
    } finally {
      this.starting = undefined;
    }
  }
}
