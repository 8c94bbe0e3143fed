/*
 * The arguments that every host here takes: `--port N`, `--index NAME=PLACE` (once or more),
 * `--cache none|memory|FOLDER`, and, on Node and Deno, `--threads N`.
 */

const USAGE = `usage: HOST [--port N] --index NAME=URL… [--cache none|memory|FOLDER] [--threads N]

  --port     where to listen on 127.0.0.1; 0, the default, takes a free port
  --index    an index by its name, and its URL or folder
  --cache    what keeps bytes between searches; memory by default
  --threads  how many threads run the guest (Node and Deno); 0, the default, runs it on the one that serves`;

/** Reads the arguments; ends the process if they cannot be read. */
export function readArguments(args) {
  const options = { port: 0, indexes: {}, cache: "memory", threads: 0 };
  for (let at = 0; at < args.length; at += 2) {
    const [name, value] = [args[at], args[at + 1]];
    const equals = value?.indexOf("=") ?? -1;
    if (name === "--port" && /^\d+$/.test(value ?? "")) options.port = Number(value);
    else if (name === "--cache" && value) options.cache = value;
    else if (name === "--threads" && /^\d+$/.test(value ?? "")) options.threads = Number(value);
    else if (name === "--index" && equals > 0) {
      options.indexes[value.slice(0, equals)] = value.slice(equals + 1);
    } else fail(`cannot read ${[name, value].filter((part) => part !== undefined).join(" ")}`);
  }
  if (Object.keys(options.indexes).length === 0) fail("--index is missing");
  return options;
}

/** Says that requests are answered from now on; whoever started the host waits for this line. */
export function announce(port) {
  console.log(`listening on http://127.0.0.1:${port}`);
}

function fail(what) {
  console.error(`${what}\n\n${USAGE}`);
  globalThis.process.exit(2);
}
