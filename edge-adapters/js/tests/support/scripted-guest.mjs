/*
 * A guest that asks for what the body of its request says, and answers with what it was given. It stands in
 * for the search engine where a test is about the host: which bytes come, how often is asked, what fails.
 *
 * Body: `{ waves: [{ reads: […], lookups: […], stores: […], spinMs: 9 }], budget: {…}, trapAt: 2, leaves: [waves, …] }`.
 * The step that asks for a wave with `spinMs` computes so long; the one at `trapAt` traps, and with `trapsWhenClosed`
 * so does the end of the session. With `leaves`, the search is divided if the host allows it: each leaf runs its waves, and the root's answer
 * lists what all were given.
 */

import { createHash } from "node:crypto";

const decode = (bytes) => JSON.parse(new TextDecoder().decode(bytes));
const encode = (value) => new TextEncoder().encode(JSON.stringify(value));

/** The digest by which answers tell which bytes came. */
export function digest(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

/** Makes instances; `made` counts them, and `numOpen` the sessions that were not disposed of. */
export function scriptedGuest() {
  class Counted extends Session {
    constructor(...args) {
      super(...args);
      source.numOpen += 1;
    }

    [Symbol.dispose ?? Symbol.for("dispose")]() {
      if (this.script.trapsWhenClosed) throw new WebAssembly.RuntimeError("out of bounds");
      source.numOpen -= 1;
    }
  }
  const source = async () => {
    source.made += 1;
    return { guest: { Session: Counted, version: () => "scripted" } };
  };
  source.made = 0;
  source.numOpen = 0;
  return source;
}

class Session {
  constructor(script, kind = "http") {
    this.script = script;
    this.kind = kind;
    this.wave = 0;
    this.supplied = [];
  }

  static http(request, settings, maxLeaves) {
    // A host asks for nothing when it has settings looked at.
    const session = new this(request.body.length === 0 ? { waves: [] } : decode(request.body));
    session.settings = JSON.parse(settings);
    if (maxLeaves > 1 && session.script.leaves !== undefined) session.kind = "plan";
    return session;
  }

  static leaf(leaf) {
    return new this({ waves: decode(leaf) }, "leaf");
  }

  static root(root, partials) {
    const session = new this(decode(root));
    session.supplied = partials.flatMap(decode);
    return session;
  }

  budget() {
    const budget = {};
    for (const [name, value] of Object.entries(this.script.budget ?? {}))
      budget[name] = BigInt(value);
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
    if (wave === undefined) return { tag: "done", val: this.outcome(host) };
    const until = performance.now() + (wave.spinMs ?? 0);
    while (performance.now() < until);
    let id = this.wave * 1000;
    const reads = (wave.reads ?? []).map(
      ({ object, offset = 0, len, class: byteClass = "postings" }) => {
        const read = { id: BigInt(id++), object, offset: BigInt(offset), class: byteClass };
        return len === undefined || len === null ? read : { ...read, len: BigInt(len) };
      },
    );
    const lookups = (wave.lookups ?? []).map((key) => ({
      id: BigInt(id++),
      key,
      class: "partial-result",
    }));
    const stores = (wave.stores ?? []).map(([key, text]) => {
      return { key, bytes: new TextEncoder().encode(text), class: "partial-result" };
    });
    return { tag: "pending", val: { reads, lookups, stores } };
  }

  outcome(host) {
    if (this.kind === "leaf") return { tag: "partial", val: encode(this.supplied) };
    if (this.kind === "http") return { tag: "http", val: this.answer(host) };
    const leaves = this.script.leaves.map(encode);
    return { tag: "plan", val: { leaves, root: encode({ waves: this.script.rootWaves ?? [] }) } };
  }

  answer(host) {
    const supplied = this.supplied.sort((a, b) => a.id - b.id);
    const seen = { timedOut: host.timedOut, budgetExhausted: host.budgetExhausted ?? null };
    const body = encode({ supplied, host: seen, settings: this.settings });
    return { status: 200, headers: [["content-type", "application/json"]], body };
  }
}

/** Sends a script to the search API and reads the answer. */
export async function run(canter, script, options) {
  const body = encode(script);
  const { response, report } = await canter.handle(
    { method: "POST", path: "/api/v1/logs/search", query: "", body },
    options,
  );
  const text = new TextDecoder().decode(response.body);
  return { status: response.status, ...JSON.parse(text), report };
}
