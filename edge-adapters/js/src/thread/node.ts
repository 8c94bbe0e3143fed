/*
 * Threads of Node, Deno and Bun, which all have `node:worker_threads`.
 */

import { Worker } from "node:worker_threads";

import type { FromThread, Thread, ThreadListener, ThreadSource } from "./protocol.js";

/** Threads that run `script`, which calls `serveGuest`. */
export function nodeThreads(script: URL): ThreadSource {
  return (listener) => start(script, listener);
}

function start(script: URL, listener: ThreadListener): Thread {
  const worker = new Worker(script, { name: "canter-guest" });
  worker.on("message", (message: FromThread) => listener.message(message));
  worker.on("messageerror", (error) => listener.failure(error));
  worker.on("error", (error) => listener.failure(error));
  worker.on("exit", (code) => listener.failure(new Error(`it exited with code ${code}`)));
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    // What it rejects with concerns nobody any more.
    terminate: () => void worker.terminate().catch(() => undefined),
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
  };
}
