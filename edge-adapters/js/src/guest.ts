/*
 * Instances of the guest: how one is made, and how it is called. No I/O but loading the module.
 *
 * Many searches share an instance, because `step` returns between waves: their sessions are stepped in
 * turns. A trap leaves an instance in an unknown state, so it is thrown away with all its sessions: the
 * search that trapped ends with an error, the others are run again (`canter.ts`).
 */

import { instantiate } from "../guest/canter-guest.js";
import { CanterError, isSearchErrorKind } from "./errors.js";
import type {
  Budget,
  Guest,
  HostReport,
  HttpRequest,
  Progress,
  SearchError,
  Session,
  Supply,
} from "./protocol.js";

/** Gives the core module of a name such as `canter-guest.core.wasm`. */
export type ModuleSource = (name: string) => WebAssembly.Module | Promise<WebAssembly.Module>;

/** An instance of the guest, as a source makes it. */
export interface MadeGuest {
  readonly guest: Guest;
  /** Its memory, where it is known: an instance that has grown is replaced when it is idle. */
  readonly memory?: WebAssembly.Memory | undefined;
  /** Called after a trap: from then on nothing may run in it, not even what the garbage collector calls. */
  readonly abandon?: (() => void) | undefined;
}

/** Makes a fresh instance of the guest. */
export type GuestSource = () => Promise<MadeGuest>;

/** Takes what no caller is told: what happened, and what was thrown. */
export type Log = (what: string, error: unknown) => void;

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
    let isAbandoned = false;
    const root = await instantiate(load, {}, async (module, imports) => {
      const { exports } = await WebAssembly.instantiate(module, imports);
      const exported = exports["memory"];
      if (exported instanceof WebAssembly.Memory) memory = exported;
      return { exports: withoutDestructors(exports, () => isAbandoned) };
    });
    return { guest: root.engine, memory, abandon: () => void (isAbandoned = true) };
  };
}

/**
 * The exports, of which destructors do nothing once `isAbandoned`. Sessions that a trap has taken along are
 * given up by the garbage collector, and jco calls their destructors then: in a broken instance that traps
 * again, where nobody can catch it.
 */
function withoutDestructors(
  exports: WebAssembly.Exports,
  isAbandoned: () => boolean,
): WebAssembly.Exports {
  const guarded: WebAssembly.Exports = { ...exports };
  for (const [name, value] of Object.entries(exports)) {
    if (!name.includes("[dtor]") || typeof value !== "function") continue;
    guarded[name] = (...args: unknown[]) => (isAbandoned() ? undefined : value(...args));
  }
  return guarded;
}

/** The instance that a search ran on was lost by no fault of the search: it may be run again. */
export class InstanceLost extends Error {
  override readonly name = "InstanceLost";
}

/** The time was up, or the caller had gone, before the guest returned. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/** What a caller is told of a trap. The log has the rest. */
export function brokeOff(): CanterError {
  const what = "the search broke off inside the engine; please report the query (the log says more)";
  return new CanterError("internal", what);
}

/** What a session is opened for. */
export type Opening =
  | {
      readonly kind: "http";
      readonly request: HttpRequest;
      readonly settings: string;
      readonly maxLeaves: number;
    }
  | { readonly kind: "leaf"; readonly leaf: Uint8Array }
  | { readonly kind: "root"; readonly root: Uint8Array; readonly partials: Uint8Array[] };

/** A session that is open on an instance. */
export interface OpenSession {
  /** What its request asks the host to keep to. */
  readonly budget: Budget;
  /** Microseconds in the guest so far. */
  readonly guestUs: number;
  /**
   * Resumes it. Rejects with a `CanterError` after a trap of its own, with `InstanceLost` after another's,
   * and with `GivenUp` if it ran on when `signal` was aborted (where a step can be interrupted at all).
   */
  step(supplies: Supply[], report: HostReport, signal: AbortSignal): Promise<Progress>;
  /** Gives the guest its memory back. Never fails. */
  close(): void;
}

/** One instance of the guest, here or in a thread. */
export interface Instance {
  /** After a trap, it is not used again. */
  readonly isLost: boolean;
  /** Bytes of its memory, which never shrinks; 0 if unknown. */
  readonly memoryBytes: number;
  /** Opens a session. Rejects as `step` does, and with the guest's own errors. */
  open(opening: Opening, signal: AbortSignal): Promise<OpenSession>;
  version(signal: AbortSignal): Promise<string>;
  /** Ends it. Sessions that are open on it are lost. */
  end(): void;
}

/** An instance on this thread: the guest computes while everything else waits. */
export class LocalInstance implements Instance {
  private hasTrapped = false;

  constructor(
    private readonly made: MadeGuest,
    private readonly log: Log,
  ) {}

  get isLost(): boolean {
    return this.hasTrapped;
  }

  get memoryBytes(): number {
    return this.made.memory?.buffer.byteLength ?? 0;
  }

  async open(opening: Opening): Promise<OpenSession> {
    const startedMs = performance.now();
    const session = this.call("opening a session", (guest) => openOn(guest, opening));
    const budget = this.call("telling its budget", () => session.budget());
    return new LocalSession(this, session, budget, usSince(startedMs));
  }

  async version(): Promise<string> {
    return this.call("telling its version", (guest) => guest.version());
  }

  end(): void {
    this.hasTrapped = true;
    this.made.abandon?.();
  }

  /**
   * Calls the guest. Its own errors become a `CanterError`; anything else is a trap, and the instance is
   * not used again.
   */
  call<T>(what: string, work: (guest: Guest) => T): T {
    if (this.hasTrapped) throw new InstanceLost("the guest's instance was lost");
    try {
      return work(this.made.guest);
    } catch (error) {
      const refused = refusalOf(error);
      if (refused !== undefined) throw new CanterError(refused.kind, refused.message);
      this.end();
      this.log(`the guest trapped while ${what}; its instance is replaced`, error);
      throw brokeOff();
    }
  }
}

class LocalSession implements OpenSession {
  constructor(
    private readonly instance: LocalInstance,
    private readonly session: Session,
    readonly budget: Budget,
    public guestUs: number,
  ) {}

  async step(supplies: Supply[], report: HostReport): Promise<Progress> {
    const startedMs = performance.now();
    try {
      return this.instance.call("stepping", () => this.session.step(supplies, report));
    } finally {
      this.guestUs += usSince(startedMs);
    }
  }

  close(): void {
    // A lost instance takes its sessions along.
    if (this.instance.isLost) return;
    try {
      this.instance.call("closing a session", () => dispose(this.session));
    } catch {
      // The search has its answer; the log says what happened.
    }
  }
}

function openOn(guest: Guest, opening: Opening): Session {
  switch (opening.kind) {
    case "http":
      return guest.Session.http(opening.request, opening.settings, opening.maxLeaves);
    case "leaf":
      return guest.Session.leaf(opening.leaf);
    case "root":
      return guest.Session.root(opening.root, opening.partials);
  }
}

/** Runtimes without `Symbol.dispose` are served by jco's own symbol. */
function dispose(session: Session): void {
  const symbol: symbol = Symbol.dispose ?? Symbol.for("dispose");
  (session as unknown as Record<symbol, (() => void) | undefined>)[symbol]?.();
}

function usSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) * 1000);
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
