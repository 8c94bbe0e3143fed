#!/usr/bin/env bash
# After all tasks: publishes what they built, all at once, or nothing if a receipt is missing. It may be repeated.
set -euo pipefail

exec "${CANTER:-canter}" split publish --index "$INDEX" --num-receipts "$PARTS" "$RECEIPTS/"
