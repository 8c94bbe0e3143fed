/*
 * Argon2, the reference implementation as a WebAssembly module: about 6 ms for a key of `canter key add`, a tenth of what it
 * takes in JavaScript.
 *
 * The module is called without the class of its package, which gives the C function the length of a secret in UTF-16 units
 * where it wants bytes.
 */

import module from "@phi-ag/argon2/argon2.wasm";

/** What the module exports of `argon2.h`, and for it. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(len: number): number;
  free(at: number): void;
  argon2_verify(encoded: number, secret: number, secretLen: number, type: number): number;
}

const ARGON2_OK = 0;
const ARGON2_ID = 2;

/** Kept, because its 16 MiB would be garbage after each guess. */
let exports: Exports | undefined;

function argon2(): Exports {
  if (exports === undefined) {
    exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    exports._initialize();
  }
  return exports;
}

/** Whether `hash`, as argon2id writes it (`$argon2id$v=19$…`), is of this secret. */
export function isHashOf(hash: string, secret: string): boolean {
  const { malloc, free, memory, argon2_verify } = argon2();
  const put = (bytes: Uint8Array) => {
    const at = malloc(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, at);
    return at;
  };
  const encoder = new TextEncoder();
  const secretBytes = encoder.encode(secret);
  // A text of C ends with a zero.
  const hashAt = put(encoder.encode(`${hash}\0`));
  const secretAt = put(secretBytes);
  try {
    return argon2_verify(hashAt, secretAt, secretBytes.length, ARGON2_ID) === ARGON2_OK;
  } finally {
    free(hashAt);
    free(secretAt);
  }
}
