/*
 * Which pages of other origins may ask (CORS).
 */

import type { Settings } from "./settings.js";

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
    "access-control-allow-headers": "authorization, content-encoding, content-type",
    "access-control-max-age": "86400",
  };
  return new Response(null, { status: 204, headers });
}
