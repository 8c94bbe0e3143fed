//! A large ingest is killed again and again: it resumes from its checkpoints, and completes.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use anyhow::ensure;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::create_index;
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::OpenOptions;
use canter_tests::{SECRET_KEY, run, with_s3};
use serde_json::{Value, json};

use super::victim::{Rng, start};
use super::words;

const BUCKET: &str = "canter-resumed";
const URI: &str = "s3://canter-resumed/logs";
const NUM_DOCS: u64 = 24_000;
const SPLIT_NUM_DOCS: u64 = 1_000;

const CONFIG: &str = "
version: 0.8
index_id: resumed
doc_mapping:
  field_mappings:
    - {name: id, type: u64, fast: true}
";

#[test]
fn an_ingest_that_is_killed_again_and_again_goes_on_and_ends() {
    let name = "resumed::an_ingest_that_is_killed_again_and_again_goes_on_and_ends";
    with_s3(name, SECRET_KEY, |server| {
        let folder = tempfile::tempdir()?;
        let bucket = server.make_bucket(BUCKET)?;
        create_index(URI, &IndexConfig::from_yaml(CONFIG, |_| None)?)?;
        let line = |id: u64| format!("{{\"id\": {id}, \"filler\": \"{}\"}}\n", "x".repeat(100));
        let lines: String = (0..NUM_DOCS).map(line).collect();
        fs::write(folder.path().join("all.ndjson"), lines)?;
        let mut args =
            words("index ingest --input all.ndjson --format json --checkpoint-bytes 256KiB");
        args.push(format!("--split-num-docs={SPLIT_NUM_DOCS}"));
        let mut rng = Rng::new(7);
        let (mut num_kills, mut num_puts) = (0, BTreeMap::<String, u64>::new());
        let report = loop {
            server.forwarder().take_lines();
            // It makes some progress, but never from the beginning to the end.
            let kill = rng.kill(30);
            let ended = start(
                server,
                folder.path(),
                URI,
                &args,
                Some(kill).filter(|_| num_kills < 9),
            )?;
            for line in server.forwarder().take_lines() {
                let object = line
                    .strip_prefix("PUT ")
                    .and_then(|rest| rest.split(' ').next());
                if let Some(object) = object.filter(|object| object.contains("/splits/")) {
                    *num_puts.entry(object.to_owned()).or_default() += 1;
                }
            }
            if ended.was_killed() {
                num_kills += 1;
            } else {
                ensure!(ended.status.success(), "{}", ended.said);
                break serde_json::from_str::<Value>(
                    ended.said.lines().last().unwrap_or_default(),
                )?;
            }
            if rng.below(2) == 0 {
                let gc = start(
                    server,
                    folder.path(),
                    URI,
                    &words("index gc --grace 0s"),
                    None,
                )?;
                ensure!(gc.status.success(), "{}", gc.said);
            }
        };
        ensure!(num_kills > 3, "it was killed {num_kills} times only");
        let num_resumed = report["num_resumed_docs"].as_u64().unwrap_or_default();
        ensure!(num_resumed >= NUM_DOCS / 2, "{report}");
        // A checkpoint lags by at most the splits of about two batches of lines, and each kill costs no more than
        // those.
        let num_splits = NUM_DOCS / SPLIT_NUM_DOCS;
        let most = num_splits + num_kills * 8;
        let all: u64 = num_puts.values().sum();
        ensure!(
            all <= most,
            "{all} uploads of {num_splits} splits, at most {most} expected"
        );

        let searcher = Searcher::builder()
            .engine(Arc::new(NativeEngine::new()))
            .uri(URI, &OpenOptions::default())?
            .build()?;
        let request = json!({"query": "*", "max_hits": 0, "aggs": {
            "ids": {"cardinality": {"field": "id"}}, "sum": {"sum": {"field": "id"}},
        }});
        let answer = run(&searcher, &request)?.json;
        ensure!(answer["num_hits"] == NUM_DOCS, "{answer}");
        let sum = (NUM_DOCS * (NUM_DOCS - 1) / 2) as f64;
        ensure!(answer["aggregations"]["sum"]["value"] == sum, "{answer}");
        let left = fs::read_dir(bucket.join("logs/checkpoints")).map(Iterator::count);
        ensure!(left.unwrap_or(0) == 0, "checkpoints are left");
        Ok(())
    });
}
