/*
 * A small store on loopback that misbehaves as it is told, over real sockets. Every request is kept, so
 * that a test can say what was not sent.
 */

import { createServer } from "node:http";

/** Starts a server of `objects` (path → bytes). `quirk` may be set at any time. */
export async function startStore(objects) {
  const store = {
    requests: [],
    quirk: undefined,
    quirkCount: Infinity,
    delayMs: 0,
    numAtOnce: 0,
    maxAtOnce: 0,
    held: undefined,
  };
  const server = createServer(async (request, response) => {
    const { range, "if-none-match": known } = request.headers;
    const path = decodeURIComponent(request.url.split("?")[0].slice(1));
    store.requests.push({
      method: request.method,
      url: request.url,
      path,
      range,
      known,
      headers: request.headers,
    });
    store.numAtOnce += 1;
    store.maxAtOnce = Math.max(store.maxAtOnce, store.numAtOnce);
    let isUnderWay = true;
    const end = () => {
      if (isUnderWay) store.numAtOnce -= 1;
      isUnderWay = false;
    };
    response.on("close", end);
    if (store.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, store.delayMs));
    await store.held;
    const quirk = store.quirkCount > 0 ? store.quirk : undefined;
    if (quirk !== undefined) store.quirkCount -= 1;
    // A client may have the answer, and ask again, before "close" is told here: from here on this request
    // is under way no more, unless it is never answered.
    if (quirk !== "hangs") end();
    answer(response, store.objects[path], range, known, quirk, request.url);
  });
  store.objects = objects;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  store.port = server.address().port;
  store.url = `http://127.0.0.1:${store.port}`;
  /** Answers nothing until the function that this returns is called. */
  store.hold = () => {
    let release;
    store.held = new Promise((resolve) => (release = resolve));
    return () => {
      store.held = undefined;
      release();
    };
  };
  store.close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return store;
}

/** Waits until `isSo()`, and fails with `what` if that never comes true. */
export async function until(isSo, what) {
  const end = Date.now() + 60_000;
  while (!isSo()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** What lets scripts of other origins read. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "content-range, etag",
};

function answer(response, bytes, range, known, quirk, url) {
  for (const [name, value] of Object.entries(CORS)) {
    if (quirk !== "noCors") response.setHeader(name, value);
  }
  if (quirk === "busy") return response.writeHead(503).end();
  if (quirk === "forbidden") return response.writeHead(403).end();
  if (quirk === "hangs") return;
  if (quirk?.redirectTo) return response.writeHead(302, { location: quirk.redirectTo + url }).end();
  if (quirk === "redirectsForever") return response.writeHead(302, { location: url }).end();
  if (bytes === undefined) return response.writeHead(404).end();
  const etag = quirk === "etagChanges" ? `"${Math.random()}"` : `"v${bytes.length}"`;
  if (known === etag) return response.writeHead(304, { etag }).end();
  const parts = /^bytes=(\d+)-(\d*)$/.exec(range ?? "");
  const headers = { etag };
  if (quirk === "compressed") headers["content-encoding"] = "gzip";
  if (parts === null || quirk === "rangeIgnored") {
    headers["content-length"] = bytes.length;
    return response.writeHead(200, headers).end(quirk === "compressed" ? "" : bytes);
  }
  let first = Number(parts[1]);
  let last = parts[2] === "" ? bytes.length - 1 : Math.min(Number(parts[2]), bytes.length - 1);
  if (first >= bytes.length) {
    return response.writeHead(416, { "content-range": `bytes */${bytes.length}` }).end();
  }
  let body = bytes.subarray(first, last + 1);
  if (quirk === "shifted") [first, last] = [first + 1, last + 1];
  if (quirk === "clipped") {
    last = first + Math.floor((last - first) / 2);
    body = bytes.subarray(first, last + 1);
  }
  if (quirk !== "noContentRange")
    headers["content-range"] = `bytes ${first}-${last}/${bytes.length}`;
  if (quirk === "cutBody") {
    response.writeHead(206, { ...headers, "content-length": body.length });
    response.write(body.subarray(0, Math.floor(body.length / 2)));
    return setTimeout(() => response.destroy(), 20);
  }
  if (quirk === "shortChunks") body = body.subarray(0, Math.floor(body.length / 2));
  if (quirk === "longBody") body = Buffer.concat([body, Buffer.alloc(10)]);
  if (quirk !== "shortChunks" && quirk !== "longBody") headers["content-length"] = body.length;
  response.writeHead(206, headers).end(body);
}

/** Bytes that differ everywhere and are the same each time. */
export function someBytes(len, seed = 1) {
  const bytes = Buffer.alloc(len);
  let state = seed >>> 0 || 1;
  for (let at = 0; at < len; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[at] = state & 0xff;
  }
  return bytes;
}
