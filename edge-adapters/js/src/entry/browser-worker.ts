/*
 * The script of the Web Worker that `startCanter` talks to.
 */

import type { Canter } from "../canter.js";
import { messageOf } from "../errors.js";
import { createBrowserCanter, type WorkerReply, type WorkerRequest } from "./browser.js";

let canter: Promise<Canter> | undefined;
const running = new Map<number, AbortController>();

globalThis.addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) => {
  if ("abort" in data) return running.get(data.id)?.abort();
  answer(data)
    .catch((error: unknown): WorkerReply => ({ id: data.id, failure: messageOf(error) }))
    .then(
      (reply) => globalThis.postMessage(reply),
      () => undefined,
    );
});

async function answer(message: Exclude<WorkerRequest, { abort: true }>): Promise<WorkerReply> {
  const { id } = message;
  if ("options" in message) {
    canter = createBrowserCanter(message.options);
    await (await canter).warmUp();
    return { id, answer: null };
  }
  if (canter === undefined) throw new Error("the worker has no options yet");
  const stop = new AbortController();
  running.set(id, stop);
  try {
    return { id, answer: await (await canter).handle(message.request, { signal: stop.signal }) };
  } finally {
    running.delete(id);
  }
}
