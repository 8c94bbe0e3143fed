/*
 * What the Worker answers beside the search page, whose files are static assets: those requests do not reach it.
 */

/** Leads browsers to the page. Gives nothing if the request is for the search API. */
export function pageAnswer({ method, url, headers }: Request): Response | undefined {
  const { pathname } = new URL(url);
  if (method !== "GET" && method !== "HEAD") return undefined;
  // Programs ask `/` for the API's version.
  const isVisitor = headers.get("accept")?.startsWith("text/html") === true;
  if (pathname === "/" && isVisitor) return redirect(303);
  if (pathname === "/ui") return redirect(308);
  if (!pathname.startsWith("/ui/")) return undefined;
  return new Response("there is no such file of the page", { status: 404 });
}

/** Relative, so that it holds below whatever a proxy puts in front. */
function redirect(status: number): Response {
  return new Response(null, { status, headers: { location: "ui/" } });
}
