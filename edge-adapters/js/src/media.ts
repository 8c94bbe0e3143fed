/*
 * Media types of Elasticsearch's API, which its clients ask for in headers: the guest sees none, so that its host adds what they
 * mean. `runtime/src/searcher/media.rs` decides alike, in another language; the tests of both go through
 * `runtime/src/searcher/media/cases.json`.
 *
 *   Accept: application/vnd.elasticsearch+json; compatible-with=8   the answer's content type is the same
 *   Accept: application/json                                       `_cat` answers in JSON
 */

import { isElasticsearchs, segmentsOf } from "./api.js";
import { CanterError } from "./errors.js";
import type { Manner } from "./http.js";
import type { HttpResponse } from "./protocol.js";

/** Elasticsearch's own media types begin so; behind it stands the syntax. */
const VENDOR = "application/vnd.elasticsearch+";

const JSON_TYPE = "application/json";

/** A longer version is shown in part. */
const MAX_SHOWN_LEN = 100;

/** One media type of a header. */
interface MediaType {
  /** In small letters, without parameters. */
  readonly name: string;
  /** Of the API that an answer is to be compatible with. */
  readonly version: string | undefined;
  /** How much it is wanted, of 1. */
  readonly weight: number;
}

/** A media type that no answer can have. */
export class InvalidMediaType extends CanterError {
  /** What Elasticsearch calls it. */
  readonly type = "media_type_header_exception";

  constructor(header: string, problem: string) {
    super("invalid", `Invalid media-type value on headers [${header}]: ${problem}`);
  }
}

/** What a request's headers ask of its answer. Throws an `InvalidMediaType` for what no answer can have. */
export function mannerOf(path: string, headers: Headers): Manner | undefined {
  if (!isElasticsearchs(path)) return undefined;
  const accepted = (headers.get("accept") ?? "").split(",").map(readMediaType);
  const sent = readMediaType(headers.get("content-type") ?? "");
  const versions = new Set([
    ...accepted.map((media) => checkedVersion("Accept", media)),
    checkedVersion("Content-Type", sent),
  ]);
  versions.delete(undefined);
  if (versions.size > 1) {
    const problem =
      "they ask for two versions: Accept and Content-Type must have the same compatible-with";
    throw new InvalidMediaType("Accept, Content-Type", problem);
  }
  const wanted = heaviest(accepted);
  const wantedJson = heaviest(accepted.filter(isJson));
  const jsonType = jsonNameOf(wantedJson ?? sent);
  // As Elasticsearch does: its client for JavaScript says both of all requests, and shows tables.
  const takesText = accepted.some(
    (other) => other.name === "text/plain" && wanted !== undefined && other.weight >= wanted.weight,
  );
  const prefersJson = wanted !== undefined && isJson(wanted) && !takesText;
  return {
    query: (query) => (prefersJson && isCat(path) ? withFormat(query) : query),
    shape: (response) => shaped(response, jsonType),
  };
}

/** An answer of Elasticsearch's API under the name that JSON is to have. Clients believe no other product, whatever it says. */
function shaped(response: HttpResponse, jsonType: string): HttpResponse {
  const headers = new Headers([...response.headers].map(([name, value]) => [name, value]));
  if (headers.get("content-type") !== JSON_TYPE) return response;
  headers.set("content-type", jsonType);
  headers.set("x-elastic-product", "Elasticsearch");
  return { ...response, headers: [...headers] };
}

function isCat(path: string): boolean {
  const segments = segmentsOf(path);
  return (segments[0] === "api" ? segments[3] : segments[0]) === "_cat";
}

function withFormat(query: string): string {
  if (query.split("&").some((part) => part.split("=")[0] === "format")) return query;
  return query === "" ? "format=json" : `${query}&format=json`;
}

function readMediaType(text: string): MediaType {
  const [name = "", ...parameters] = text.split(";").map((part) => part.trim());
  let version: string | undefined;
  let weight = 1;
  for (const parameter of parameters) {
    const at = parameter.indexOf("=");
    if (at < 0) continue;
    const value = parameter
      .slice(at + 1)
      .trim()
      .replace(/^"+|"+$/g, "");
    const key = parameter.slice(0, at).trim().toLowerCase();
    if (key === "compatible-with") version = value;
    if (key === "q") weight = numberOf(value);
  }
  return { name: name.toLowerCase(), version, weight };
}

function numberOf(text: string): number {
  const number = text === "" ? Number.NaN : Number(text);
  return Number.isNaN(number) ? 1 : number;
}

/** The version that it names, if it is one of Elasticsearch's own. */
function checkedVersion(header: string, { name, version }: MediaType): string | undefined {
  if (!name.startsWith(VENDOR) || version === undefined) return undefined;
  if (version === "8" || version === "9") return version;
  const shown = version.slice(0, MAX_SHOWN_LEN);
  const problem =
    `compatible-with=${shown} is not known: this server answers as compatible-with=8 and ` +
    "compatible-with=9";
  throw new InvalidMediaType(header, problem);
}

function isJson({ name }: MediaType): boolean {
  return [JSON_TYPE, `${VENDOR}json`, `${VENDOR}x-ndjson`].includes(name);
}

/** What JSON is called in the answer to whom this was said. Bodies of many lines are answered with one. */
function jsonNameOf(media: MediaType): string {
  if (!isJson(media) || media.name === JSON_TYPE) return JSON_TYPE;
  const { version } = media;
  return `${VENDOR}json${version === undefined ? "" : `;compatible-with=${version}`}`;
}

/** The one that is wanted most, the first of several. A weight of 0 says that it is not wanted. */
function heaviest(all: readonly MediaType[]): MediaType | undefined {
  let best: MediaType | undefined;
  for (const next of all) if (next.weight > (best?.weight ?? 0)) best = next;
  return best;
}
