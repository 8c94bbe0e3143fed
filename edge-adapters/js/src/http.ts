/*
 * Between `fetch` and the guest: bodies in, answers out.
 */

import { errorAnswer } from "./api.js";
import { CanterError } from "./errors.js";
import type { SearchReport } from "./io/report.js";
import type { HttpResponse } from "./protocol.js";

/** The error that an answer of the search API says. */
export function errorOf(status: number, text: string): CanterError {
  let message = text;
  try {
    message = String((JSON.parse(text) as { message?: unknown }).message ?? text);
  } catch {
    // Not what the API answers with: the text as it is.
  }
  const kind =
    status === 404
      ? "not-found"
      : status < 500
        ? "invalid"
        : status >= 503
          ? "unavailable"
          : "internal";
  return new CanterError(kind, message, status);
}

/**
 * The answer as a `Response`, with what it cost in its headers. Under a forced filter nothing is said of the cost
 * (`showsCost`): it depends on documents that the caller may not see.
 */
export function responseOf(
  answer: HttpResponse,
  report: SearchReport,
  showsCost = true,
): Response {
  const headers = new Headers(answer.headers);
  if (!showsCost) {
    return new Response(new Uint8Array(answer.body), { status: answer.status, headers });
  }
  headers.set("x-canter-requests", String(report.num_requests));
  headers.set("x-canter-bytes", String(report.num_bytes));
  headers.set("x-canter-waves", String(report.num_waves));
  headers.set("x-canter-cache-hits", String(report.num_cache_hits));
  if (report.num_subrequests > report.num_requests) {
    headers.set("x-canter-subrequests", String(report.num_subrequests));
  }
  if (report.stale_manifest_ms !== undefined) {
    headers.set("x-canter-stale-manifest-ms", String(report.stale_manifest_ms));
  }
  const ms = (us: number) => (us / 1000).toFixed(1);
  headers.set(
    "server-timing",
    `total;dur=${ms(report.elapsed_us)}, guest;dur=${ms(report.guest_us)}`,
  );
  return new Response(new Uint8Array(answer.body), { status: answer.status, headers });
}

/** How a host reads what comes over HTTP, and words what no guest is asked for. */
export interface HttpManners {
  /** Reads a body of at most so many bytes. Rejects with a `CanterError` that has the status to answer. */
  readBody(request: Request, maxBytes: number): Promise<Uint8Array>;
  /** The answer to a request for `path` that is refused or fails; its headers, where they are known, may ask for a media type. */
  refuse(error: CanterError, path: string, headers?: Headers): HttpResponse;
  /**
   * What the headers of a request for `path` ask of the form of its answer, of which the guest sees nothing. Throws a
   * `CanterError` for what no answer can have.
   */
  mannerOf?(path: string, headers: Headers): Manner | undefined;
}

/** What a request's headers ask of the form of its answer. */
export interface Manner {
  /** The query string with which the guest is asked. */
  query(query: string): string;
  /** The answer in that form. */
  shape(response: HttpResponse): HttpResponse;
}

/** For whoever asks within a page: bodies as they are, and no media types. */
export const PLAIN: HttpManners = {
  readBody: ({ body }, maxBytes) => collect(body, maxBytes),
  refuse: (error, path) => errorAnswer(error, path),
};

/**
 * Reads a body, up to a cap, whatever the request says of its length. So many bytes above it are read and dropped: whoever
 * is answered while they are sending may not hear the answer.
 */
export async function collect(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  maxDroppedBytes = 0,
): Promise<Uint8Array> {
  const reader = body?.getReader();
  let parts: Uint8Array[] = [];
  let len = 0;
  while (reader !== undefined) {
    const part = await reader.read();
    if (part.done) break;
    len += part.value.length;
    if (len <= maxBytes) parts.push(part.value);
    else parts = [];
    if (len > maxBytes + maxDroppedBytes) {
      void reader.cancel().catch(() => undefined);
      break;
    }
  }
  if (len > maxBytes) throw tooLong(maxBytes);
  const bytes = new Uint8Array(len);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function tooLong(maxBytes: number): CanterError {
  const what = `the body is longer than the ${maxBytes} bytes that a request may have`;
  return new CanterError("limit", what, 413);
}
