/*
 * Builds the package: component → JavaScript and core modules (jco), TypeScript → JavaScript (tsc), and the
 * browser's page and worker scripts in one file each (esbuild).
 *
 * The component is CANTER_GUEST, or else what `cargo xtask guest` has built.
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "../../target");
const component = process.env.CANTER_GUEST ?? join(target, "guest/canter-guest.wasm");
if (!existsSync(component)) {
  console.error(`there is no ${component}: run \`cargo xtask guest\` first, or set CANTER_GUEST`);
  process.exit(1);
}

const { readFile } = await import("node:fs/promises");
const { files } = await transpileBytes(await readFile(component), {
  name: "canter-guest",
  instantiation: { tag: "async" },
  nodejsCompat: false,
  noTypescript: false,
  minify: true,
});
for (const [name, bytes] of Object.entries(files)) {
  const path = join(root, "guest", name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
}

rmSync(join(root, "dist"), { recursive: true, force: true });
const tsc = join(root, "node_modules/.bin/tsc");
execFileSync(tsc, ["--project", join(root, "tsconfig.json")], { stdio: "inherit" });

const entry = (name) => join(root, "dist/entry", `${name}.js`);
await build({
  entryPoints: {
    "canter-browser": entry("browser"),
    "canter-browser-worker": entry("browser-worker"),
  },
  outdir: join(root, "dist/bundle"),
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
});
