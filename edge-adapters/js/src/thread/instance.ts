/*
 * An instance of the guest in a thread, as its host sees it: calls are sent and their replies awaited, and
 * a call that nobody waits for any more ends the thread if it goes on.
 *
 *   waiting   [ step of A ][ open B ][ step of C ]      the first is the one that the thread is at
 *              ▲ A's time is up: A is answered at once, and if this goes on for GRACE_MS, the thread is
 *                ended, B and C are lost with it and run again elsewhere
 */

import { CanterError } from "../errors.js";
import {
  brokeOff,
  GivenUp,
  type Instance,
  InstanceLost,
  type Log,
  type OpenSession,
  type Opening,
} from "../guest.js";
import type { Budget, HostReport, Progress, Supply } from "../protocol.js";
import {
  type FromThread,
  type Result,
  type Thread,
  type ThreadSource,
  type ToThread,
  transferable,
} from "./protocol.js";

/** How long a call may go on that nobody waits for. */
const GRACE_MS = 100;

/** A call that has not been answered. */
interface Waiting {
  resolve(result: Result): void;
  reject(error: Error): void;
  /** Nobody waits for it. */
  isAbandoned: boolean;
}

/** A call without its number. */
type Call = ToThread extends infer Each
  ? Each extends { readonly id: number }
    ? Omit<Each, "id">
    : never
  : never;

/** An instance in a thread. */
export class ThreadInstance implements Instance {
  isLost = false;
  memoryBytes = 0;
  private readonly thread: Thread;
  /** In the order in which they were sent, which is that in which the thread takes them. */
  private readonly waiting = new Map<number, Waiting>();
  private lastId = 0;
  private lastSession = 0;
  private grace: ReturnType<typeof setTimeout> | undefined;
  private readonly ready: Promise<void>;
  private onReady: () => void = () => undefined;
  private onBroken: (error: Error) => void = () => undefined;

  private constructor(
    source: ThreadSource,
    private readonly log: Log,
  ) {
    this.ready = new Promise((resolve, reject) => {
      this.onReady = resolve;
      this.onBroken = reject;
    });
    this.thread = source({
      message: (message) => this.take(message),
      failure: (error) => this.fail(error),
    });
    this.thread.hold(true);
  }

  /** Starts a thread, and waits until its guest can be called. */
  static async start(source: ThreadSource, log: Log): Promise<ThreadInstance> {
    const instance = new ThreadInstance(source, log);
    await instance.ready;
    return instance;
  }

  async open(opening: Opening, signal: AbortSignal): Promise<OpenSession> {
    const session = ++this.lastSession;
    try {
      const result = await this.ask({ call: "open", session, opening }, [], signal);
      if (result.tag !== "opened") throw this.unexpected(result);
      return new ThreadSession(this, session, result.budget, result.guestUs);
    } catch (error) {
      // Its reply may still come.
      if (error instanceof GivenUp) this.close(session);
      throw error;
    }
  }

  async version(signal: AbortSignal): Promise<string> {
    const result = await this.ask({ call: "version" }, [], signal);
    if (result.tag !== "version") throw this.unexpected(result);
    return result.version;
  }

  end(): void {
    this.lose(new InstanceLost("the guest's thread was ended"));
  }

  /** Resumes a session. */
  async step(
    session: number,
    supplies: Supply[],
    report: HostReport,
    signal: AbortSignal,
  ): Promise<Result & { tag: "stepped" }> {
    const [sent, transfer] = compacted(supplies);
    const call = { call: "step", session, supplies: sent, report } as const;
    const result = await this.ask(call, transfer, signal);
    if (result.tag !== "stepped") throw this.unexpected(result);
    return result;
  }

  /** Closes a session, when the thread comes to it. */
  close(session: number): void {
    if (!this.isLost) this.thread.post({ call: "close", session }, []);
  }

  private ask(call: Call, transfer: ArrayBuffer[], signal: AbortSignal): Promise<Result> {
    if (this.isLost) return Promise.reject(new InstanceLost("the guest's thread is gone"));
    if (signal.aborted) return Promise.reject(new GivenUp());
    return new Promise<Result>((resolve, reject) => {
      const id = ++this.lastId;
      const waiting: Waiting = { resolve, reject, isAbandoned: false };
      const giveUp = () => {
        waiting.isAbandoned = true;
        reject(new GivenUp());
        this.watch();
      };
      const andForget =
        <T>(end: (with_: T) => void) =>
        (value: T) => {
          signal.removeEventListener("abort", giveUp);
          end(value);
        };
      waiting.resolve = andForget(resolve);
      waiting.reject = andForget(reject);
      signal.addEventListener("abort", giveUp, { once: true });
      this.waiting.set(id, waiting);
      this.thread.hold(true);
      this.thread.post({ ...call, id } as ToThread, transfer);
    }).then((result) => this.checked(result));
  }

  private take(message: FromThread): void {
    // What was on its way when the thread was ended.
    if (this.isLost) return;
    if (message.tag === "broken") {
      this.log("the guest cannot be started in a thread", message.error);
      const what = "the engine cannot be started; the log of this host says why";
      this.onBroken(new CanterError("internal", what));
      return this.end();
    }
    this.memoryBytes = message.memoryBytes;
    if (message.tag === "ready") {
      this.thread.hold(this.waiting.size > 0);
      return this.onReady();
    }
    const waiting = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    clearTimeout(this.grace);
    this.grace = undefined;
    if (message.result.tag === "trapped") {
      this.log(message.result.what, message.result.error);
      waiting?.reject(brokeOff());
      return this.end();
    }
    waiting?.resolve(message.result);
    if (this.waiting.size === 0) this.thread.hold(false);
    this.watch();
  }

  /** Ends the thread soon if it is at something that nobody waits for. */
  private watch(): void {
    const [first] = this.waiting.values();
    if (first?.isAbandoned !== true || this.grace !== undefined || this.isLost) return;
    this.grace = setTimeout(() => {
      const what = "a search ran on when its time was up or its caller had gone; its thread was ended";
      this.log(what, `${this.waiting.size} calls were waiting`);
      this.end();
    }, GRACE_MS);
  }

  /** The thread has ended by itself, in the middle of its first call: out of memory, perhaps. */
  private fail(error: unknown): void {
    if (this.isLost) return;
    this.log("a thread of the guest ended by itself", error);
    const [first] = this.waiting.values();
    first?.reject(brokeOff());
    this.onBroken(new CanterError("internal", "the engine's thread ended; the log says more"));
    this.end();
  }

  private lose(error: InstanceLost): void {
    if (this.isLost) return;
    this.isLost = true;
    clearTimeout(this.grace);
    this.onBroken(error);
    for (const waiting of this.waiting.values()) waiting.reject(error);
    this.waiting.clear();
    this.thread.terminate();
  }

  private checked(result: Result): Result {
    if (result.tag === "refused") throw new CanterError(result.kind, result.message);
    return result;
  }

  private unexpected({ tag }: Result): CanterError {
    return new CanterError("internal", `the guest's thread answered a call with ${tag}`);
  }
}

class ThreadSession implements OpenSession {
  private isOpen = true;

  constructor(
    private readonly instance: ThreadInstance,
    private readonly id: number,
    readonly budget: Budget,
    public guestUs: number,
  ) {}

  async step(supplies: Supply[], report: HostReport, signal: AbortSignal): Promise<Progress> {
    const { progress, guestUs } = await this.instance.step(this.id, supplies, report, signal);
    this.guestUs = guestUs;
    return progress;
  }

  close(): void {
    if (this.isOpen) this.instance.close(this.id);
    this.isOpen = false;
  }
}

/**
 * The supplies as they can be sent: a window on a larger buffer is copied, because the whole buffer would
 * be. What fills its buffer may be the cache's, and is copied on the way.
 */
function compacted(supplies: Supply[]): [Supply[], ArrayBuffer[]] {
  const copies: Uint8Array[] = [];
  const sent = supplies.map((supply): Supply => {
    if (supply.outcome.tag !== "bytes") return supply;
    const { val } = supply.outcome;
    if (val.byteLength === val.buffer.byteLength) return supply;
    const copy = val.slice();
    copies.push(copy);
    return { ...supply, outcome: { tag: "bytes", val: copy } };
  });
  return [sent, transferable(copies)];
}
