#!/usr/bin/env bash
# One task of an indexed job: builds its part of the inputs and leaves a receipt. A task that is repeated, or runs
# twice at once, builds the same splits and writes the same receipt.
#
#   INDEX     s3://bucket/logs          where the index is, or will be
#   CONFIG    index-config.yaml         its config
#   INPUT     s3://bucket/raw/          what is indexed
#   RECEIPTS  s3://bucket/receipts/run  where receipts go: another place for each run
#   PARTS     16                        how many tasks there are
set -euo pipefail

# Kubernetes, AWS Batch, and a Map of Step Functions that passes its index on, each in its own words.
part="${JOB_COMPLETION_INDEX:-${AWS_BATCH_JOB_ARRAY_INDEX:-${PART:?which part is this}}}"

exec "${CANTER:-canter}" split build --index "$INDEX" --index-config "$CONFIG" \
    --input "$INPUT" --part "$part/$PARTS" --receipt "$RECEIPTS/$part.json"
