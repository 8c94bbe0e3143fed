/*
 * The search API on Deno:
 * `deno run --allow-net --allow-read --allow-env hosts/deno-host.mjs --index NAME=URL`; with a folder for
 * `--cache`, `--allow-write` too.
 */

import { createDenoCanter, toDenoHandler } from "../dist/entry/deno.js";
import { announce, readArguments } from "./arguments.mjs";

const { port, indexes, cache, threads } = readArguments(Deno.args);
const canter = await createDenoCanter({ indexes, cache, threads });
await canter.warmUp();
const onListen = (address) => announce(address.port);
Deno.serve({ port, hostname: "127.0.0.1", onListen }, toDenoHandler(canter));
