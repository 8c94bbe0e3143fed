/*
 * Keeps the page's own files, so that it opens without a network. They come from the cache first, because
 * another build is another service worker; `settings.json` comes from the network first, because it is edited
 * where it lies. Byte ranges of the index are none of its business: the engine's cache has them.
 */

declare const SHELL_FILES: readonly string[];
declare const SHELL_VERSION: string;

/** The part of a service worker's events that is used: its types do not go together with those of pages. */
interface WorkerEvent extends Event {
  readonly request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const scope = new URL("./", location.href);
/** Begins the names of this page's caches: other pages share the origin. No path has a space in it. */
const PREFIX = `${scope.pathname} page-`;
const NAME = PREFIX + SHELL_VERSION;
const SETTINGS = new URL("settings.json", scope).href;
const shell = new Set(SHELL_FILES.map((name) => new URL(name, scope).href));

addEventListener("install", (event) => {
  const install = async () => {
    const cache = await caches.open(NAME);
    await cache.addAll([...shell].map((url) => new Request(url, { cache: "reload" })));
  };
  (event as WorkerEvent).waitUntil(install());
});

addEventListener("activate", (event) => {
  const tidy = async () => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith(PREFIX) && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
  };
  (event as WorkerEvent).waitUntil(tidy());
});

addEventListener("fetch", (event) => {
  const { request, respondWith } = event as WorkerEvent;
  const url = new URL(request.url);
  url.search = "";
  url.hash = "";
  if (url.href === scope.href) url.pathname += "index.html";
  if (request.method !== "GET" || !shell.has(url.href)) return;
  const answer = url.href === SETTINGS ? networkFirst : cacheFirst;
  respondWith.call(event, answer(request, url.href));
});

async function cacheFirst(request: Request, url: string): Promise<Response> {
  const cache = await caches.open(NAME);
  return (await cache.match(url)) ?? fetch(request);
}

/** What came last is kept for when the network is away or the host answers with an error. */
async function networkFirst(request: Request, url: string): Promise<Response> {
  const cache = await caches.open(NAME);
  const response = await fetch(request, { cache: "no-cache" }).catch(() => undefined);
  if (response?.ok === true) {
    // A cache that is full keeps what it has.
    await cache.put(url, response.clone()).catch(() => undefined);
    return response;
  }
  return (await cache.match(url)) ?? response ?? Response.error();
}
