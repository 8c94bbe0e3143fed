/*
 * The script of a thread that runs the guest on Node, Deno and Bun. `createNodeCanter` starts it.
 */

import { parentPort } from "node:worker_threads";

import { guestSource } from "../guest.js";
import { serveGuest } from "../thread/serve.js";
import { ownModule } from "./own-module.js";

if (parentPort === null) throw new Error("this script runs in a thread of createNodeCanter");
const port = parentPort;
serveGuest(
  {
    post: (message, transfer) => port.postMessage(message, transfer),
    listen: (onMessage) => port.on("message", onMessage),
  },
  guestSource(ownModule),
);
