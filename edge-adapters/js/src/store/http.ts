/*
 * Objects of any web server that honours `Range`, by the platform's own `fetch`.
 *
 * Manners: never HEAD; `Accept-Encoding: identity`; a range is answered with 206 and a fitting
 * `Content-Range`, never with a whole object; the body is counted; a redirect leads to the same host
 * or nowhere. From the first thing that does not fit, no further byte of a body is read.
 */

import { FetchFailure, messageOf } from "../errors.js";
import { type Answer, asksForAll, checkAnswer } from "./answer.js";
import {
  type FetchedRange,
  type FetchRange,
  MAX_WHOLE_OBJECT_BYTES,
  type RangeRequest,
} from "./contract.js";
import { checkObjectName } from "./object-name.js";

/** Redirects that one request may follow. */
const MAX_REDIRECTS = 5;

/** Settings of a store on web servers. */
export interface HttpStoreOptions {
  /**
   * Where the objects of each index are: its base URL by its name. A query string, such as a
   * signature, is sent with every request.
   */
  readonly indexes: Readonly<Record<string, string | URL>>;
  /** Sent with every request: `authorization`, for example. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Longest read to the end of an object, in bytes; 64 MiB by default. */
  readonly maxWholeObjectBytes?: number;
  /** What to call instead of the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Further settings of each request, such as `{ cache: "no-store" }`. */
  readonly requestInit?: RequestInit;
  /**
   * How redirects are kept on their host. `before` (the default) looks at each before it is followed;
   * a browser shows none of them to a script, so there only the last address can be looked at, `after`.
   */
  readonly checksRedirects?: "before" | "after";
  /**
   * Who asks whether a manifest has changed: this package with `If-None-Match`, or the browser's own HTTP
   * cache, which needs no CORS preflight.
   */
  readonly revalidatesBy?: "header" | "http-cache";
}

/** A store on web servers. */
export function httpStore(options: HttpStoreOptions): FetchRange {
  const bases = new Map(Object.entries(options.indexes).map(([name, url]) => [name, new URL(url)]));
  return async (request) => {
    checkObjectName(request.object, request);
    const url = urlOf(bases, request.object);
    if (url === undefined) {
      throw FetchFailure.of(
        "not-found",
        request.object,
        request,
        "no base URL is set for this index",
      );
    }
    const response = await send(options, request, url);
    try {
      return await answerOf(options, request, response);
    } catch (error) {
      // No byte of a body that does not fit is read.
      void response.body?.cancel().catch(() => undefined);
      throw error;
    }
  };
}

function urlOf(bases: ReadonlyMap<string, URL>, object: string): URL | undefined {
  const [index = "", ...rest] = object.split("/");
  const base = bases.get(index);
  if (base === undefined) return undefined;
  const url = new URL(base);
  const path = rest.map(encodeURIComponent).join("/");
  url.pathname = `${url.pathname.replace(/\/$/, "")}/${path}`;
  return url;
}

async function send(options: HttpStoreOptions, request: RangeRequest, url: URL): Promise<Response> {
  const { object, offset, len } = request;
  const headers: Record<string, string> = { ...options.headers, "accept-encoding": "identity" };
  const init: RequestInit = { ...options.requestInit, headers, signal: request.signal };
  if (!asksForAll(request)) {
    headers["range"] = `bytes=${offset}-${len === undefined ? "" : offset + len - 1}`;
  } else if (options.revalidatesBy === "http-cache") {
    init.cache = "no-cache";
  }
  if (request.ifNoneMatch !== undefined && options.revalidatesBy !== "http-cache") {
    headers["if-none-match"] = request.ifNoneMatch;
  }
  const isChecked = options.checksRedirects !== "after";
  init.redirect = isChecked ? "manual" : "follow";
  const fetch = options.fetch ?? globalThis.fetch;
  const refuse = (fault: "redirected_to_other_host" | "too_many_redirects", seen: string) =>
    FetchFailure.misbehaved(object, request, fault, seen);
  let target = url;
  for (let hops = 0; ; hops++) {
    let response: Response;
    try {
      response = await fetch(target.href, init);
    } catch (error) {
      throw FetchFailure.of("unavailable", object, request, messageOf(error));
    }
    if (!isChecked && response.redirected && !isSameHost(url, new URL(response.url))) {
      void response.body?.cancel().catch(() => undefined);
      throw refuse(
        "redirected_to_other_host",
        `${url.origin} redirects to ${new URL(response.url).origin}`,
      );
    }
    if (![301, 302, 303, 307, 308].includes(response.status)) return response;
    const { status } = response;
    const location = response.headers.get("location");
    void response.body?.cancel().catch(() => undefined);
    const next = URL.canParse(location ?? "", target) ? new URL(location ?? "", target) : undefined;
    // Only the host is shown: paths and queries may hold secrets.
    if (next === undefined || location === null || !isSameHost(url, next)) {
      const to = next === undefined || location === null ? "no URL" : next.origin;
      const seen = `${url.origin} redirects (status ${status}) to ${to}, where nothing was sent`;
      throw refuse("redirected_to_other_host", seen);
    }
    if (hops >= MAX_REDIRECTS) {
      const seen = `${url.origin} redirects (status ${status}) more than ${MAX_REDIRECTS} times`;
      throw refuse("too_many_redirects", seen);
    }
    target = next;
  }
}

/** The same host and port; from `http` to `https` at the usual ports is the same host too, never back. */
function isSameHost(asked: URL, target: URL): boolean {
  const isUpgrade =
    asked.protocol === "http:" &&
    target.protocol === "https:" &&
    asked.port === "" &&
    target.port === "";
  return asked.hostname === target.hostname && (asked.origin === target.origin || isUpgrade);
}

async function answerOf(
  options: HttpStoreOptions,
  request: RangeRequest,
  response: Response,
): Promise<FetchedRange> {
  const known = request.ifNoneMatch;
  const none = new Uint8Array(0);
  if (response.status === 304 && known !== undefined) return { bytes: none, isUnchanged: true };
  const answer = checkAnswer(request, response.status, response.headers);
  const etag = response.headers.get("etag") ?? undefined;
  // A server that does not know If-None-Match sends the same version again.
  if (known !== undefined && etag === known) {
    void response.body?.cancel().catch(() => undefined);
    return { bytes: none, isUnchanged: true };
  }
  const maxBytes = request.len ?? options.maxWholeObjectBytes ?? MAX_WHOLE_OBJECT_BYTES;
  const bytes = await collect(request, response, answer, maxBytes);
  return { bytes, etag, objectLen: asksForAll(request) ? bytes.length : answer.objectLen };
}

/** Reads the body: exactly as many bytes as were announced, or all of it up to the cap. */
async function collect(
  request: RangeRequest,
  response: Response,
  answer: Answer,
  maxBytes: number,
): Promise<Uint8Array> {
  const expected = answer.bodyLen;
  const tooLarge = () => {
    const what = `the object is longer than the ${maxBytes} bytes a whole read may have`;
    return FetchFailure.of("budget", request.object, request, what);
  };
  if (expected !== undefined && expected > maxBytes) throw tooLarge();
  const parts: Uint8Array[] = [];
  let len = 0;
  const short = () => {
    const seen = `only ${len} of ${expected ?? "more"} bytes came`;
    return FetchFailure.misbehaved(request.object, request, "short_body", seen);
  };
  const reader = response.body?.getReader();
  while (reader !== undefined) {
    const part = await reader.read().catch(() => {
      // The connection ended in the middle of the body.
      throw short();
    });
    if (part.done) break;
    len += part.value.length;
    if (len > (expected ?? maxBytes)) {
      await reader.cancel().catch(() => undefined);
      if (expected === undefined) throw tooLarge();
      const seen = `more bytes came than the ${expected} that were announced`;
      throw FetchFailure.misbehaved(request.object, request, "long_body", seen);
    }
    parts.push(part.value);
  }
  if (expected !== undefined && len < expected) throw short();
  return joined(parts, len);
}

function joined(parts: readonly Uint8Array[], len: number): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const all = new Uint8Array(len);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
