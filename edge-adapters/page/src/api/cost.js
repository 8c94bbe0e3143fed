/*
 * What an answer cost: from the headers of a server, which tell of waves as a whole, or from the report of an
 * engine in the browser, which knows each request.
 */

/**
 * A request to the store.
 * @typedef {{ object: string, offset: number, length: number, class: string, startUs: number, endUs: number,
 *   error?: string | undefined }} StoreRequest
 */

/** @typedef {{ us: number, numRequests: number, requests: StoreRequest[] }} Wave */

/**
 * `isKnown` is false where a server keeps silent on costs, as it does under a forced filter.
 * @typedef {{
 *   isKnown: boolean, numRequests: number, numBytes: number, numWaves: number, numCacheHits: number,
 *   numCacheBytes?: number | undefined, elapsedUs: number, guestUs: number, waves: Wave[],
 *   staleMs?: number | undefined,
 * }} Cost
 */

/** @returns {Cost} */
export function noCost() {
  return {
    isKnown: false,
    numRequests: 0,
    numBytes: 0,
    numWaves: 0,
    numCacheHits: 0,
    elapsedUs: 0,
    guestUs: 0,
    waves: [],
  };
}

/**
 * @param {{ get(name: string): string | null }} headers
 * @returns {Cost}
 */
export function costOfHeaders(headers) {
  const count = (/** @type {string} */ name) => Number(headers.get(`x-canter-${name}`) ?? 0);
  const timing = readServerTiming(headers.get("server-timing") ?? "");
  const us = (/** @type {string} */ name) => (timing.get(name)?.ms ?? 0) * 1000;
  /** @type {Wave[]} */
  const waves = [];
  for (let ord = 1; ; ord += 1) {
    const wave = timing.get(`wave${ord}`);
    if (wave === undefined) break;
    const numRequests = Number.parseInt(wave.text, 10) || 0;
    waves.push({ us: wave.ms * 1000, numRequests, requests: [] });
  }
  const stale = headers.get("x-canter-stale-manifest-ms");
  return {
    isKnown: headers.get("x-canter-requests") !== null,
    numRequests: count("requests"),
    numBytes: count("bytes"),
    numWaves: count("waves"),
    numCacheHits: count("cache-hits"),
    elapsedUs: us("total"),
    guestUs: us("guest"),
    waves,
    staleMs: stale === null ? undefined : Number(stale),
  };
}

/**
 * `total;dur=7.01, wave1;dur=0.2;desc="1 request, 9 bytes"`
 * @param {string} header
 */
export function readServerTiming(header) {
  /** @type {Map<string, { ms: number, text: string }>} */
  const found = new Map();
  for (const [, name, rest] of header.matchAll(/([\w-]+)((?:;\w+=(?:"[^"]*"|[^,;"]*))*)/g)) {
    if (name === undefined || rest === undefined || rest === "") continue;
    const ms = Number(/;dur=([\d.]+)/.exec(rest)?.[1] ?? 0);
    found.set(name, { ms, text: /;desc="([^"]*)"/.exec(rest)?.[1] ?? "" });
  }
  return found;
}

/**
 * The report that the driver in `edge-adapters/js` gives with each answer.
 * @param {{
 *   num_requests: number, num_bytes: number, num_waves: number, num_cache_hits: number,
 *   num_cache_bytes: number, elapsed_us: number, guest_us: number, stale_manifest_ms?: number,
 *   waves: readonly { requests: readonly { object: string, offset: number, length: number, class: string,
 *     start_us: number, end_us: number, error?: string }[] }[],
 * }} report
 * @returns {Cost}
 */
export function costOfReport(report) {
  return {
    isKnown: true,
    numRequests: report.num_requests,
    numBytes: report.num_bytes,
    numWaves: report.num_waves,
    numCacheHits: report.num_cache_hits,
    numCacheBytes: report.num_cache_bytes,
    elapsedUs: report.elapsed_us,
    guestUs: report.guest_us,
    staleMs: report.stale_manifest_ms,
    waves: report.waves.map(({ requests }) => ({
      us:
        Math.max(0, ...requests.map((request) => request.end_us)) -
        Math.min(...requests.map((request) => request.start_us)),
      numRequests: requests.length,
      requests: requests.map(({ start_us, end_us, ...rest }) => ({
        ...rest,
        startUs: start_us,
        endUs: end_us,
      })),
    })),
  };
}
