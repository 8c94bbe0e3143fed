/*
 * A page for a browser: it serves `page.html`, the built package, and the indexes under `/store/NAME/`, so
 * that page and indexes have one origin. Once the page has loaded, `window.canterFetch` answers.
 *
 * Bytes of indexes are passed on as they come, with all that a store does wrong. With `?direct` behind the
 * page's address they are read from where they are, which must allow that (CORS). `--cache opfs` keeps them in
 * the private file system, anything but that and `none` in the Cache API.
 */

import { createReadStream } from "node:fs";
import { createServer, request as ask } from "node:http";
import { extname, normalize } from "node:path";
import { fileURLToPath } from "node:url";

import { announce, readArguments } from "./arguments.mjs";

const { port, indexes, cache } = readArguments(process.argv.slice(2));
const root = fileURLToPath(new URL("..", import.meta.url));
const CACHES = ["none", "opfs"];
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

const server = createServer((incoming, outgoing) => {
  const url = new URL(incoming.url, "http://localhost");
  const store = /^\/store\/([^/]+)\/(.*)$/.exec(url.pathname);
  if (store !== null) return passOn(store[1], store[2], incoming, outgoing);
  if (url.pathname === "/settings.json") {
    const names = Object.keys(indexes);
    outgoing.setHeader("content-type", "application/json");
    return outgoing.end(
      JSON.stringify({ names, indexes, cache: CACHES.includes(cache) ? cache : "cache-api" }),
    );
  }
  const path = url.pathname === "/" ? "/hosts/page.html" : normalize(url.pathname);
  if (!/^\/(hosts|dist|guest)\//.test(path)) return outgoing.writeHead(404).end();
  outgoing.setHeader("content-type", TYPES[extname(path)] ?? "application/octet-stream");
  createReadStream(root + path)
    .on("error", () => outgoing.writeHead(404).end())
    .pipe(outgoing);
});
server.listen(port, "127.0.0.1", () => announce(server.address().port));

function passOn(name, path, incoming, outgoing) {
  if (!Object.hasOwn(indexes, name)) return outgoing.writeHead(404).end();
  const target = `${indexes[name].replace(/\/$/, "")}/${path}`;
  const { host: _, connection: __, ...headers } = incoming.headers;
  const outward = ask(target, { method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
    // A body that breaks off there breaks off here.
    answer.on("aborted", () => outgoing.destroy());
    answer.on("error", () => outgoing.destroy());
  });
  outward.on("error", () =>
    outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end(),
  );
  outgoing.on("close", () => outward.destroy());
  outward.end();
}
