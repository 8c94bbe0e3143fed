/*
 * The types that guest and host exchange, as jco makes them out of `wit/canter-search.wit`.
 *
 * Nothing is defined twice: the one thing added here is `Guest`, the part of the generated module that
 * this package calls.
 */

import type * as engine from "../guest/interfaces/canter-search-engine.js";

export type {
  Budget,
  ByteClass,
  CacheLookup,
  CacheStore,
  Demand,
  FetchErrorKind,
  HostReport,
  HttpRequest,
  HttpResponse,
  Outcome,
  Progress,
  QueryPlan,
  ReadRequest,
  SearchError,
  SearchErrorKind,
  Session,
  Supply,
  SupplyResult,
} from "../guest/interfaces/canter-search-engine.js";

/** One instance of the guest. Sessions of one instance may be stepped in turns. */
export type Guest = Pick<typeof engine, "Session" | "version">;
