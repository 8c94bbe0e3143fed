/*
 * The two errors of this package: `CanterError`, which ends a call, and `FetchFailure`, which ends one
 * read and becomes a supply that the guest judges.
 */

import type { FetchErrorKind, SearchErrorKind } from "./protocol.js";
import { REMEDIES, type StoreFault } from "./store/faults.js";

/** Why a call ended without an answer. The kinds are the guest's. */
export class CanterError extends Error {
  override readonly name = "CanterError";

  constructor(
    readonly kind: SearchErrorKind,
    message: string,
    /** The HTTP status that says the same. */
    readonly status: number = STATUS[kind],
  ) {
    super(message);
  }
}

const STATUS: Record<SearchErrorKind, number> = {
  invalid: 400,
  "not-found": 404,
  data: 500,
  unavailable: 503,
  limit: 400,
  internal: 500,
};

/** Whether `kind` is one of the guest's kinds of errors. */
export function isSearchErrorKind(kind: unknown): kind is SearchErrorKind {
  return typeof kind === "string" && Object.hasOwn(STATUS, kind);
}

/** A range of an object, as an error names it. */
export interface NamedRange {
  readonly offset: number;
  /** Number of bytes; to the end of the object without it. */
  readonly len?: number | undefined;
}

/** A range that could not be had. */
export class FetchFailure extends Error {
  override readonly name = "FetchFailure";
  /** How often the read was repeated before it was given up. */
  numRetries = 0;

  constructor(
    readonly kind: FetchErrorKind,
    message: string,
    /** Whether the same read may succeed a moment later. */
    readonly isTransient: boolean = kind === "unavailable",
    /** What the store did wrong, if it did. */
    readonly fault?: StoreFault,
  ) {
    super(message);
  }

  /** A failure of `object` in `range`. */
  static of(kind: FetchErrorKind, object: string, range: NamedRange, what: string): FetchFailure {
    return new FetchFailure(kind, `${object}, ${rangeText(range)}: ${what}`);
  }

  /** The store misbehaved. Only a body that broke off is worth another try. */
  static misbehaved(
    object: string,
    range: NamedRange,
    fault: StoreFault,
    seen: string,
  ): FetchFailure {
    const isCut = fault === "short_body" || fault === "past_the_end";
    const message = `${object}, ${rangeText(range)}: ${fault}: ${seen}; ${REMEDIES[fault]}`;
    return new FetchFailure(
      isCut ? "truncated" : "protocol",
      message,
      fault === "short_body",
      fault,
    );
  }

  /** The kind the guest is told: a connection that broke off is no reason to rebuild an index. */
  get suppliedKind(): FetchErrorKind {
    return this.isTransient ? "unavailable" : this.kind;
  }
}

/** `bytes 100-199`, or `bytes 100-` to the end. */
export function rangeText({ offset, len }: NamedRange): string {
  return `bytes ${offset}-${len === undefined ? "" : offset + len - 1}`;
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${messageOf(error.cause)}` : "";
  return error.message + cause;
}
