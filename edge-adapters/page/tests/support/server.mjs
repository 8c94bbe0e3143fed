/*
 * What the page is tested against: `canter serve` on indexes made of generated lines. If that program serves the
 * page itself, the tests go straight to it; if not, a small server in front of it serves `src` below /ui/ with the
 * headers that a server must send, and passes everything else on.
 *
 * CANTER is another build of the command line.
 */

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, request as ask } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join, resolve, sep } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const target = process.env.CARGO_TARGET_DIR ?? join(root, "../../target");
export const canter = process.env.CANTER ?? join(target, "debug/canter");

/** The policy that a server sends with each file of the page. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Makes the indexes `logs` (with times), `cities` (without) and `events` (without a mapping) in a folder of their own. */
export function makeIndexes(numLogs = 5000) {
  if (!existsSync(canter)) throw new Error(`there is no ${canter}: build it, or set CANTER`);
  const folder = mkdtempSync(join(tmpdir(), "canter-page-"));
  const run = (...args) =>
    execFileSync(canter, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  run("demo", "--docs", String(numLogs), "--splits", "4", "--dir", join(folder, "logs"));
  writeFileSync(join(folder, "cities.yaml"), CITIES);
  writeFileSync(join(folder, "cities.ndjson"), cityLines());
  const config = ["--index-config", "cities.yaml", "--input", "cities.ndjson"];
  run("index", "ingest", "--index", join(folder, "cities"), ...config);
  writeFileSync(join(folder, "events.ndjson"), eventLines());
  const any = ["--preset", "any", "--input", "events.ndjson"];
  run("index", "ingest", "--index", join(folder, "events"), ...any);
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

const CITIES = `version: 0.8
index_id: cities
doc_mapping:
  mode: strict
  field_mappings:
    - {name: name, type: text, tokenizer: default, record: position}
    - {name: country, type: text, tokenizer: raw, fast: true}
    - {name: population, type: u64, fast: true}
    - {name: latitude, type: f64, fast: true}
    - {name: capital, type: bool, fast: true}
    - {name: note, type: text, tokenizer: raw}
search_settings:
  default_search_fields: [name]
`;

function eventLines() {
  const lines = Array.from({ length: 60 }, (_, ord) => ({
    at: `2026-01-02T03:04:${String(ord).padStart(2, "0")}Z`,
    level: ord % 10 === 0 ? "error" : "info",
    msg: `event number ${ord}`,
    user: { id: ord % 4, tags: ["all", `t${ord % 3}`] },
    items: [{ sku: `s${ord % 5}` }, { sku: "gift" }],
    "odd name": "x: y",
  }));
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** 300 invented towns; one has markup in its name, so that it is seen if the page takes it for some. */
function cityLines() {
  const countries = ["Norland", "Sudmark", "Estia", "Westfold", "New Isle"];
  const lines = [];
  for (let ord = 0; ord < 300; ord += 1) {
    lines.push({
      name:
        ord === 7
          ? 'Evil <img src=x onerror="globalThis.broken=1"> & "Sons"'
          : `Town number ${ord}`,
      country: countries[ord % 5],
      population: 1000 + ord * ord,
      latitude: (ord % 120) - 60.5,
      capital: ord % 60 === 0,
      note: `note ${ord % 3}`,
    });
  }
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** Serves indexes below `folder` by their names. */
export function serveIndexes(folder, names, extra = []) {
  return serveFolders(
    names.map((name) => `${name}=${join(folder, name)}`),
    extra,
  );
}

/**
 * Serves indexes, each as NAME=FOLDER. `extra` are further arguments of `canter serve`.
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} where the page is
 */
export async function serveFolders(folders, extra = []) {
  const indexes = folders.flatMap((folder) => ["--index", folder]);
  const server = spawn(canter, ["serve", ...indexes, "--listen", "127.0.0.1:0", ...extra], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((done) => server.once("exit", done));
  const address = await new Promise((done, fail) => {
    createInterface({ input: server.stdout }).on("line", (line) => {
      const found = /listening on (http:\S+)/.exec(line)?.[1];
      if (found !== undefined) done(found);
    });
    ended.then((code) => fail(new Error(`canter serve ended with ${code}`)));
  });
  const stopServer = async () => {
    server.kill();
    await ended;
  };
  const own = await fetch(`${address}/ui/`).catch(() => undefined);
  if (own?.status === 200) return { url: `${address}/ui/`, stop: stopServer };
  const front = createServer((request, response) => answer(request, response, new URL(address)));
  await new Promise((done) => front.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${front.address().port}/ui/`,
    stop: async () => {
      front.closeAllConnections();
      front.close();
      await stopServer();
    },
  };
}

/** A file of the page, or what the program behind says. */
function answer(request, response, behind) {
  const { pathname } = new URL(request.url, "http://localhost");
  if (pathname.startsWith("/ui/"))
    return void sendFile(pathname.slice(4) || "index.html", response);
  const { method, url, headers } = request;
  const passed = ask(
    {
      host: behind.hostname,
      port: behind.port,
      method,
      path: url,
      headers: { ...headers, host: behind.host },
    },
    (reply) => {
      response.writeHead(reply.statusCode, reply.headers);
      reply.pipe(response);
    },
  );
  passed.on("error", () => response.destroy());
  request.pipe(passed);
}

async function sendFile(name, response) {
  const folder = join(root, "src");
  const file = resolve(folder, decodeURIComponent(name));
  const isInside = file.startsWith(folder + sep);
  const body = isInside ? await readFile(file).catch(() => undefined) : undefined;
  if (body === undefined) return response.writeHead(404).end();
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "cache-control": "no-cache",
  });
  response.end(body);
}
