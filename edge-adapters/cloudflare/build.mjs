/*
 * Checks the Worker's types, and bundles it for miniflare: one script and WebAssembly modules beside it, as wrangler does it.
 * Puts the search page into `dist/assets`, from where wrangler uploads it.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));

const dist = join(root, "dist");
const page = join(root, "../page");

execFileSync(join(root, "node_modules/.bin/tsc"), ["--project", root], { stdio: "inherit" });

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);

/** Leaves imports of `.wasm` in the script and puts the files beside it. */
const modulesBeside = {
  name: "modules-beside",
  setup({ onResolve }) {
    onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
      const name = path.split("/").at(-1);
      const file = createRequire(join(resolveDir, "from-here.js")).resolve(path);
      copyFileSync(file, join(dist, name));
      return { path: `./${name}`, external: true };
    });
  },
};

await build({
  entryPoints: [join(root, "src/worker.ts")],
  outfile: join(dist, "worker.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:workers"],
  plugins: [modulesBeside],
  logLevel: "warning",
});

// Below `/ui/`, with the headers that every host of the page sends.
cpSync(join(page, "src"), join(dist, "assets/ui"), { recursive: true });
const headers = readFileSync(join(page, "headers.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));
// What Cloudflare would say of caching goes first.
const rules = ["/ui/*", "! cache-control", ...headers];
writeFileSync(join(dist, "assets/_headers"), `${rules.join("\n  ")}\n`);
