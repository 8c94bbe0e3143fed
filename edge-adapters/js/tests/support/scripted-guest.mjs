/*
 * A guest that asks for what the body of its request says, and answers with what it was given. It stands in
 * for the search engine where a test is about the host: which bytes come, how often is asked, what fails.
 *
 * Body: `{ waves: [{ reads: […], lookups: […], stores: […] }], budget: {…}, trapAt: 2 }`
 */

import { createHash } from "node:crypto";

const encode = (value) => new TextEncoder().encode(JSON.stringify(value));

/** The digest by which answers tell which bytes came. */
export function digest(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

/** Makes instances; `made` counts them. */
export function scriptedGuest() {
  const source = async () => {
    source.made += 1;
    return { guest: { Session, httpError, version: () => "scripted" } };
  };
  source.made = 0;
  return source;
}

function httpError(kind, message) {
  const status = { invalid: 400, "not-found": 404, unavailable: 503, limit: 400 }[kind] ?? 500;
  return { status, headers: [["content-type", "application/json"]], body: encode({ message }) };
}

class Session {
  static http(request, settings) {
    const session = new Session();
    session.script = JSON.parse(new TextDecoder().decode(request.body));
    session.settings = JSON.parse(settings);
    session.wave = 0;
    session.supplied = [];
    return session;
  }

  budget() {
    const budget = {};
    for (const [name, value] of Object.entries(this.script.budget ?? {})) budget[name] = BigInt(value);
    return budget;
  }

  step(supplies, host) {
    for (const { id, outcome } of supplies) {
      const { tag, val } = outcome;
      const what = tag === "bytes" ? { len: val.length, digest: digest(val) } : (val ?? {});
      this.supplied.push({ id: Number(id), tag, ...what });
    }
    if (this.script.trapAt === this.wave) throw new WebAssembly.RuntimeError("unreachable");
    const wave = this.script.waves[this.wave++];
    if (wave === undefined) return { tag: "done", val: { tag: "http", val: this.answer(host) } };
    let id = this.wave * 1000;
    const reads = (wave.reads ?? []).map(({ object, offset = 0, len, class: byteClass = "postings" }) => {
      const read = { id: BigInt(id++), object, offset: BigInt(offset), class: byteClass };
      return len === undefined || len === null ? read : { ...read, len: BigInt(len) };
    });
    const lookups = (wave.lookups ?? []).map((key) => ({ id: BigInt(id++), key, class: "partial-result" }));
    const stores = (wave.stores ?? []).map(([key, text]) => {
      return { key, bytes: new TextEncoder().encode(text), class: "partial-result" };
    });
    return { tag: "pending", val: { reads, lookups, stores } };
  }

  answer(host) {
    const supplied = this.supplied.sort((a, b) => a.id - b.id);
    const seen = { timedOut: host.timedOut, budgetExhausted: host.budgetExhausted ?? null };
    const body = encode({ supplied, host: seen, settings: this.settings });
    return { status: 200, headers: [["content-type", "application/json"]], body };
  }

  [Symbol.dispose ?? Symbol.for("dispose")]() {}
}

/** Sends a script and reads the answer. */
export async function run(canter, script, options) {
  const body = encode(script);
  const { response, report } = await canter.handle({ method: "POST", path: "/", query: "", body }, options);
  const text = new TextDecoder().decode(response.body);
  return { status: response.status, ...JSON.parse(text), report };
}
