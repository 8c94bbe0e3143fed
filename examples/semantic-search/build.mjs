/*
 * Puts the page and the engine into `dist`: everything that a static host needs but the data and the index.
 */

import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist");
const adapter = join(root, "../../edge-adapters/js");
const bundle = join(adapter, "dist/bundle");
if (!existsSync(bundle)) {
  console.error(`there is no ${bundle}: run \`cargo xtask js\` first`);
  process.exit(1);
}
rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, "guest"), { recursive: true });
cpSync(join(root, "page"), dist, { recursive: true });
copyFileSync(join(bundle, "canter-browser.js"), join(dist, "canter-browser.js"));
copyFileSync(join(bundle, "canter-browser-worker.js"), join(dist, "canter-worker.js"));
for (const name of readdirSync(join(adapter, "guest")).filter((name) => name.endsWith(".wasm"))) {
  copyFileSync(join(adapter, "guest", name), join(dist, "guest", name));
}
