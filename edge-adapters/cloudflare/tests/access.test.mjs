/*
 * Who may ask: the cases of `access/src/tests/table`, which the crate `access` decides alike, in workerd.
 */

import assert from "node:assert/strict";
import { createHmac, createPrivateKey, sign } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import { Miniflare } from "miniflare";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const tests = here("../../../access/src/tests/");
const read = (name) => readFileSync(join(tests, name), "utf8");
const table = JSON.parse(read("table/cases.json"));
const keySet = JSON.parse(read("table/jwks.json"));
const keys = { setting: "SETTING", text: read("table/keys.toml") };
const jwt = { setting: "SETTING", keySet, ...table.jwt };

const folder = mkdtempSync(join(tmpdir(), "canter-access-"));
let worker;
before(async () => {
  cpSync(here("../dist/argon2.wasm"), join(folder, "argon2.wasm"));
  await build({
    entryPoints: [here("support/access-worker.js")],
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    alias: { "@phi-ag/argon2/argon2.wasm": "./argon2.wasm" },
    external: ["./argon2.wasm"],
    logLevel: "warning",
  });
  worker = new Miniflare({
    modulesRoot: folder,
    modules: [
      { type: "ESModule", path: join(folder, "worker.js") },
      { type: "CompiledWasm", path: join(folder, "argon2.wasm") },
    ],
    compatibilityDate: "2026-07-01",
  });
});
after(async () => {
  await worker?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(question) {
  const answer = await worker.dispatchFetch("http://x/", {
    method: "POST",
    body: JSON.stringify(question),
  });
  return answer.json();
}

/** Checks what comes of headers against what the cases say. */
async function check(settings, headers, cases) {
  const { checked } = await ask({ settings, headers });
  assert.equal(checked.length, cases.length);
  for (const [ord, { case: what, grant, denied }] of cases.entries()) {
    assert.deepEqual(checked[ord], grant === undefined ? { denied } : { grant }, what);
  }
}

test("a header allows what the table says", async () => {
  const cases = table.headers;
  const headers = cases.map(({ authorization, num_letters: numLetters = 0 }) =>
    authorization === null ? null : authorization + "s".repeat(numLetters),
  );
  // The second time right secrets are remembered.
  await check({ keys, jwt }, [...headers, ...headers], [...cases, ...cases]);
});

const der = (name) => Buffer.from(read(name), "base64");
const secret = Buffer.from(keySet.keys.find(({ kid }) => kid === "h").k, "base64url");
const modulus = keySet.keys.find(({ kid }) => kid === "r").n;
const rsa = createPrivateKey({ key: der("rsa.b64"), format: "der", type: "pkcs1" });
const ed25519 = createPrivateKey({ key: der("ed25519.b64"), format: "der", type: "pkcs8" });
const SIGNERS = {
  h: (message) => createHmac("sha256", secret).update(message).digest(),
  r: (message) => sign("RSA-SHA256", message, rsa),
  e: (message) => sign(null, message, ed25519),
  public: (message) => createHmac("sha256", modulus).update(message).digest(),
};

/** The JWT of a case. */
function signed(one) {
  const { header, signed: by } = { ...table.token, ...one };
  const claims = { ...table.token.claims, ...one.claims };
  if (one.without !== undefined) delete claims[one.without];
  const encoded = (part) => Buffer.from(JSON.stringify(part)).toString("base64url");
  const message = Buffer.from(`${encoded(header)}.${encoded(claims)}`);
  const signature = by === null ? "" : SIGNERS[by](message).toString("base64url");
  return `${message}.${signature}`;
}

test("a JWT allows what the table says", async () => {
  const headers = table.tokens.map((one) => `Bearer ${signed(one)}`);
  await check({ jwt }, headers, table.tokens);
  // Without a set of keys, none does.
  const unknown = table.tokens.map(({ case: what }) => ({ case: what, denied: "unknown" }));
  await check({ keys }, headers, unknown);
});

test("a JWT may be for anybody, and name no key if there is one", async () => {
  const [, r] = keySet.keys;
  const { claim } = table.jwt;
  const settings = { jwt: { setting: "SETTING", keySet: { keys: [r] }, claim } };
  const header = { alg: "RS256" };
  const of = (more) => `Bearer ${signed({ header, signed: "r", ...more })}`;
  const headers = [of({ claims: { aud: "others", iss: "anybody" } }), of({ without: "iss" })];
  const { checked } = await ask({ settings, headers: [...headers, of({ without: "exp" })] });
  assert.deepEqual(
    checked.map(({ grant }) => grant?.name),
    ["dashboard", "dashboard", undefined],
  );
});

test("a signature is of its text", async () => {
  const right = signed({});
  const [header, payload, signature] = right.split(".");
  const [, widened] = signed({ claims: { canter: {} } }).split(".");
  const wrong = [
    `${header}.${widened}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -4)}`,
    `${header}.${payload}.${signature}=`,
    "..",
  ];
  const headers = [right, ...wrong].map((token) => `Bearer ${token}`);
  const { checked } = await ask({ settings: { jwt }, headers });
  assert.equal(checked[0].grant.name, "dashboard");
  for (const one of checked.slice(1)) assert.deepEqual(one, { denied: "unknown" });
});

test("settings that would mean something else are refused as the table says", async () => {
  const refused = async (settings, says) => {
    const { refused: message = "nothing" } = await ask({ settings });
    assert.ok(message.includes(says) && message.startsWith("SETTING"), `${message}: ${says}`);
    assert.ok(!message.includes("argon2id$"), message);
  };
  for (const { keys: text, says } of table.refused_keys) {
    await refused({ keys: { setting: "SETTING", text } }, says);
  }
  for (const { key_set: keySet, says } of table.refused_key_sets) {
    await refused({ jwt: { ...jwt, keySet } }, says);
  }
  // A Worker's own bounds, and what would let nobody in.
  const costly = keys.text.replace("m=8192", "m=65536");
  await refused({ keys: { setting: "SETTING", text: costly } }, "65536 KiB");
  const slow = keys.text.replace("m=8192,t=1", "m=32768,t=3");
  await refused({ keys: { setting: "SETTING", text: slow } }, "3 passes");
  await refused({ keys: { setting: "SETTING", text: "" } }, "nobody may ask");
});

test("a pattern is of the names that the table says", async () => {
  const { matched } = await ask({ settings: {}, patterns: table.patterns });
  for (const [ord, { pattern, name, matches }] of table.patterns.entries()) {
    assert.equal(matched[ord], matches, `${pattern} ${name}`);
  }
});
