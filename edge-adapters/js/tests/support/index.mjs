/*
 * An index to search: the sample of `examples/access-logs` in eight splits, made by the real command line
 * (`CANTER`, or `target/debug/canter`).
 */

import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const sample = fileURLToPath(new URL("../../../../examples/access-logs/", import.meta.url));
const target =
  process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL("../../../../target", import.meta.url));
const canter = process.env.CANTER ?? join(target, "debug/canter");

/** Builds the index. Gives its objects by name (relative to the index), and removes it again with `t.after`. */
export function buildIndex(after) {
  if (!existsSync(canter)) {
    throw new Error(
      `there is no ${canter}: run \`cargo xtask js test\`, or set CANTER to a build of it`,
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "canter-index-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(sample, "index-config.yaml");
  const input = join(sample, "access-logs.ndjson");
  const index = join(folder, "logs");
  const rejects = join(folder, "rejects.ndjson");
  execFileSync(
    canter,
    [
      "index",
      "ingest",
      "--index",
      index,
      "--index-config",
      config,
      "--input",
      input,
      "--split-num-docs",
      "50",
      "--rejects",
      rejects,
    ],
    { stdio: "ignore" },
  );
  const names = readdirSync(index, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".lock"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  return new Map(names.map((path) => [path.slice(index.length + 1), readFileSync(path)]));
}

/** The lines of the sample as documents. */
export function sampleDocuments() {
  return readFileSync(join(sample, "access-logs.ndjson"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}
