/*
 * Keeps the page's own files, so that it opens without a network. Byte ranges of the index are none of its
 * business: the engine's cache has them.
 */

declare const SHELL_FILES: readonly string[];
declare const SHELL_VERSION: string;

/** The part of a service worker's events that is used: its types do not go together with those of pages. */
interface WorkerEvent extends Event {
  readonly request: Request;
  waitUntil(work: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const NAME = `page-${SHELL_VERSION}`;
const scope = new URL("./", location.href);
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
    const old = names.filter((name) => name.startsWith("page-") && name !== NAME);
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
  const answer = async () => (await (await caches.open(NAME)).match(url.href)) ?? fetch(request);
  respondWith.call(event, answer());
});
