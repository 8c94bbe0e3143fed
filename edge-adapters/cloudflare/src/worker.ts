/*
 * The Worker: the search API over HTTP, and leaf searches for itself. It carries requests, answers and
 * settings; what is searched is the guest's business.
 */

import { WorkerEntrypoint } from "cloudflare:workers";

import {
  type Canter,
  CanterError,
  createCloudflareCanter,
  SERVING,
} from "canter-search/cloudflare";

import { Access } from "./access/access.js";
import { Unusable } from "./access/grant.js";
import { corsHeaders, preflight } from "./cors.js";
import { admit } from "./gate.js";
import { pageAnswer } from "./page.js";
import {
  type Env,
  type LeafResult,
  type LeafService,
  readSettings,
  type Settings,
  wrongSetting,
} from "./settings.js";

/** What an isolate has. */
interface Made {
  readonly env: Env;
  readonly settings: Settings;
  /** The guest's instance, the memory cache, and what is on its way. */
  readonly canter: Canter;
  /** Made by the first request that needs it; none waits for what another one has begun. */
  access?: Access;
}

let made: Made | undefined;

function canterOf(env: Env): Made {
  if (made?.env === env) return made;
  const settings = readSettings(env);
  const { maxLeaves, limits, access: _, ...rest } = settings;
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

/** Nothing if everybody may ask. */
async function accessOf(isolate: Made): Promise<Access | undefined> {
  const { access: settings } = isolate.settings;
  if (settings === undefined) return undefined;
  try {
    isolate.access ??= await Access.open(settings);
    return isolate.access;
  } catch (error) {
    throw error instanceof Unusable ? wrongSetting(error.message) : error;
  }
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
      const isolate = canterOf(env);
      const { settings } = isolate;
      if (request.method === "OPTIONS") return preflight(request, settings);
      const response = pageAnswer(request) ?? (await answer(request, isolate, ctx));
      for (const [name, value] of Object.entries(corsHeaders(request, settings))) {
        response.headers.set(name, value);
      }
      return response;
    } catch (error) {
      if (error instanceof CanterError) return asResponse(error, request);
      console.error("canter: the Worker broke off:", error);
      return asResponse(new CanterError("internal", "the Worker broke off"), request);
    }
  },
} satisfies ExportedHandler<Env>;

async function answer(request: Request, isolate: Made, ctx: ExecutionContext): Promise<Response> {
  const { settings, canter } = isolate;
  const seen = await admit(request, await accessOf(isolate), Object.keys(settings.indexes));
  if (seen instanceof Response) return seen;
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

function asResponse(error: CanterError, { url, headers: asked }: Request): Response {
  const { status, headers, body } = SERVING.refuse(error, new URL(url).pathname, asked);
  return new Response(body, { status, headers: [...headers] });
}
