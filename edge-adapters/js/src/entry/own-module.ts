/*
 * The guest that this package brings along, from its files.
 */

import { readFile } from "node:fs/promises";

/** The core module of this name. */
export async function ownModule(name: string): Promise<WebAssembly.Module> {
  const bytes = await readFile(new URL(`../../guest/${name}`, import.meta.url));
  return WebAssembly.compile(new Uint8Array(bytes));
}
