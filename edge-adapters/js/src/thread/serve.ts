/*
 * The guest in a thread: answers the calls of its host, one after the other.
 */

import { CanterError } from "../errors.js";
import { type GuestSource, LocalInstance, type OpenSession } from "../guest.js";
import type { Progress } from "../protocol.js";
import { type FromThread, type Result, type ToThread, transferable } from "./protocol.js";

/** The thread's side of its channel to the host. */
export interface ThreadPort {
  post(message: FromThread, transfer: ArrayBuffer[]): void;
  listen(onMessage: (message: ToThread) => void): void;
}

/** Nothing interrupts a thread but its end, so its sessions wait for no signal. */
const NEVER = new AbortController().signal;

/** Makes an instance of the guest, and answers for it until the thread is ended. */
export function serveGuest(port: ThreadPort, source: GuestSource): void {
  const served = start(port, source);
  // Calls are answered in their order, whatever each has to wait for.
  let last: Promise<unknown> = served;
  port.listen((message) => {
    last = last.then(async () => (await served)?.take(message));
  });
}

async function start(port: ThreadPort, source: GuestSource): Promise<Server | undefined> {
  try {
    const server = new Server(port, source);
    await server.start();
    return server;
  } catch (error) {
    port.post({ tag: "broken", error: textOf(error) }, []);
    return undefined;
  }
}

class Server {
  private instance: LocalInstance | undefined;
  private readonly sessions = new Map<number, OpenSession>();
  /** What the instance has said of its trap. */
  private trap: Result | undefined;

  constructor(
    private readonly port: ThreadPort,
    private readonly source: GuestSource,
  ) {}

  async start(): Promise<void> {
    this.instance = new LocalInstance(await this.source(), (what, error) => {
      this.trap = { tag: "trapped", what, error: textOf(error) };
    });
    this.port.post({ tag: "ready", memoryBytes: this.instance.memoryBytes }, []);
  }

  async take(message: ToThread): Promise<void> {
    if (message.call === "close") {
      this.sessions.get(message.session)?.close();
      this.sessions.delete(message.session);
      return;
    }
    const result = await this.resultOf(message);
    const parts = result.tag === "stepped" ? bytesOf(result.progress) : [];
    const memoryBytes = this.instance?.memoryBytes ?? 0;
    this.port.post({ tag: "reply", id: message.id, result, memoryBytes }, transferable(parts));
  }

  private async resultOf(message: Exclude<ToThread, { call: "close" }>): Promise<Result> {
    const { instance, sessions } = this;
    try {
      if (instance === undefined) throw new Error("the guest has not been started");
      if (message.call === "version") {
        return { tag: "version", version: await instance.version() };
      }
      if (message.call === "open") {
        const session = await instance.open(message.opening);
        sessions.set(message.session, session);
        return { tag: "opened", budget: session.budget, guestUs: session.guestUs };
      }
      const session = sessions.get(message.session);
      if (session === undefined) throw new Error("a step without an open session");
      const progress = await session.step(message.supplies, message.report, NEVER);
      return { tag: "stepped", progress, guestUs: session.guestUs };
    } catch (error) {
      if (this.trap !== undefined) return this.trap;
      if (error instanceof CanterError) {
        return { tag: "refused", kind: error.kind, message: error.message };
      }
      return { tag: "trapped", what: "the guest's thread broke off", error: textOf(error) };
    }
  }
}

/** What the guest has made for its host, and nobody here needs any more. */
function bytesOf(progress: Progress): Uint8Array[] {
  if (progress.tag === "pending") return progress.val.stores.map(({ bytes }) => bytes);
  if (progress.tag === "failed") return [];
  const outcome = progress.val;
  switch (outcome.tag) {
    case "http":
      return [outcome.val.body];
    case "partial":
      return [outcome.val];
    case "plan":
      return [outcome.val.root, ...outcome.val.leaves];
    default:
      return [];
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
