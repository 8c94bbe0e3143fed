/*
 * What hosts do that serve others over HTTP: they take compressed bodies, answer in the media type that was asked for, and
 * refuse requests in the form of the API that was asked, as `canter serve` does. A page that searches by itself loads none of this.
 */

import { CanterError } from "./errors.js";
import { collect, type HttpManners, plainAnswer, tooLong } from "./http.js";
import { InvalidMediaType, isElasticsearchs, mannerOf } from "./media.js";
import type { HttpResponse } from "./protocol.js";

/** Of a compressed body, so many bytes more than it has uncompressed: for one that cannot be compressed. */
const GZIP_OVERHEAD_BYTES = 4096;

/** Bodies that are too long by no more than so many times the limit are read to their end before they are refused. */
const DROPPED_SHARE = 3;

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

/** For servers. */
export const SERVING: HttpManners = { readBody, refuse, mannerOf };

/** Clients of Elasticsearch's API read errors in another place than those of the search API. */
function refuse(error: CanterError, path: string, headers = new Headers()): HttpResponse {
  const plain = plainAnswer(error);
  if (!isElasticsearchs(path)) return plain;
  const ownType = error instanceof InvalidMediaType ? error.type : undefined;
  const type = ownType ?? KINDS[error.status] ?? "illegal_argument_exception";
  const cause = { type, reason: error.message };
  const body = { error: { root_cause: [cause], ...cause }, status: error.status };
  const answer = { ...plain, body: new TextEncoder().encode(JSON.stringify(body)) };
  try {
    return mannerOf(path, headers)?.shape(answer) ?? answer;
  } catch {
    // Who asks for what no answer can have is told so in plain JSON.
    return mannerOf(path, new Headers())?.shape(answer) ?? answer;
  }
}

/** The limit is on what a body says, however short it comes. */
async function readBody({ body, headers }: Request, maxBytes: number): Promise<Uint8Array> {
  const encoding = (headers.get("content-encoding") ?? "").trim().toLowerCase();
  const maxDroppedBytes = DROPPED_SHARE * maxBytes;
  if (encoding === "" || encoding === "identity" || body === null) {
    return collect(body, maxBytes, maxDroppedBytes);
  }
  if (encoding !== "gzip") {
    const shown = JSON.stringify(encoding.slice(0, 40));
    const what = `bodies in ${shown} are not read here: send gzip or none`;
    throw new CanterError("invalid", what, 415);
  }
  let isTooLong = false;
  let left = maxBytes + GZIP_OVERHEAD_BYTES;
  // Blocks of nothing could come for ever.
  const bounded = new TransformStream<Uint8Array, BufferSource>({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left >= 0) return controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
      isTooLong = true;
      controller.error(tooLong(maxBytes));
    },
  });
  const gunzip = new DecompressionStream("gzip");
  try {
    return await collect(body.pipeThrough(bounded).pipeThrough(gunzip), maxBytes, maxDroppedBytes);
  } catch (error) {
    if (isTooLong) throw tooLong(maxBytes);
    if (error instanceof CanterError) throw error;
    throw new CanterError(
      "invalid",
      "the body is no gzip, as its content-encoding says, or it broke off",
    );
  }
}
