/*
 * Between `fetch` and the guest: bodies in, answers out, and errors that no guest was there to word.
 */

import { CanterError } from "./errors.js";
import type { SearchReport } from "./io/report.js";
import type { HttpResponse } from "./protocol.js";

/** An answer of the same form as the guest's errors, for when there is no guest to make it. */
export function plainAnswer(error: CanterError): HttpResponse {
  return {
    status: error.status,
    headers: [
      ["content-type", "application/json"],
      ["cache-control", "no-store"],
    ],
    body: new TextEncoder().encode(JSON.stringify({ message: error.message })),
  };
}

/** The error that an answer of the API says. */
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

/** Reads the body, up to a cap, whatever the request says of its length. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const reader = request.body?.getReader();
  const parts: Uint8Array[] = [];
  let len = 0;
  while (reader !== undefined) {
    const part = await reader.read();
    if (part.done) break;
    len += part.value.length;
    if (len > maxBytes) {
      void reader.cancel().catch(() => undefined);
      const what = `the body is longer than the ${maxBytes} bytes that a request may have`;
      throw new CanterError("limit", what, 413);
    }
    parts.push(part.value);
  }
  const body = new Uint8Array(len);
  let at = 0;
  for (const part of parts) {
    body.set(part, at);
    at += part.length;
  }
  return body;
}
