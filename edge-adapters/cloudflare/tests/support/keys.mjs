/*
 * API keys, as the command line makes them (`CANTER`, or `target/debug/canter`).
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const target =
  process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../../target", import.meta.url));
const canter = process.env.CANTER ?? join(target, "debug/canter");

/** The file of keys with these arguments of `canter key add` by their ids, and a token of each. */
export function makeKeys(argumentsById) {
  const folder = mkdtempSync(join(tmpdir(), "canter-keys-"));
  try {
    const file = join(folder, "keys.toml");
    const tokens = {};
    for (const [id, args] of Object.entries(argumentsById)) {
      const command = ["key", "add", "--file", file, "--id", id, ...args];
      const options = { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
      tokens[id] = execFileSync(canter, command, options).trim();
    }
    return { text: readFileSync(file, "utf8"), tokens };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
