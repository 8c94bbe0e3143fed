/*
 * Lets requests in whose token allows to search, and says what of the indexes its holder may see.
 */

import { type CallOptions, CanterError, SERVING } from "canter-search/cloudflare";

import type { Access } from "./access/access.js";
import { DENIALS } from "./access/credentials.js";
import { matchesAny } from "./access/grant.js";

/** Asked by load balancers, which have no token; it reads nothing and says nothing of what is indexed. */
const HEALTH_PATH = "/health/livez";

/** Every kind of token, as `WWW-Authenticate` names it. */
const CHALLENGES = ["ApiKey", "Bearer", 'Basic realm="canter", charset="UTF-8"'];

/** What a caller may see: as `canter.fetch` takes it, or the answer if that is nothing. */
export async function admit(
  request: Request,
  access: Access | undefined,
  indexes: readonly string[],
): Promise<Pick<CallOptions, "indexes" | "forcedFilter"> | Response> {
  const { pathname } = new URL(request.url);
  if (access === undefined || pathname === HEALTH_PATH) return {};
  const checked = await access.check(request.headers.get("authorization"));
  if ("denied" in checked) {
    const response = refusal(401, DENIALS[checked.denied], request);
    for (const challenge of challenges(request.headers)) {
      response.headers.append("www-authenticate", challenge);
    }
    return response;
  }
  const { indexes: patterns, rights, filter } = checked.grant;
  if (!rights.includes("read")) return refusal(403, "this token does not allow that", request);
  return {
    // Those that it does not name are not there for its holder.
    ...(patterns === undefined
      ? {}
      : { indexes: indexes.filter((name) => matchesAny(patterns, name)) }),
    ...(filter === undefined ? {} : { forcedFilter: filter }),
  };
}

/** A browser would ask its visitor for a password in a window of its own, before a page could ask for a token. */
function challenges(headers: Headers): readonly string[] {
  const isScript =
    headers.get("x-requested-with") === "XMLHttpRequest" ||
    headers.get("sec-fetch-dest") === "empty";
  return isScript ? CHALLENGES.slice(0, -1) : CHALLENGES;
}

function refusal(status: number, message: string, { url, headers: asked }: Request): Response {
  const error = new CanterError("invalid", message, status);
  const { headers, body } = SERVING.refuse(error, new URL(url).pathname, asked);
  return new Response(body, { status, headers: [...headers] });
}
