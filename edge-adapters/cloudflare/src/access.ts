/*
 * Who may ask: bearer tokens, and origins of browsers (CORS).
 */

import type { Settings, TokenAccess } from "./settings.js";

/** What a caller may see. */
export type Access = ({ readonly isAllowed: true } & TokenAccess) | { readonly isAllowed: false };

/** Asked by load balancers, which have no token; it reads nothing and says nothing of what is indexed. */
const HEALTH_PATH = "/health/livez";

/** Looks up the request's token. Takes as long for a wrong token as for a right one. */
export async function accessOf(request: Request, { tokens }: Settings): Promise<Access> {
  if (tokens === undefined || new URL(request.url).pathname === HEALTH_PATH) {
    return { isAllowed: true };
  }
  const header = request.headers.get("authorization") ?? "";
  const given = await digest(/^bearer /i.test(header) ? header.slice(7).trim() : "");
  let found: Access = { isAllowed: false };
  // All are compared, so that time tells neither which one nor how much of it was right.
  for (const [token, access] of tokens) {
    if (isEqual(given, await digest(token))) found = { isAllowed: true, ...access };
  }
  return found;
}

/** Digests have one length, whatever the tokens have. */
async function digest(token: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [at, byte] of a.entries()) difference |= byte ^ (b[at] ?? 0);
  return difference === 0;
}

/** Headers that a script of another origin may see. */
const EXPOSED = [
  "server-timing",
  "x-canter-requests",
  "x-canter-bytes",
  "x-canter-waves",
  "x-canter-cache-hits",
  "x-canter-subrequests",
  "x-canter-memory",
].join(", ");

/** The CORS headers for the origin that a request names; none if it may not call. */
export function corsHeaders(
  request: Request,
  { allowedOrigins }: Settings,
): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null) return {};
  const isOpen = allowedOrigins.includes("*");
  if (!isOpen && !allowedOrigins.includes(origin)) return { vary: "origin" };
  return {
    "access-control-allow-origin": isOpen ? "*" : origin,
    "access-control-expose-headers": EXPOSED,
    ...(isOpen ? {} : { vary: "origin" }),
  };
}

/** The answer to a preflight. */
export function preflight(request: Request, settings: Settings): Response {
  const headers = {
    ...corsHeaders(request, settings),
    "access-control-allow-methods": "GET, POST",
    "access-control-allow-headers": "authorization, content-type",
    "access-control-max-age": "86400",
  };
  return new Response(null, { status: 204, headers });
}
