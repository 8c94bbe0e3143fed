/*
 * Builds the page into `dist`: everything that a static host needs but the index.
 */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const dist = join(root, "dist");
const adapter = join(root, "../../edge-adapters/js");
const page = join(root, "../../edge-adapters/page/src");
const worker = join(adapter, "dist/bundle/canter-browser-worker.js");
if (!existsSync(worker)) {
  console.error(`there is no ${worker}: run \`cargo xtask js\` first`);
  process.exit(1);
}

execFileSync(join(root, "node_modules/.bin/tsc"), ["--project", root], { stdio: "inherit" });
rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, "guest"), { recursive: true });
copyFileSync(worker, join(dist, "canter-worker.js"));
for (const name of readdirSync(join(adapter, "guest")).filter((name) => name.endsWith(".wasm"))) {
  copyFileSync(join(adapter, "guest", name), join(dist, "guest", name));
}
for (const name of ["index.html", "settings.json"]) {
  copyFileSync(join(root, "src", name), join(dist, name));
}
copyFileSync(join(page, "icon.svg"), join(dist, "icon.svg"));
cpSync(join(page, "styles"), join(dist, "styles"), { recursive: true });
const options = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
};
await build({
  ...options,
  entryPoints: [join(root, "src/main.ts")],
  outfile: join(dist, "app.js"),
});

// The page's own files, and a name for this version of them.
const shell = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(dist.length + 1))
  .sort();
const hash = createHash("sha256");
for (const name of shell) hash.update(name).update(readFileSync(join(dist, name)));
await build({
  ...options,
  entryPoints: [join(root, "src/service-worker.ts")],
  outfile: join(dist, "service-worker.js"),
  define: {
    SHELL_FILES: JSON.stringify(shell),
    SHELL_VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)),
  },
});
writeFileSync(join(dist, ".nojekyll"), "");
