/*
 * The page's backend in the browser: requests go to the engine in a Web Worker, which answers them as a server
 * would, and reports each read that it made.
 */

import { type BrowserCanter, startCanter } from "canter-search/browser";

import type { ApiReply, ApiRequest, Backend } from "../../../edge-adapters/page/src/api/api.js";
import { costOfReport } from "../../../edge-adapters/page/src/api/cost.js";
import type { Settings } from "./settings.js";

/** Starts the worker with the engine. */
export async function startBackend(settings: Settings): Promise<Backend> {
  const worker = new Worker("canter-worker.js", { type: "module" });
  const canter = await startCanter(worker, {
    indexes: { [settings.index]: settings.url },
    guestUrl: "guest/",
    budget: { deadlineMs: 30_000 },
  });
  return { ask: (request) => ask(canter, request) };
}

async function ask(canter: BrowserCanter, request: ApiRequest): Promise<ApiReply> {
  const { method, body, signal } = request;
  const [path = "", query = ""] = request.path.split("?");
  const text = body === undefined ? "" : JSON.stringify(body);
  const sent = { method, path, query, body: new TextEncoder().encode(text) };
  const { response, report } = await canter.handle(sent, signal);
  return {
    status: response.status,
    body: JSON.parse(new TextDecoder().decode(response.body)) as unknown,
    cost: costOfReport(report),
  };
}
