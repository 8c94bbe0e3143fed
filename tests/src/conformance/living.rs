//! The index `living`, with everything that an index accumulates over time: pages of its manifest,
//! merged splits, documents deleted before and after merges, and filters.
//!
//! ```text
//!   ingests 0-6 ─▶ delete ─▶ delete ─▶ merge some ─▶ ingests 7-9, late documents ─▶ delete
//!                  in every  whole                                                  in merged splits
//!                  split     splits                                                 and in new ones
//! ```
//!
//! Documents come in pairs with the same time and trace from one source, so that the order of lines
//! decides.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    IndexStore, IngestOptions, MergeIndexOptions, Source, create_index, delete_documents, ingest,
    merge_index,
};
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_samples::HDFS_LOGS_YAML;
use serde_json::{Value, json};

use crate::index::read_folder;
use crate::{Oracle, hdfs_lines, list};

/// Number of lines in all ingests together.
const NUM_LINES: u64 = 4_000;
/// Number of documents in a split before merges.
const SPLIT_NUM_DOCS: u64 = 20;
const NUM_INGESTS: u64 = 10;
/// Number of ingests before the first deletion.
const NUM_EARLY: u64 = 7;
/// Interval of traces that arrive late, all of them in one ingest.
const LATE: u64 = 17;
/// Start in seconds since 1970, and the distance between pairs of documents.
const START: u64 = 1_700_000_000;
const STEP: u64 = 45;
/// Number of merges to run, out of many due ones.
const NUM_MERGES: u64 = 5;

/// Returns the objects of the index, and the oracle over its remaining documents.
pub(super) fn living(seed: u64) -> Result<(BTreeMap<String, Bytes>, Oracle)> {
    let folder = tempfile::tempdir()?;
    let yaml = config();
    let config = IndexConfig::from_yaml(&yaml, |_| None)?;
    let store = create_index(name_of(folder.path())?, &config)?;
    let mut lines = lines(seed)?;

    let mut ingests: Vec<(String, Vec<&Value>)> = (0..NUM_INGESTS)
        .map(|ord| (format!("ingest {ord}"), Vec::new()))
        .collect();
    let mut late = ("late".to_owned(), Vec::new());
    for (ord, line) in (0_u64..).zip(&lines) {
        let of_ingest = ingests.get_mut(usize::try_from(ord * NUM_INGESTS / NUM_LINES)?);
        match (ord / 2) % LATE == 3 {
            true => late.1.push(line),
            false => of_ingest.context("an ingest")?.1.push(line),
        }
    }
    let (early, later) = ingests.split_at(usize::try_from(NUM_EARLY)?);
    add(&store, early)?;
    delete(&store, folder.path(), &deletions()[..2])?;
    let options = MergeIndexOptions {
        max_merges: Some(NUM_MERGES),
        ..MergeIndexOptions::default()
    };
    let merged = merge_index(&store, &options, &|_| {})?;
    ensure!(merged.merges.len() as u64 == NUM_MERGES, "{merged:?}");
    add(&store, later)?;
    add(&store, &[late])?;
    delete(&store, folder.path(), &deletions()[2..])?;

    let mut objects = BTreeMap::new();
    read_folder(folder.path(), "", &mut objects)?;
    let ords = (0_u64..).zip(&lines);
    let is_left: Vec<bool> = ords.map(|(ord, line)| is_left(ord, line)).collect();
    let mut is_left = is_left.into_iter();
    lines.retain(|_| is_left.next().unwrap_or(false));
    let left: Vec<String> = lines.iter().map(Value::to_string).collect();
    Ok((objects, Oracle::build(&yaml, &left)?))
}

/// Returns the config of logs with a field for needles, where merges of ten splits are due.
fn config() -> String {
    let yaml = HDFS_LOGS_YAML.replacen("index_id: hdfs-logs", "index_id: living", 1);
    let yaml = yaml.replacen(
        "field_mappings:\n",
        "field_mappings:\n    - {name: trace_id, type: text, tokenizer: raw, needle: true}\n",
        1,
    );
    format!(
        "{yaml}\nindexing_settings:\n  split_num_docs_target: 1000\n  merge_policy:\n    type: \
         stable_log\n    min_level_num_docs: 50\n    merge_factor: 8\n    max_merge_factor: 10\n"
    )
}

/// Returns the logs in order of time.
fn lines(seed: u64) -> Result<Vec<Value>> {
    let lines = hdfs_lines(NUM_LINES, seed)?;
    let lines = (0_u64..).zip(lines).map(|(ord, line)| {
        let mut line: Value = serde_json::from_str(&line)?;
        line["timestamp"] = json!(START + ord / 2 * STEP);
        line["trace_id"] = json!(trace_id(ord / 2));
        Ok(line)
    });
    lines.collect()
}

/// Returns a trace id without any order, as systems generate them.
fn trace_id(number: u64) -> String {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:016x}", mixed ^ (mixed >> 29))
}

/// Returns the first and the last time between which everything but late documents is deleted.
fn emptied() -> (u64, u64) {
    let at = |pair: u64| START + pair * STEP;
    (at(250), at(310))
}

fn deletions() -> [Value; 3] {
    let (first, last) = emptied();
    [
        json!({"query": "tenant_id:[40 TO 49]"}),
        json!({"query": "*", "start_timestamp": first, "end_timestamp": last + 1}),
        json!({"query": "severity_text:WARN AND tenant_id:>=60"}),
    ]
}

/// Returns whether a line remains after the deletions, by checking it directly.
fn is_left(ord: u64, line: &Value) -> bool {
    let tenant = line["tenant_id"].as_u64().unwrap_or_default();
    let time = line["timestamp"].as_u64().unwrap_or_default();
    let (first, last) = emptied();
    let was_there = (ord / 2) % LATE != 3 && ord * NUM_INGESTS / NUM_LINES < NUM_EARLY;
    let is_gone = was_there && ((40..50).contains(&tenant) || (first..=last).contains(&time));
    !(is_gone || line["severity_text"] == "WARN" && tenant >= 60)
}

fn add(store: &IndexStore, ingests: &[(String, Vec<&Value>)]) -> Result<()> {
    let options = IngestOptions {
        split_num_docs_target: Some(SPLIT_NUM_DOCS),
        ..IngestOptions::default()
    };
    for (id, lines) in ingests {
        let lines: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
        let text = std::io::Cursor::new(lines.join("\n").into_bytes());
        let source = Source::reader(id.clone(), text).with_id(id.clone());
        let report = ingest(store, &options, vec![source], &())?;
        ensure!(report.num_ingested_docs == lines.len() as u64, "{report:?}");
    }
    Ok(())
}

fn delete(store: &IndexStore, folder: &Path, requests: &[Value]) -> Result<()> {
    for request in requests {
        let fetcher = open_uri(name_of(folder)?, &OpenOptions::default())?;
        let searcher = Searcher::builder()
            .engine(Arc::new(NativeEngine::new()))
            .fetcher(fetcher)
            .build()?;
        let report = delete_documents(store, || list(&searcher, request))?;
        ensure!(report.num_deleted_docs > 0, "{request}: {report:?}");
    }
    Ok(())
}

fn name_of(folder: &Path) -> Result<&str> {
    folder
        .to_str()
        .context("a temporary folder has a UTF-8 name")
}
