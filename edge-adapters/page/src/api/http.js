/*
 * A backend over `fetch`. The token that a server wants stays in the session's storage, and goes when the tab
 * is closed.
 */

import { costOfHeaders, noCost } from "./cost.js";

/** @import { ApiReply, ApiRequest, Backend } from "./api.js" */

/**
 * @param {URL} base where the API is; ends in a slash
 * @returns {Backend}
 */
export function httpBackend(base) {
  const key = `canter.token ${base.href}`;
  return {
    ask: (request) => ask(base, key, request),
    setToken: (token) => {
      if (token === null) sessionStorage.removeItem(key);
      else sessionStorage.setItem(key, token);
    },
  };
}

/**
 * @param {URL} base
 * @param {string} key
 * @param {ApiRequest} request
 * @returns {Promise<ApiReply>}
 */
async function ask(base, key, { method, path, body, signal }) {
  // Tells the server that a page asks, which has a dialog of its own for tokens.
  const headers = new Headers({
    accept: "application/json",
    "x-requested-with": "XMLHttpRequest",
  });
  if (body !== undefined) headers.set("content-type", "application/json");
  const token = sessionStorage.getItem(key);
  if (token !== null) headers.set("authorization", token);
  let response;
  try {
    response = await fetch(new URL(path.slice(1), base), {
      method,
      headers,
      signal: signal ?? null,
      credentials: "same-origin",
      cache: "no-store",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    const message =
      "the server cannot be reached; check that it is running and that you are online";
    return { status: 0, body: { message }, cost: noCost() };
  }
  const text = await response.text();
  const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
  return {
    status: response.status,
    body: parse(text),
    cost: costOfHeaders(response.headers),
    retryAfter: Number.isNaN(retryAfter) ? undefined : retryAfter,
  };
}

/** @param {string} text */
function parse(text) {
  try {
    return /** @type {unknown} */ (JSON.parse(text));
  } catch {
    // A proxy between here and there answers in its own words.
    return { message: text.slice(0, 300) };
  }
}
