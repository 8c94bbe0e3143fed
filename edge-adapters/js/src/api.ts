/*
 * Which of the two APIs a path belongs to, and how that API says that something is wrong: their clients read errors in different
 * places. For what a host refuses without asking the guest, and for failures that no guest is there to word.
 *
 * `guest/names/src/api.rs` decides alike, in another language; the tests of both go through `guest/names/src/api/cases.json`.
 */

import type { CanterError } from "./errors.js";
import type { HttpResponse } from "./protocol.js";

/** What Elasticsearch calls errors by their status. */
const KINDS: Readonly<Record<number, string>> = {
  401: "security_exception",
  403: "security_exception",
  408: "receive_timeout_transport_exception",
  413: "content_too_long_exception",
  429: "es_rejected_execution_exception",
  500: "exception",
  503: "unavailable_shards_exception",
  504: "timeout_exception",
};

/** Whether a path is of Elasticsearch's API. */
export function isElasticsearchs(path: string): boolean {
  const [first = "", second = "_", third] = segmentsOf(path);
  switch (first) {
    case "api":
      return second !== "v1" || third === "_elastic";
    case "health":
      return second !== "livez" && second !== "readyz";
    case "openapi.json":
      return false;
    // An index may have this name, and words that begin with `_` follow it.
    case "v1":
      return second.startsWith("_");
    default:
      return true;
  }
}

/** The parts of a path, without empty ones. */
export function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}

/**
 * The answer to a request for `path` that says what is wrong, in the form of the API that the path belongs to. `type` is what
 * Elasticsearch calls it.
 */
export function errorAnswer(
  { message, status }: CanterError,
  path: string,
  type = KINDS[status] ?? "illegal_argument_exception",
): HttpResponse {
  const headers: [string, string][] = [
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
  ];
  if (!isElasticsearchs(path)) return { status, headers, body: encoded({ message }) };
  // Clients believe nobody else.
  headers.push(["x-elastic-product", "Elasticsearch"]);
  const cause = { type, reason: message };
  const body = { error: { root_cause: [cause], ...cause }, status };
  return { status, headers, body: encoded(body) };
}

function encoded(body: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(body));
}
