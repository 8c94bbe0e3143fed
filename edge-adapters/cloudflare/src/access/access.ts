/*
 * Who may ask, and what: API keys and JSON Web Tokens, from settings. It decides as the crate `access` does, which `canter
 * serve` and the Lambda function use: the tests of both go through the cases in `access/src/tests/table`.
 */

import { isHashOf } from "./argon2.js";
import { type Denied, readCredentials } from "./credentials.js";
import type { Grant } from "./grant.js";
import { type ApiKey, readKeys } from "./keys.js";
import { type JwtSettings, JwtVerifier } from "./jwt.js";

/** Keys that were found right lately: their secrets are not hashed again. */
const MAX_REMEMBERED = 1024;

/** Where tokens are known from. */
export interface AccessSettings {
  /** API keys, in TOML, and what errors call them. */
  readonly keys?: { readonly setting: string; readonly text: string };
  readonly jwt?: JwtSettings;
}

/** What a header allows, or why it allows nothing. */
export type Checked = { readonly grant: Grant } | { readonly denied: Denied };

/** Checks tokens. */
export class Access {
  /** Digests of keys that were found right; the last ones were right last. */
  private readonly remembered = new Set<string>();
  /** Makes digests those of this isolate. */
  private readonly salt = crypto.getRandomValues(new Uint8Array(32));

  private constructor(
    private readonly keys: ReadonlyMap<string, ApiKey>,
    private readonly jwt: JwtVerifier | undefined,
  ) {}

  /** Reads the settings. Rejects with what is wrong with them. */
  static async open({ keys, jwt }: AccessSettings): Promise<Access> {
    const read = keys === undefined ? new Map() : readKeys(keys.setting, keys.text);
    return new Access(read, jwt === undefined ? undefined : await JwtVerifier.open(jwt));
  }

  /** What the header `Authorization` allows. */
  async check(header: string | null): Promise<Checked> {
    const credentials = readCredentials(header);
    if (typeof credentials === "string") return { denied: credentials };
    const grant =
      "jwt" in credentials
        ? await this.jwt?.check(credentials.jwt)
        : await this.checkKey(credentials.id, credentials.secret);
    return grant === undefined ? { denied: "unknown" } : { grant };
  }

  private async checkKey(id: string, secret: string): Promise<Grant | undefined> {
    const key = this.keys.get(id);
    if (key === undefined || key.expiresMs <= Date.now()) return undefined;
    const digest = await this.digest(id, secret);
    if (!this.remembered.delete(digest) && !isHashOf(key.hash, secret)) return undefined;
    this.remembered.add(digest);
    const [oldest] = this.remembered;
    if (this.remembered.size > MAX_REMEMBERED && oldest !== undefined)
      this.remembered.delete(oldest);
    return key.grant;
  }

  private async digest(id: string, secret: string): Promise<string> {
    // Neither has a zero in it.
    const text = new TextEncoder().encode(`${id}\0${secret}`);
    const bytes = new Uint8Array(this.salt.length + text.length);
    bytes.set(this.salt);
    bytes.set(text, this.salt.length);
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return String.fromCharCode(...digest);
  }
}
