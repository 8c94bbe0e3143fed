/*
 * JSON Web Tokens: HS256, RS256 and EdDSA, against a set of keys (JWKS, RFC 7517). What a token allows is one claim, an
 * object; a token without it allows nothing. The rules are those of `access/src/jwt.rs`.
 */

import { base64url, decodeProtectedHeader, importJWK, type JWTPayload, jwtVerify } from "jose";

import { type Grant, grantOf, isObject, refuseOthers, Unusable } from "./grant.js";

/** How far clocks may differ. */
const LEEWAY_SECONDS = 30;
/** A shared secret of fewer bytes can be guessed from one token (RFC 7518, section 3.2). */
const MIN_SECRET_NUM_BYTES = 32;
/** A shorter RSA key can be broken (RFC 7518, section 3.3). */
const MIN_MODULUS_NUM_BITS = 2048;

const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** What JWTs are checked against. */
export interface JwtSettings {
  /** What errors call the set of keys. */
  readonly setting: string;
  readonly keySet: unknown;
  /** The claim that says what a token allows. */
  readonly claim: string;
  /** Who must have issued it, if anybody. */
  readonly issuer?: string;
  /** For whom it must be, if for anybody. */
  readonly audience?: string;
}

type Algorithm = "HS256" | "RS256" | "EdDSA";

interface NamedKey {
  readonly id: string | undefined;
  readonly algorithm: Algorithm;
  readonly key: Awaited<ReturnType<typeof importJWK>>;
}

/** Checks JWTs. */
export class JwtVerifier {
  private constructor(
    private readonly settings: JwtSettings,
    private readonly keys: readonly NamedKey[],
  ) {}

  /** Reads the keys. Rejects with what is wrong with them. */
  static async open(settings: JwtSettings): Promise<JwtVerifier> {
    const { setting, keySet } = settings;
    const refuse = (what: string) => new Unusable(`${setting}${what}`);
    const list = isObject(keySet) ? keySet["keys"] : undefined;
    if (!Array.isArray(list) || !list.every(isObject)) throw refuse(" is no set of keys (JWKS)");
    const keys: NamedKey[] = [];
    for (const [ord, jwk] of list.entries()) {
      if (jwk["use"] !== undefined && jwk["use"] !== "sig") continue;
      try {
        keys.push(await readKey(jwk));
      } catch (error) {
        if (!(error instanceof Unusable)) throw error;
        throw refuse(`: key ${ord + 1} ${error.message}`);
      }
    }
    if (keys.length === 0) throw refuse(" has no key that signs");
    if (keys.length > 1 && keys.some(({ id }) => id === undefined)) {
      throw refuse(" has several keys, so that each needs a kid");
    }
    return new JwtVerifier(settings, keys);
  }

  /** What a token allows; nothing if it is not right. */
  async check(token: string): Promise<Grant | undefined> {
    try {
      return await this.verify(token);
    } catch {
      // Whatever is wrong with it: who guesses learns nothing.
      return undefined;
    }
  }

  private async verify(token: string): Promise<Grant | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const { kid, crit } = decodeProtectedHeader(token);
    // Names what must be understood (RFC 7515, section 4.1.11), and none of that is.
    if (crit !== undefined) return undefined;
    const key = this.keyOf(kid);
    if (key === undefined) return undefined;
    const { claim, issuer, audience } = this.settings;
    const { payload } = await jwtVerify(token, key.key, {
      // Of the key's own kind only: who knows a public key could sign with it as if it were a secret.
      algorithms: [key.algorithm],
      requiredClaims: ["exp"],
      clockTolerance: LEEWAY_SECONDS,
      ...(issuer === undefined ? {} : { issuer }),
      ...(audience === undefined ? {} : { audience }),
    });
    const allowed = Object.hasOwn(payload, claim) ? payload[claim] : undefined;
    // `null` would be taken for nothing said, which allows more.
    if (!isWellFormed(payload) || !isObject(allowed) || Object.values(allowed).includes(null)) {
      return undefined;
    }
    refuseOthers(allowed, ["indexes", "rights", "filter"]);
    return grantOf(typeof payload.sub === "string" ? payload.sub : "jwt", allowed);
  }

  private keyOf(kid: unknown): NamedKey | undefined {
    if (kid === undefined) return this.keys.length === 1 ? this.keys[0] : undefined;
    return this.keys.find(({ id }) => id !== undefined && id === kid);
  }
}

/**
 * Whether the registered claims have their types (RFC 7519, section 4.1), those that are not checked, too: libraries differ
 * in what they make of others, and hosts must not.
 */
function isWellFormed({ iss, aud, iat }: JWTPayload): boolean {
  const isText = (value: unknown) => typeof value === "string";
  const isAudience = isText(aud) || (Array.isArray(aud) && aud.every(isText));
  return (
    (iss === undefined || isText(iss)) &&
    (iat === undefined || typeof iat === "number") &&
    (aud === undefined || isAudience)
  );
}

async function readKey(jwk: Record<string, unknown>): Promise<NamedKey> {
  const { kid, kty } = jwk;
  const [algorithm, names] = kindOf(jwk);
  if (jwk["alg"] !== undefined && jwk["alg"] !== algorithm) throw unknownKind();
  if (kid !== undefined && typeof kid !== "string") throw new Unusable("has a kid that is no text");
  const parts = Object.fromEntries(names.map((name) => [name, String(jwk[name])]));
  try {
    if (algorithm === "HS256") checkSecret(parts["k"] ?? "");
    if (algorithm === "RS256") checkModulus(parts["n"] ?? "");
    // Whatever else it says is not looked at.
    const key = await importJWK({ kty: String(kty), ...parts }, algorithm);
    return { id: kid, algorithm, key };
  } catch (error) {
    throw error instanceof Unusable ? error : new Unusable("cannot be used");
  }
}

/** The algorithm of a key, and the names of its parts. */
function kindOf(jwk: Record<string, unknown>): [Algorithm, readonly string[]] {
  const has = (...names: string[]) => names.every((name) => typeof jwk[name] === "string");
  switch (jwk["kty"]) {
    case "oct":
      if (has("k")) return ["HS256", ["k"]];
      break;
    case "RSA":
      if (has("n", "e")) return ["RS256", ["n", "e"]];
      break;
    case "OKP":
      if (jwk["crv"] === "Ed25519" && has("x")) return ["EdDSA", ["crv", "x"]];
      break;
  }
  throw unknownKind();
}

function unknownKind(): Unusable {
  return new Unusable("is of no kind that is checked: HS256, RS256 and EdDSA with Ed25519 are");
}

function checkSecret(text: string): void {
  const len = base64url.decode(text).length;
  if (len >= MIN_SECRET_NUM_BYTES) return;
  throw new Unusable(`is a secret of ${len} bytes; it needs ${MIN_SECRET_NUM_BYTES}`);
}

function checkModulus(text: string): void {
  const bytes = base64url.decode(text);
  const first = bytes.findIndex((byte) => byte !== 0);
  const numBits = first < 0 ? 0 : (bytes.length - first) * 8 - Math.clz32(bytes[first] ?? 0) + 24;
  if (numBits >= MIN_MODULUS_NUM_BITS) return;
  throw new Unusable(`is an RSA key of ${numBits} bits; it needs ${MIN_MODULUS_NUM_BITS}`);
}
