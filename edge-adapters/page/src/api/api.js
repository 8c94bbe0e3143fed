/*
 * The search API as the page uses it. Where the answers come from is the backend's affair: a server over
 * HTTP (api/http.js), or an engine in the browser, which answers the same paths.
 *
 *   views ──▶ Api ──▶ Backend ──▶ server | engine in a worker
 */

/** @import { Cost } from "./cost.js" */

/**
 * A request to the API. Paths begin with a slash and are relative to the API's base.
 * @typedef {{ method: "GET" | "POST", path: string, body?: unknown, signal?: AbortSignal | undefined }} ApiRequest
 */

/** @typedef {{ status: number, body: unknown, cost: Cost, retryAfter?: number | undefined }} ApiReply */

/**
 * Answers requests. It rejects only if there is no answer at all.
 * @typedef {{
 *   ask(request: ApiRequest): Promise<ApiReply>,
 *   setToken?: (token: string | null) => void,
 * }} Backend
 */

/** @typedef {{ key: string | number, key_as_string?: string, doc_count: number, [name: string]: unknown }} Bucket */

/**
 * @typedef {{
 *   hits: Record<string, unknown>[],
 *   num_hits: number,
 *   num_hits_relation?: string,
 *   elapsed_time_micros: number,
 *   snippets?: (Record<string, string[]> | null)[] | null,
 *   aggregations?: Record<string, any>,
 *   failed_splits?: { split_id: string, kind?: string, message?: string }[],
 *   skipped_splits?: { split_id: string, kind?: string, message?: string }[],
 *   timed_out?: boolean,
 *   budget_exhausted?: string | null,
 *   profile?: Record<string, unknown>,
 * }} Answer
 */

/** @typedef {{ answer: Answer, cost: Cost }} Found */

/** What the API refused, or why it could not be asked. */
export class ApiError extends Error {
  /**
   * @param {number} status 0 if there was no answer
   * @param {string} message
   * @param {number} [retryAfter] seconds
   */
  constructor(status, message, retryAfter) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Questions to one server. */
export class Api {
  /** @param {Backend} backend */
  constructor(backend) {
    this.backend = backend;
    /**
     * Hears of a request that needs a token, and says whether there is one now.
     * @type {(message: string) => Promise<boolean>}
     */
    this.onTokenNeeded = async () => false;
    /** Hears what each answer cost. @type {(cost: Cost) => void} */
    this.onCost = () => undefined;
  }

  /** The configs and sizes of all indexes. @returns {Promise<any[]>} */
  async indexes() {
    const { body } = await this.#ask({ method: "GET", path: "/api/v1/indexes" });
    return Array.isArray(body) ? body : [];
  }

  /**
   * @param {string} index
   * @param {Record<string, unknown>} body
   * @param {AbortSignal} [signal]
   * @returns {Promise<Found>}
   */
  async search(index, body, signal) {
    const path = `/api/v1/${encodeURIComponent(index)}/search`;
    const reply = await this.#ask({ method: "POST", path, body, signal });
    return { answer: /** @type {Answer} */ (reply.body), cost: reply.cost };
  }

  /**
   * @param {ApiRequest} request
   * @returns {Promise<ApiReply>}
   */
  async #ask(request) {
    for (;;) {
      const reply = await this.backend.ask(request);
      this.onCost(reply.cost);
      if (reply.status >= 200 && reply.status < 300) return reply;
      const message = messageOf(reply);
      if (reply.status !== 401 || !(await this.onTokenNeeded(message))) {
        throw new ApiError(reply.status, message, reply.retryAfter);
      }
      request.signal?.throwIfAborted();
    }
  }
}

/** @param {ApiReply} reply */
function messageOf({ status, body }) {
  const said = /** @type {any} */ (body)?.message ?? /** @type {any} */ (body)?.error?.reason;
  return typeof said === "string" && said !== ""
    ? said
    : `the server answered with status ${status}`;
}
