//! Merged splits, compared with splits into which the same documents were ingested at once.

use anyhow::{Context, Result, ensure};
use canter_index_builder::corpus::HDFS_LOGS_YAML;
use canter_index_builder::{ErrorKind, MergeInput, PackagedSplit};
use canter_split_format::{Head, SplitEntry};
use canter_tests::{
    CATALOGUE_CONFIG, NUMBERS_CONFIG, TestIndex, catalogue, hdfs_lines, numbers, whole,
};
use proptest::prelude::*;

/// Deals lines to sources, so that their times are interleaved.
fn dealt(lines: &[String], num_sources: usize) -> Vec<(String, Vec<String>)> {
    let mut sources: Vec<(String, Vec<String>)> = (0..num_sources)
        .map(|ord| (format!("source {ord}"), Vec::new()))
        .collect();
    for (ord, line) in lines.iter().enumerate() {
        sources[ord * 7 / 3 % num_sources].1.push(line.clone());
    }
    sources
}

/// One ingest of all sources.
fn build(
    config: &str,
    sources: &[(String, Vec<String>)],
    split_num_docs: u64,
) -> Result<TestIndex> {
    let sources: Vec<(&str, &[String])> = sources
        .iter()
        .map(|(id, lines)| (id.as_str(), lines.as_slice()))
        .collect();
    TestIndex::build_of(config, &[&sources], split_num_docs)
}

fn merged(index: &TestIndex, config: &str, entries: &[SplitEntry]) -> Result<PackagedSplit> {
    index.merge(config, entries)??.context("a split")
}

/// The files of a split by name.
fn files(split: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let head = Head::open(split)?;
    let head_len = split.len() as u64 - head.files.body_len();
    let slice = |start: u64, len: u64| split[start as usize..(start + len) as usize].to_vec();
    let files = head.files.files().iter();
    Ok(files
        .map(|file| (file.name.clone(), slice(head_len + file.offset, file.len)))
        .collect())
}

/// Compares file by file, so that a difference is named.
fn ensure_equal(merged: &[u8], whole: &[u8]) -> Result<()> {
    for (one, other) in files(merged)?.iter().zip(&files(whole)?) {
        ensure!(one.0 == other.0);
        if one.0 == "meta.json" {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            ensure!(one.1 == other.1, "{}\n{}", text(&one.1), text(&other.1));
        }
        ensure!(
            one.1 == other.1,
            "{} differs: {} and {} bytes",
            one.0,
            one.1.len(),
            other.1.len()
        );
    }
    let (one, other) = (Head::open(merged)?, Head::open(whole)?);
    ensure!(one.metadata == other.metadata, "metadata");
    ensure!(one.hotcache == other.hotcache, "hotcache");
    ensure!(merged == whole, "the heads differ");
    Ok(())
}

#[test]
fn a_merged_split_is_to_the_byte_the_split_of_all_its_documents() -> Result<()> {
    for (name, config, lines) in [
        ("hdfs", HDFS_LOGS_YAML, hdfs_lines(6_000, 3)?),
        ("catalogue", CATALOGUE_CONFIG, catalogue(3_000, 3)),
        ("numbers", NUMBERS_CONFIG, numbers(3_000, 500, 3)),
    ] {
        for (num_sources, split_num_docs) in [(1, 1_000), (3, 700), (5, 2_999)] {
            let sources = dealt(&lines, num_sources);
            let at_once = build(config, &sources, 1_000_000)?;
            let divided = build(config, &sources, split_num_docs)?;
            let entries = divided.entries()?;
            ensure!(at_once.entries()?.len() == 1 && entries.len() > 1);
            let split = merged(&divided, config, &entries)?;
            let object = at_once.entries()?[0].id.clone();
            let wanted = &at_once.objects[&format!("splits/{object}.split")];
            ensure_equal(&split.bytes, wanted)
                .with_context(|| format!("{name}: {num_sources} sources"))?;
            ensure!(split.entry.id == object);
            let SplitEntry { head_offset, .. } = at_once.entries()?[0];
            let entry = SplitEntry {
                head_offset,
                ..split.entry
            };
            ensure!(entry == at_once.entries()?[0], "{entry:?}");
        }
    }
    Ok(())
}
