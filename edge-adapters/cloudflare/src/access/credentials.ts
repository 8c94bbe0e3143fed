/*
 * What a request says of who asks: the `Authorization` header, in the forms of `access/src/credentials.rs`.
 */

/** A longer header is no token. */
const MAX_HEADER_LENGTH = 8 * 1024;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What is sent to say who asks. */
export type Credentials =
  { readonly id: string; readonly secret: string } | { readonly jwt: string };

/** Why nobody may ask so. */
export type Denied = "missing" | "unreadable" | "unknown";

/** What is said of it. It does not say why exactly a token was not taken: who guesses learns nothing. */
export const DENIALS: Readonly<Record<Denied, string>> = {
  missing: "send a token, as in Authorization: ApiKey …, Bearer … or Basic …",
  unreadable: "the Authorization header has no token of a known form",
  unknown: "this token is not known, or not valid any more",
};

/** Reads the header's value. */
export function readCredentials(header: string | null): Credentials | Denied {
  if (header === null) return "missing";
  if (header.length > MAX_HEADER_LENGTH) return "unreadable";
  const [scheme, rest] = splitOnce(header.trim(), " ");
  const token = rest?.trim();
  if (token === undefined) return "unreadable";
  switch (scheme.toLowerCase()) {
    // Elasticsearch's keys, and a name with its password.
    case "apikey":
    case "basic":
      return keyOf(decoded(token), ":");
    case "bearer": {
      const numDots = token.split(".").length - 1;
      if (numDots === 1) return keyOf(token, ".");
      return numDots === 2 ? { jwt: token } : "unreadable";
    }
    default:
      return "unreadable";
  }
}

function keyOf(text: string, separator: string): Credentials | Denied {
  const [id, secret = ""] = splitOnce(text, separator);
  return id === "" || secret === "" || text.includes("\0") ? "unreadable" : { id, secret };
}

/** Base64 as UTF-8; an empty text if it is none. */
function decoded(base64: string): string {
  if (!BASE64.test(base64)) return "";
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return "";
  }
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}
