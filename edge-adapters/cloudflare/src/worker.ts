/*
 * The Worker: the search API over HTTP, and leaf searches for itself. It carries requests, answers and
 * settings; what is searched is the guest's business.
 */

import { WorkerEntrypoint } from "cloudflare:workers";

import {
  type Canter,
  CanterError,
  createCloudflareCanter,
  plainAnswer,
} from "canter-search/cloudflare";

import { accessOf, corsHeaders, preflight } from "./access.js";
import {
  type Env,
  type LeafResult,
  type LeafService,
  readSettings,
  type Settings,
} from "./settings.js";

/** One for each isolate: the guest's instance, the memory cache, and what is on its way. */
let made: { readonly env: Env; readonly settings: Settings; readonly canter: Canter } | undefined;

function canterOf(env: Env) {
  if (made?.env === env) return made;
  const settings = readSettings(env);
  const { maxLeaves, limits, ...rest } = settings;
  const canter = createCloudflareCanter({
    ...rest,
    limits,
    ...(env.BUCKET === undefined ? {} : { bucket: env.BUCKET }),
    cache: settings.usesCache ? caches.default : null,
    ...(env.SELF === undefined || maxLeaves < 2
      ? {}
      : { fanOut: { maxLeaves, runLeaf: runLeafOn(env.SELF) } }),
  });
  made = { env, settings, canter };
  return made;
}

function runLeafOn(service: LeafService) {
  return async (leaf: Uint8Array): Promise<Uint8Array> => {
    const result = await service.leaf(leaf);
    if ("partial" in result) return result.partial;
    throw new CanterError(result.kind, result.message);
  };
}

/** Leaf searches. Has no route and no URL: only a service binding to this entry point reaches it. */
export class LeafSearch extends WorkerEntrypoint<Env> {
  async leaf(leaf: Uint8Array): Promise<LeafResult> {
    try {
      const { canter } = canterOf(this.env);
      const waitUntil = (work: Promise<unknown>) => this.ctx.waitUntil(work);
      return { partial: await toItsEnd(this.ctx, canter.leaf(leaf, { waitUntil })) };
    } catch (error) {
      if (error instanceof CanterError) return { kind: error.kind, message: error.message };
      console.error("canter: a leaf search broke off:", error);
      return { kind: "internal", message: "the leaf search broke off" };
    }
  }
}

export default {
  async fetch(request, env, ctx): Promise<Response> {
    try {
      const { settings, canter } = canterOf(env);
      if (request.method === "OPTIONS") return preflight(request, settings);
      const response = await answer(request, settings, canter, ctx);
      for (const [name, value] of Object.entries(corsHeaders(request, settings))) {
        response.headers.set(name, value);
      }
      return response;
    } catch (error) {
      if (error instanceof CanterError) return asResponse(error);
      console.error("canter: the Worker broke off:", error);
      return asResponse(new CanterError("internal", "the Worker broke off"));
    }
  },
} satisfies ExportedHandler<Env>;

async function answer(
  request: Request,
  settings: Settings,
  canter: Canter,
  ctx: ExecutionContext,
): Promise<Response> {
  const access = await accessOf(request, settings);
  if (!access.isAllowed) {
    const failure = new CanterError("invalid", "send a valid token: authorization: Bearer …", 401);
    const response = asResponse(failure);
    response.headers.set("www-authenticate", "Bearer");
    return response;
  }
  const { isAllowed: _, ...seen } = access;
  const callOptions = { waitUntil: (work: Promise<unknown>) => ctx.waitUntil(work), ...seen };
  const response = await toItsEnd(ctx, canter.fetch(request, callOptions));
  // Of the 128 MB of an isolate, this is what the guest has. It too depends on what a search has read.
  if (seen.forcedFilter === undefined) {
    response.headers.set("x-canter-memory", String(canter.memoryBytes));
  }
  return response;
}

/**
 * Lets `search` end even if its caller goes before: the platform would stop it where it stands, and what it
 * holds of the isolate (its room in the guest, its requests, their bytes) would not be given back.
 */
function toItsEnd<T>(ctx: Pick<ExecutionContext, "waitUntil">, search: Promise<T>): Promise<T> {
  ctx.waitUntil(search.catch(() => undefined));
  return search;
}

function asResponse(error: CanterError): Response {
  const { status, headers, body } = plainAnswer(error);
  return new Response(body, { status, headers });
}
