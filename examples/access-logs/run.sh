#!/usr/bin/env bash
# Indexes the sample and asks it four questions, in WebAssembly. CANTER=/absolute/path/to/canter runs that
# binary instead of one that cargo builds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

if [[ -z "${CANTER:-}" ]]; then
    cargo xtask guest
    # With the features of the whole workspace, as xtask builds it: nothing compiles twice.
    cargo build -q --workspace --exclude canter-guest-component --bin canter
    CANTER="${CARGO_TARGET_DIR:-../../target}/debug/canter"
fi
canter() {
    "$CANTER" "$@"
}

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
index="$folder/access-logs"

ask() {
    printf '\n\033[1m%s\033[0m\n' "$1"
    shift
    canter search --index "$index" --format table "$@"
}

canter index ingest --index "$index" --index-config index-config.yaml \
    --input access-logs.ndjson --split-num-docs 100 --rejects "$folder/rejects.ndjson"

ask "How many answers of each status?" --query '*' --max-hits 0 \
    --aggs '{"by_status":{"terms":{"field":"status","size":20}}}'

ask "The smallest answer of each status" --query '*' --max-hits 0 \
    --aggs '{"by_status":{"terms":{"field":"status","size":20},"aggs":{"smallest":{"min":{"field":"size"}}}}}'

ask "The requests that went wrong, newest first" --query 'status: IN [500 400 403]'

ask "Exactly one request" --query 'request:"GET /img/logo.png HTTP/1.1"' --max-hits 3
