/*
 * What an answer to a request for a range, or for a whole object, must look like: the rules of
 * `stores/src/web/answer.rs`. Looks at status and headers only, and reads no body.
 */

import { FetchFailure } from "../errors.js";
import type { RangeRequest } from "./contract.js";

/** What the head of a fitting answer says. */
export interface Answer {
  /** How many bytes the body must have, if the head says so. */
  readonly bodyLen: number | undefined;
  /** Length of the whole object, if the head says so. */
  readonly objectLen: number | undefined;
}

/** Whether the whole object is asked for, which needs no `Range`. */
export function asksForAll(request: RangeRequest): boolean {
  return request.offset === 0 && request.len === undefined;
}

/** Checks the head of an answer with any status but 304. Throws `FetchFailure`. */
export function checkAnswer(request: RangeRequest, status: number, headers: Headers): Answer {
  const refuse = (...fault: FaultAndSeen) =>
    FetchFailure.misbehaved(request.object, request, ...fault);
  if (status === 416) throw refuse(...pastTheEnd(headers));
  checkStatus(request, status);
  const encoding = encodingOf(headers);
  if (encoding !== undefined) {
    const seen = `the server compressed the answer (${encoding}) although it was asked not to`;
    throw refuse("content_encoded", seen);
  }
  if (asksForAll(request)) {
    if (status !== 200) {
      throw refuse("wrong_content_range", `status ${status} although no range was asked for`);
    }
    const bodyLen = wholeNumber(headers.get("content-length"));
    return { bodyLen, objectLen: bodyLen };
  }
  if (status === 200) {
    const seen = "the server ignored the Range header and sent the whole object (status 200)";
    throw refuse("range_ignored", seen);
  }
  return checkContentRange(request, headers, refuse);
}

type FaultAndSeen = [fault: Parameters<typeof FetchFailure.misbehaved>[2], seen: string];

function pastTheEnd(headers: Headers): FaultAndSeen {
  const len = /^bytes \*\/(\d+)$/.exec(headers.get("content-range")?.trim() ?? "")?.[1];
  const seen =
    len === undefined
      ? "the object ends before the range begins (status 416)"
      : `the object has only ${len} bytes (status 416)`;
  return ["past_the_end", seen];
}

function checkStatus(request: RangeRequest, status: number): void {
  if (status === 200 || status === 206) return;
  const fail = (kind: "not-found" | "denied" | "unavailable" | "protocol") =>
    FetchFailure.of(kind, request.object, request, `the server answered ${status}`);
  if (status === 404 || status === 410) throw fail("not-found");
  if (status === 401 || status === 403) throw fail("denied");
  if (status === 408 || status === 429 || status >= 500) throw fail("unavailable");
  throw fail("protocol");
}

/** The first content coding that changes bytes. `aws-chunked` is how an object was once sent. */
function encodingOf(headers: Headers): string | undefined {
  const codings = (headers.get("content-encoding") ?? "").toLowerCase().split(",");
  const plain = ["", "identity", "aws-chunked"];
  return codings.map((coding) => coding.trim()).find((coding) => !plain.includes(coding));
}

function checkContentRange(
  asked: RangeRequest,
  headers: Headers,
  refuse: (...fault: FaultAndSeen) => FetchFailure,
): Answer {
  const header = headers.get("content-range");
  if (header === null) {
    // A browser hides it from scripts of other origins unless the server exposes it.
    throw refuse(
      "wrong_content_range",
      "status 206 without a Content-Range (or, in a browser, without Access-Control-Expose-Headers)",
    );
  }
  const range = parseContentRange(header);
  if (range === undefined) {
    throw refuse("wrong_content_range", `cannot read Content-Range ${JSON.stringify(header)}`);
  }
  const { first, last, size } = range;
  const len = last - first + 1;
  const other = () =>
    refuse(
      "wrong_content_range",
      `the server answered with another range, ${JSON.stringify(header)}`,
    );
  if (first !== asked.offset || (asked.len !== undefined && len > asked.len)) throw other();
  const endsObject = size === undefined || last + 1 === size;
  if (asked.len === undefined ? endsObject : len === asked.len) {
    return { bodyLen: len, objectLen: size };
  }
  if (asked.len !== undefined && endsObject) {
    const seen = `only ${len} of ${asked.len} bytes came: the object ends there`;
    throw refuse("past_the_end", seen);
  }
  // A part of what was asked for, although the object goes on.
  throw other();
}

/** First and last byte and size of `bytes FIRST-LAST/SIZE`, where SIZE may be `*`. */
function parseContentRange(header: string) {
  const parts = /^bytes (\d+)-(\d+)\/(\d+|\*)$/i.exec(header.trim());
  if (parts === null) return undefined;
  const [first, last] = [wholeNumber(parts[1]), wholeNumber(parts[2])];
  const size = parts[3] === "*" ? undefined : wholeNumber(parts[3]);
  if (first === undefined || last === undefined || first > last) return undefined;
  if (parts[3] !== "*" && (size === undefined || last >= size)) return undefined;
  return { first, last, size };
}

/** A number that JavaScript holds exactly. */
function wholeNumber(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined || !/^\d+$/.test(text.trim())) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
