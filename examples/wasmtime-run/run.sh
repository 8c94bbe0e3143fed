#!/usr/bin/env bash
# Searches an index on a web server with the stock wasmtime command: once as a program, once as a web service.
# WASMTIME=/path/to/wasmtime runs another one than `cargo xtask tools` installs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
target="$(realpath "${CARGO_TARGET_DIR:-../../target}")"
WASMTIME="${WASMTIME:-$target/tools/wasmtime/wasmtime}"
[[ -x "$WASMTIME" ]] || cargo xtask tools

cargo xtask wasi
# With the features of the whole workspace, as xtask builds it: nothing compiles twice.
cargo build -q --workspace --exclude canter-guest-component --bin canter --bin serve-folder
component="$target/guest/canter-wasi.wasm"

folder="$(mktemp -d)"
pids=()
clean_up() {
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap clean_up EXIT
say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
# Waits for a line in a file, and prints what of it matches.
await() {
    for _ in $(seq 300); do
        if grep -oE -m 1 "$2" "$1" 2>/dev/null; then return; fi
        sleep 0.1
    done
    echo "error: no $2 in $1" >&2
    exit 1
}

"$target/debug/canter" index ingest --index "$folder/www/access-logs" --split-num-docs 100 \
    --index-config ../access-logs/index-config.yaml --input ../access-logs/access-logs.ndjson
"$target/debug/serve-folder" "$folder/www" >"$folder/store.txt" &
pids+=($!)
store="$(await "$folder/store.txt" 'http://[0-9.:]+')"
mkdir "$folder/cache"

say "As a program: wasmtime run"
"$WASMTIME" run -S http --dir "$folder/cache::/cache" "$component" search \
    --index "$store/access-logs" --query 'status: IN [500 400 403]' --max-hits 1

say "As a web service: wasmtime serve"
"$WASMTIME" serve --addr 127.0.0.1:0 -S cli --dir "$folder/cache::/cache" \
    --env CANTER_INDEXES="access-logs=$store/access-logs" "$component" 2>"$folder/serve.txt" &
pids+=($!)
service="$(await "$folder/serve.txt" 'http://[0-9.:]+')"
curl --silent --show-error --fail --dump-header - --get "$service/api/v1/access-logs/search" \
    --data-urlencode 'query=*' --data-urlencode 'max_hits=0' \
    --data-urlencode 'aggs={"by_status":{"terms":{"field":"status","size":20}}}'
echo
