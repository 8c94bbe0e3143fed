/*
 * `npm start`: the page on an index of generated logs, for working on it. A file that is changed is there after a
 * reload.
 *
 * CANTER is another build of the command line. `npm start -- NAME=FOLDER …` serves other indexes.
 */

import { canter, makeIndexes, serveFolders, serveIndexes } from "./tests/support/server.mjs";

const named = process.argv.slice(2);
const made = named.length === 0 ? makeIndexes(200_000) : undefined;
const server =
  made === undefined
    ? await serveFolders(named)
    : await serveIndexes(made.folder, ["logs", "cities"]);
console.log(`search at ${server.url} (Ctrl-C ends it), answered by ${canter}`);
const end = async () => {
  await server.stop();
  made?.remove();
  process.exit();
};
process.once("SIGINT", end);
process.once("SIGTERM", end);
