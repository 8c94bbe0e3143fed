/*
 * Checks the Worker's types, and bundles it for miniflare: one script and the guest's modules beside it, as wrangler does it.
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));

execFileSync(join(root, "node_modules/.bin/tsc"), ["--project", root], { stdio: "inherit" });

/** Leaves imports of `.wasm` in the script and puts the files beside it. */
const modulesBeside = {
  name: "modules-beside",
  setup({ onResolve }) {
    onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
      const name = path.split("/").at(-1);
      mkdirSync(join(root, "dist"), { recursive: true });
      copyFileSync(join(resolveDir, path), join(root, "dist", name));
      return { path: `./${name}`, external: true };
    });
  },
};

await build({
  entryPoints: [join(root, "src/worker.ts")],
  outfile: join(root, "dist/worker.js"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  conditions: ["workerd", "worker", "browser"],
  external: ["cloudflare:workers"],
  plugins: [modulesBeside],
  logLevel: "warning",
});
