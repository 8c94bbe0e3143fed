//! Index of an earlier version: its config lacks keys that have defaults now, and its splits store
//! documents in a form that is no longer supported. Documents can be added, and a search names the
//! splits that it cannot read.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    IndexStore, IngestOptions, IngestReport, Source, ingest, open_or_create_index,
};
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_split_format::ManifestFile;
use canter_tests::run;
use serde_json::json;
use tempfile::TempDir;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/index-0.1");

/// Returns a writable copy.
fn copy() -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    fs::create_dir(folder.path().join("splits"))?;
    let golden = Path::new(GOLDEN);
    fs::copy(
        golden.join("manifest.canter"),
        folder.path().join("manifest.canter"),
    )?;
    for split in fs::read_dir(golden.join("splits"))? {
        let split = split?;
        fs::copy(
            split.path(),
            folder.path().join("splits").join(split.file_name()),
        )?;
    }
    Ok(folder)
}

fn manifest(folder: &Path) -> Result<ManifestFile> {
    Ok(ManifestFile::from_bytes(&fs::read(
        folder.join("manifest.canter"),
    )?)?)
}

fn add(store: &IndexStore, first: u64) -> Result<IngestReport> {
    let lines: Vec<String> = (first..first + 10)
        .map(|n| {
            let time = 1_800_000_000 + n;
            json!({"timestamp": time, "tenant": "new", "status": 200, "body": "request"})
                .to_string()
        })
        .collect();
    let text = std::io::Cursor::new(lines.join("\n"));
    let source = Source::reader(format!("lines from {first}"), text);
    Ok(ingest(store, &IngestOptions::default(), vec![source], &())?)
}

#[test]
fn the_golden_config_lacks_keys_that_are_written_today() -> Result<()> {
    let stored = manifest(Path::new(GOLDEN))?.manifest.index_config;
    let config: IndexConfig = serde_json::from_value(stored.clone())?;
    ensure!(serde_json::to_value(&config)? != stored, "it is no test");
    for key in ["/indexing_settings", "/doc_mapping/store_source"] {
        ensure!(stored.pointer(key).is_none(), "{key}");
    }
    Ok(())
}

#[test]
fn an_index_of_an_earlier_version_is_added_to_and_its_old_splits_are_named() -> Result<()> {
    let folder = copy()?;
    let uri = folder.path().to_str().context("a UTF-8 name")?;
    let report = add(&IndexStore::open(uri)?, 0)?;
    ensure!(report.num_published_splits == 1 && report.num_live_splits == 3);

    // With its config given, like an indexer that creates missing indexes.
    let yaml = fs::read_to_string(Path::new(GOLDEN).join("config.yaml"))?;
    let config = IndexConfig::from_yaml(&yaml, |_| None)?;
    let (store, is_new) = open_or_create_index(uri, &config)?;
    ensure!(!is_new);
    add(&store, 100)?;

    let manifest = manifest(folder.path())?.manifest;
    ensure!(manifest.num_docs() == 70, "{}", manifest.num_docs());
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .fetcher(open_uri(uri, &OpenOptions::default())?)
        .build()?;
    let old = ManifestFile::from_bytes(&fs::read(Path::new(GOLDEN).join("manifest.canter"))?)?;
    let mut old: Vec<String> = old
        .manifest
        .splits
        .into_iter()
        .map(|split| split.id)
        .collect();
    old.sort_unstable();
    for (query, num_hits) in [("body:request", 20), ("status:200", 20), ("extra.n:7", 0)] {
        let answer = run(
            &searcher,
            &json!({"query": query, "max_hits": 30, "sort_by": "status"}),
        )?;
        ensure!(
            answer.json["num_hits"] == num_hits,
            "{query}: {}",
            answer.json
        );
        let failed = answer.json["failed_splits"].as_array().context("a list")?;
        let mut named = Vec::new();
        for split in failed {
            let split = split.to_string();
            ensure!(split.contains("build the index again"), "{query}: {split}");
            named.extend(old.iter().filter(|id| split.contains(id.as_str())).cloned());
        }
        named.sort_unstable();
        ensure!(named == old, "{query}: {}", answer.json);
    }
    Ok(())
}
