/*
 * A static host on loopback, no more than what any of them does: files, ranges, ETags. The page is at `/`,
 * the index below `/index/`.
 */

import { open } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, resolve, sep } from "node:path";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Serves the folders `page` and `index`; resolves with the server when it listens. */
export function serve({ page, index, port = 0 }) {
  const server = createServer((request, response) => {
    answer(request, response, page, index).catch(() => response.destroy());
  });
  return new Promise((done) => server.listen(port, "127.0.0.1", () => done(server)));
}

async function answer(request, response, page, index) {
  if (request.method !== "GET" && request.method !== "HEAD") return response.writeHead(405).end();
  let path;
  try {
    path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
  } catch {
    return response.writeHead(400).end();
  }
  const [folder, name] = path.startsWith("/index/")
    ? [index, path.slice(7)]
    : [page, path.slice(1) || "index.html"];
  const file = join(folder, name);
  const isInside = resolve(file).startsWith(resolve(folder) + sep);
  const handle = isInside ? await open(file).catch(() => undefined) : undefined;
  if (handle === undefined) return response.writeHead(404).end();
  try {
    const info = await handle.stat();
    if (!info.isFile()) return response.writeHead(404).end();
    await send(request, response, handle, info, extname(file));
  } finally {
    await handle.close();
  }
}

async function send(request, response, handle, { size, mtimeMs }, extension) {
  const etag = `"${size.toString(16)}-${Math.round(mtimeMs).toString(16)}"`;
  const headers = {
    etag,
    "accept-ranges": "bytes",
    "cache-control": "no-cache",
    "content-type": TYPES[extension] ?? "application/octet-stream",
  };
  if (request.headers["if-none-match"] === etag) return response.writeHead(304, headers).end();
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "");
  let [first, last] = [0, size - 1];
  if (range !== null) {
    first = Number(range[1]);
    if (range[2] !== "") last = Math.min(Number(range[2]), size - 1);
    if (first > last) return response.writeHead(416, { "content-range": `bytes */${size}` }).end();
    headers["content-range"] = `bytes ${first}-${last}/${size}`;
  }
  const body = Buffer.alloc(last - first + 1);
  if (request.method === "GET" && body.length > 0) await handle.read(body, 0, body.length, first);
  response.writeHead(range === null ? 200 : 206, { ...headers, "content-length": body.length });
  response.end(request.method === "GET" ? body : undefined);
}
