/*
 * The script of a thread that runs the scripted guest.
 */

import { parentPort } from "node:worker_threads";

import { serveGuest } from "../../dist/thread/serve.js";
import { scriptedGuest } from "./scripted-guest.mjs";

serveGuest(
  {
    post: (message, transfer) => parentPort.postMessage(message, transfer),
    listen: (onMessage) => parentPort.on("message", onMessage),
  },
  scriptedGuest(),
);
