/*
 * The search API on Node: `node hosts/node-host.mjs --index NAME=URL`.
 */

import { createServer } from "node:http";

import { createNodeCanter, toNodeListener } from "../dist/entry/node.js";
import { announce, readArguments } from "./arguments.mjs";

const { port, indexes, cache, threads } = readArguments(process.argv.slice(2));
const canter = createNodeCanter({ indexes, cache, threads });
await canter.warmUp();
const server = createServer(toNodeListener(canter));
server.listen(port, "127.0.0.1", () => announce(server.address().port));
