/*
 * What hosts do that serve others over HTTP: they take compressed bodies, and answer and refuse in the media type that was asked
 * for, as `canter serve` does. A page that searches by itself loads none of this.
 */

import { errorAnswer } from "./api.js";
import { CanterError } from "./errors.js";
import { collect, type HttpManners, tooLong } from "./http.js";
import { InvalidMediaType, mannerOf } from "./media.js";
import type { HttpResponse } from "./protocol.js";

/** Of a compressed body, so many bytes more than it has uncompressed: for one that cannot be compressed. */
const GZIP_OVERHEAD_BYTES = 4096;

/** Bodies that are too long by no more than so many times the limit are read to their end before they are refused. */
const DROPPED_SHARE = 3;

/** For servers. */
export const SERVING: HttpManners = { readBody, refuse, mannerOf };

/** The answer to a request that is refused, in the media type that it asks for. */
function refuse(error: CanterError, path: string, headers = new Headers()): HttpResponse {
  const ownType = error instanceof InvalidMediaType ? error.type : undefined;
  const answer = errorAnswer(error, path, ownType);
  try {
    return mannerOf(path, headers)?.shape(answer) ?? answer;
  } catch {
    // Who asks for what no answer can have is told so in plain JSON.
    return answer;
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
