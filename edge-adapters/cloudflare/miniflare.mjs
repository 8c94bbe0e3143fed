/*
 * The built Worker as miniflare takes it: for tests, the conformance test and the example.
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const dist = fileURLToPath(new URL("dist/", import.meta.url));

const MODULES = ["canter-guest.core", "canter-guest.core2", "canter-guest.core3", "argon2"];

/** What does not depend on who starts it. Throws if it is not built. */
export function builtWorker() {
  if (!existsSync(`${dist}worker.js`)) {
    throw new Error(`there is no ${dist}worker.js: run \`cargo xtask js\` first`);
  }
  return {
    name: "canter-search",
    modulesRoot: dist,
    modules: [
      { type: "ESModule", path: `${dist}worker.js` },
      ...MODULES.map((name) => ({ type: "CompiledWasm", path: `${dist}${name}.wasm` })),
    ],
    compatibilityDate: "2026-07-01",
    // The search page.
    assets: {
      directory: `${dist}assets`,
      workerName: "canter-search",
      routerConfig: { has_user_worker: true },
    },
  };
}
