//! Merged splits, compared with splits into which the same documents were ingested at once.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_index_builder::{
    BuildError, ErrorKind, IndexStore, MergeInput, MergeOptions, PackagedSplit, merge_splits,
};
use canter_runtime::engine::NativeEngine;
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::{
    DocIdentity, Head, IDENTITIES_FILE, Identities, MANIFEST_OBJECT, ManifestFile, SourceId,
    SplitEntry,
};
use canter_tests::{
    CATALOGUE_CONFIG, NUMBERS_CONFIG, TestIndex, catalogue, hdfs_lines, numbers, run, whole,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tantivy::BitSet;

type Sources = Vec<(String, Vec<String>)>;

/// Deals lines out to sources, so that their times are interleaved.
fn dealt(lines: &[String], num_sources: usize) -> Sources {
    let mut sources: Sources = (0..num_sources)
        .map(|ord| (format!("source {ord}"), Vec::new()))
        .collect();
    for (ord, line) in lines.iter().enumerate() {
        sources[ord * 7 / 3 % num_sources].1.push(line.clone());
    }
    sources
}

/// Builds an index with one ingest of all sources.
fn build(config: &str, sources: &Sources, split_num_docs: u64) -> Result<TestIndex> {
    let sources: Vec<(&str, &[String])> = sources
        .iter()
        .map(|(id, lines)| (id.as_str(), lines.as_slice()))
        .collect();
    TestIndex::build_of(config, &[&sources], split_num_docs)
}

fn merged(index: &TestIndex, config: &str, entries: &[SplitEntry]) -> Result<PackagedSplit> {
    index.merge(config, entries)??.context("a split")
}

/// Returns the files of a split with their names.
fn files(split: &[u8]) -> Result<Vec<(String, Vec<u8>)>> {
    let head = Head::open(split)?;
    let head_len = split.len() as u64 - head.files.body_len();
    let slice = |start: u64, len: u64| split[start as usize..(start + len) as usize].to_vec();
    let files = head.files.files().iter();
    Ok(files
        .map(|file| (file.name.clone(), slice(head_len + file.offset, file.len)))
        .collect())
}

/// Compares splits file by file, so that an error names the file.
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

/// Returns the ids of all documents of a split, in order.
fn identities(index: &TestIndex, entry: &SplitEntry) -> Result<Vec<DocIdentity>> {
    let files = files(&index.objects[&format!("splits/{}.split", entry.id)])?;
    let ids = files.iter().find(|(name, _)| name == IDENTITIES_FILE);
    let ids = Identities::open(&ids.context("ids")?.1[..])?;
    Ok(ids.iter().collect::<Result<_, _>>()?)
}

/// Deletes lines of all sources. Returns the inputs of a merge, and the sources with blank lines in
/// place of deleted ones.
fn deleted(
    index: &TestIndex,
    sources: &Sources,
    is_deleted: impl Fn(usize, u64) -> bool,
) -> Result<(Vec<MergeInput>, Sources)> {
    let mut gone: BTreeSet<DocIdentity> = BTreeSet::new();
    let mut left = sources.clone();
    for (ord, (id, lines)) in sources.iter().enumerate() {
        let source = SourceId::of(format!("id:{id}").as_bytes(), lines[0].as_bytes());
        for position in 1..=lines.len() as u64 {
            if is_deleted(ord, position) {
                gone.insert(DocIdentity { source, position });
                left[ord].1[position as usize - 1].clear();
            }
        }
    }
    let mut inputs = Vec::new();
    let mut num_deleted = 0;
    for entry in index.entries()? {
        let docs = identities(index, &entry)?;
        let mut set = BitSet::with_max_value(docs.len() as u32);
        for (doc, _) in (0..).zip(&docs).filter(|(_, doc)| gone.contains(doc)) {
            set.insert(doc);
        }
        num_deleted += set.len();
        inputs.push(MergeInput {
            entry,
            deleted: Some(set),
        });
    }
    ensure!(num_deleted == gone.len(), "{num_deleted} of {}", gone.len());
    Ok((inputs, left))
}

/// Checks that the answers are equal except for the elapsed time.
fn ensure_same_answers(one: &TestIndex, other: &TestIndex, requests: &[Value]) -> Result<()> {
    for request in requests {
        let answer = |index: &TestIndex| -> Result<Value> {
            let searcher = index.searcher(Arc::new(NativeEngine::new()), 7, 1)?;
            let answer = run(&searcher, request)?.json;
            Ok(json!([
                answer["num_hits"],
                answer["hits"],
                answer["aggregations"],
                answer["errors"]
            ]))
        };
        let (one, other) = (answer(one)?, answer(other)?);
        ensure!(one == other, "{request}\n{one}\n{other}");
        ensure!(!one[0].is_null(), "{request}: {one}");
    }
    Ok(())
}

fn hdfs_requests() -> Vec<Value> {
    [
        json!({"query": "*"}),
        json!({"query": "body:received"}),
        json!({"query": "body:\"Received block\"", "sort_by": "_score"}),
        json!({"query": "severity_text:INFO AND body:terminating", "sort_by": "tenant_id"}),
        json!({"query": "tenant_id:[10 TO 40]", "sort_by": "-tenant_id,timestamp"}),
        json!({"query": "body:block OR body:exception", "sort_by": "_score"}),
        json!({"query": "*", "aggs": {
            "t": {"terms": {"field": "severity_text"}, "aggs": {"s": {"stats": {"field": "tenant_id"}}}},
            "h": {"date_histogram": {"field": "timestamp", "fixed_interval": "60s"}},
            "c": {"cardinality": {"field": "tenant_id"}}}}),
    ]
    .into_iter()
    .map(|mut request| {
        request["max_hits"] = json!(200);
        request
    })
    .collect()
}

#[test]
fn searches_of_merged_splits_answer_as_before_and_as_if_all_were_ingested_at_once() -> Result<()> {
    let sources = dealt(&hdfs_lines(4_000, 5)?, 3);
    let at_once = build(HDFS_LOGS_YAML, &sources, 1_000_000)?;
    let divided = build(HDFS_LOGS_YAML, &sources, 450)?;
    let entries = divided.entries()?;
    let two = entries.len() / 2;
    let halves = [
        merged(&divided, HDFS_LOGS_YAML, &entries[..two])?,
        merged(&divided, HDFS_LOGS_YAML, &entries[two..])?,
    ];
    let halves = TestIndex::of_splits(HDFS_LOGS_YAML, &halves, &divided)?;
    ensure_same_answers(&halves, &divided, &hdfs_requests())?;
    ensure_same_answers(&halves, &at_once, &hdfs_requests())
}

#[test]
fn deleted_documents_are_left_out_as_if_they_had_never_been() -> Result<()> {
    // A label that occurs twice in a document has one posting, so a merge cannot tell the field's
    // number of tokens in `lists`.
    for (config, lines, may_differ, requests) in [
        (HDFS_LOGS_YAML, hdfs_lines(4_000, 8)?, "", hdfs_requests()),
        (
            CATALOGUE_CONFIG,
            catalogue(2_000, 8),
            "lists",
            vec![
                json!({"query": "*", "max_hits": 2_000}),
                json!({"query": "title:shoes", "max_hits": 500, "sort_by": "_score"}),
                json!({"query": "*", "max_hits": 0, "aggs": {"l": {"terms": {"field": "labels"}},
                "p": {"stats": {"field": "price"}}}}),
            ],
        ),
    ] {
        let sources = dealt(&lines, 3);
        let divided = build(config, &sources, 300)?;
        // The first line identifies the source.
        let is_deleted =
            |ord: usize, position: u64| position != 1 && (ord as u64 + position * position) % 5 < 2;
        let (inputs, left) = deleted(&divided, &sources, is_deleted)?;
        let fresh = build(config, &left, 1_000_000)?;
        let split = divided.merge_inputs(config, &inputs)??.context("a split")?;
        let wanted = &fresh.entries()?[0];
        ensure!(split.entry.num_docs == wanted.num_docs);
        ensure!(split.entry.time_range == wanted.time_range);
        ensure!(split.entry.tags == wanted.tags);
        let whole = files(&fresh.objects[&format!("splits/{}.split", wanted.id)])?;
        for (one, other) in files(&split.bytes)?.iter().zip(&whole) {
            // A column keeps room for several values if a deleted document had several.
            ensure!(one.1 == other.1 || may_differ == one.0, "{} differs", one.0);
        }
        let (one, other) = (
            Head::open(&split.bytes)?,
            fresh.objects[&format!("splits/{}.split", wanted.id)].clone(),
        );
        let other = Head::open(&other)?;
        ensure!(one.time_index == other.time_index && one.rollup == other.rollup);
        let share = split.entry.raw_num_bytes as f64 / wanted.raw_num_bytes as f64;
        ensure!((0.97..1.03).contains(&share), "{share}");
        let merged = TestIndex::of_splits(config, &[split], &divided)?;
        ensure_same_answers(&merged, &fresh, &requests)?;
    }
    Ok(())
}

#[test]
fn nothing_is_left_of_splits_whose_documents_are_all_deleted() -> Result<()> {
    let sources = dealt(&hdfs_lines(500, 1)?, 2);
    let divided = build(HDFS_LOGS_YAML, &sources, 200)?;
    let (mut inputs, _) = deleted(&divided, &sources, |_, _| true)?;
    ensure!(divided.merge_inputs(HDFS_LOGS_YAML, &inputs)??.is_none());
    ensure!(divided.merge_inputs(HDFS_LOGS_YAML, &[])??.is_none());
    // Deletes all documents but those of one split, which then stays the same.
    inputs[1].deleted = None;
    let left = divided
        .merge_inputs(HDFS_LOGS_YAML, &inputs)??
        .context("a split")?;
    ensure!(
        left.entry.id == inputs[1].entry.id,
        "the same documents, the same bytes"
    );
    Ok(())
}

#[test]
fn neither_the_order_of_inputs_nor_of_merges_is_in_the_bytes() -> Result<()> {
    let sources = dealt(&catalogue(1_500, 2), 2);
    let divided = build(CATALOGUE_CONFIG, &sources, 200)?;
    let mut entries = divided.entries()?;
    let all = merged(&divided, CATALOGUE_CONFIG, &entries)?;
    entries.reverse();
    ensure!(merged(&divided, CATALOGUE_CONFIG, &entries)?.bytes == all.bytes);
    // Merges every second split, then the others, then both results.
    let (even, odd): (Vec<_>, Vec<_>) = (0..).zip(entries).partition(|(ord, _)| ord % 2 == 0);
    let parts = [even, odd].map(|part| {
        let part: Vec<SplitEntry> = part.into_iter().map(|(_, entry)| entry).collect();
        merged(&divided, CATALOGUE_CONFIG, &part)
    });
    let parts = parts.into_iter().collect::<Result<Vec<_>>>()?;
    let parts = TestIndex::of_splits(CATALOGUE_CONFIG, &parts, &divided)?;
    let again = merged(&parts, CATALOGUE_CONFIG, &parts.entries()?)?;
    ensure!(again.bytes == all.bytes);
    Ok(())
}

/// Returns a config of a growing index.
fn grown(mode: &str, fields: &[&str]) -> String {
    let fields: String = fields
        .iter()
        .map(|field| format!("    - {{{field}}}\n"))
        .collect();
    format!(
        "version: 0.8\nindex_id: grown\ndoc_mapping:\n  mode: {mode}\n  timestamp_field: ts\n  \
         field_mappings:\n    - {{name: ts, type: datetime, input_formats: [unix_timestamp], fast: true}}\n    \
         - {{name: what, type: text, record: position}}\n{fields}"
    )
}

/// Returns an index with splits of two configs, and the manifest entries of these splits.
fn two_configs(
    old: &str,
    new: &str,
    old_lines: &[String],
    new_lines: &[String],
) -> Result<(TestIndex, Vec<SplitEntry>)> {
    let source = |id: &str, lines: &[String]| vec![(id.to_owned(), lines.to_vec())];
    let older = build(old, &source("old", old_lines), 70)?;
    let mut newer = build(new, &source("new", new_lines), 50)?;
    let entries = [older.entries()?, newer.entries()?].concat();
    for (name, bytes) in older.objects {
        newer.objects.entry(name).or_insert(bytes);
    }
    Ok((newer, entries))
}

#[test]
fn splits_of_a_config_that_grew_at_its_end_are_merged_under_the_new_one() -> Result<()> {
    let more = [
        "name: status, type: u64, fast: true",
        "name: label, type: text, tokenizer: raw, fast: true",
        "name: attrs, type: json, fast: true",
    ];
    for mode in ["lenient", "dynamic"] {
        let (old, new) = (grown(mode, &[]), grown(mode, &more));
        let old_lines: Vec<String> = (0..200)
            .map(|n| {
                json!({"ts": 1_600_000_000 + n / 3, "what": format!("old beat {n}"), "extra": n})
                    .to_string()
            })
            .collect();
        let new_lines: Vec<String> = (0..120)
            .map(|n| {
                json!({"ts": 1_600_000_020 + n / 2, "what": "new beat", "status": n % 7, "label": format!("l{}", n % 5),
                    "attrs": {"k": n % 3, "deep": {"x": "y"}}, "extra": "text"})
                .to_string()
            })
            .collect();
        let (index, entries) = two_configs(&old, &new, &old_lines, &new_lines)?;
        ensure!(entries.len() == 6);
        let split = merged(&index, &new, &entries)?;
        let sources = vec![("old".to_owned(), old_lines), ("new".to_owned(), new_lines)];
        let at_once = build(&new, &sources, 1_000)?;
        let wanted = at_once.entries()?[0].id.clone();
        ensure_equal(
            &split.bytes,
            &at_once.objects[&format!("splits/{wanted}.split")],
        )
        .with_context(|| mode.to_owned())?;
    }
    Ok(())
}

#[track_caller]
fn expect_error(
    result: Result<Option<PackagedSplit>, BuildError>,
    kind: ErrorKind,
    words: &[&str],
) {
    let error = match result {
        Ok(_) => panic!("merged, instead of an error with {words:?}"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), kind, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

#[test]
fn what_a_merge_would_lose_or_change_is_refused() -> Result<()> {
    use ErrorKind::Invalid;
    let lines = |key: &str| -> Vec<String> {
        let line = |n: u64| json!({"ts": 1_600_000_000 + n, "what": "beat", key: n}).to_string();
        (0..40).map(line).collect()
    };
    let status = "name: status, type: u64, fast: true";
    let (old, new) = (grown("dynamic", &[]), grown("dynamic", &[status]));
    // Documents from before the mapping of `status` have it under `_dynamic`, where searches would
    // not look.
    let (index, entries) = two_configs(&old, &new, &lines("status"), &lines("status"))?;
    expect_error(
        index.merge(&new, &entries)?,
        Invalid,
        &["\"status\"", "before it was mapped"],
    );
    let (index, entries) = two_configs(&old, &new, &lines("statuses"), &lines("status"))?;
    ensure!(index.merge(&new, &entries)?.is_ok());
    // A field that was removed or has another type, or a dynamic mode that was turned off.
    expect_error(
        index.merge(&old, &entries)?,
        Invalid,
        &["\"status\"", "not mapped any more"],
    );
    let other = grown("dynamic", &["name: status, type: text, fast: true"]);
    expect_error(
        index.merge(&other, &entries)?,
        Invalid,
        &["\"status\"", "another way"],
    );
    let strict = grown("strict", &[status]);
    expect_error(index.merge(&strict, &entries)?, Invalid, &["_dynamic"]);
    let presence = new.replace(
        "mode: dynamic",
        "mode: dynamic\n  index_field_presence: true",
    );
    expect_error(
        index.merge(&presence, &entries)?,
        Invalid,
        &["_field_presence"],
    );
    // Invalid inputs.
    let id = entries[0].id.as_str();
    let twice = [entries[0].clone(), entries[0].clone()];
    expect_error(index.merge(&new, &twice)?, Invalid, &[id, "once"]);
    let mut input = whole(&entries[0]);
    input.deleted = Some(BitSet::with_max_value(7));
    expect_error(index.merge_inputs(&new, &[input])?, Invalid, &[id, "7"]);
    Ok(())
}

#[test]
fn a_path_that_documents_have_from_before_it_was_mapped_is_refused_however_it_is_found()
-> Result<()> {
    let lines = |line: Value| -> Vec<String> {
        (0..9)
            .map(|n| {
                let mut line = line.clone();
                line["ts"] = json!(1_600_000_000 + n);
                line.to_string()
            })
            .collect()
    };
    let object = "name: o, type: object, field_mappings: [{name: x, type: u64}]";
    for (options, older, is_refused) in [
        ("indexed: false, fast: true", json!({"o": {"x": 1}}), true),
        ("indexed: true, fast: false", json!({"o": {"x": 1}}), true),
        (
            "indexed: true, fast: false",
            json!({"o": {"x": {"y": "deeper"}}}),
            true,
        ),
        (
            "indexed: false, fast: true",
            json!({"o": {"x": {"y": "deeper"}}}),
            true,
        ),
        // These values are not searchable, so nothing is lost, and hits still show them.
        ("indexed: false, fast: false", json!({"o": {"x": 1}}), false),
        (
            "indexed: true, fast: true",
            json!({"o": {"xx": 1}, "x": 1}),
            false,
        ),
        ("indexed: true, fast: true", json!({}), false),
    ] {
        let dynamic = format!("mode: dynamic\n  dynamic_mapping: {{{options}}}");
        let config = |fields: &[&str]| grown("dynamic", fields).replace("mode: dynamic", &dynamic);
        let (old, new) = (config(&[]), config(&[object]));
        let (index, entries) = two_configs(
            &old,
            &new,
            &lines(older.clone()),
            &lines(json!({"o": {"x": 2}})),
        )?;
        let merged = index.merge(&new, &entries)?;
        match is_refused {
            true => expect_error(
                merged,
                ErrorKind::Invalid,
                &["\"o.x\"", "before it was mapped"],
            ),
            false => {
                let merged = merged?.context("a split")?;
                let merged = TestIndex::of_splits(&new, &[merged], &index)?;
                let hits =
                    merged.search(&json!({"query": "*", "max_hits": 20}))?.json["hits"].to_string();
                let shown = serde_json::to_string(&older)?;
                let shown = shown.trim_start_matches('{').trim_end_matches('}');
                ensure!(hits.contains(shown), "{shown}: {hits}");
            }
        }
    }
    Ok(())
}

#[test]
fn damage_of_an_input_is_an_error_that_names_the_split() -> Result<()> {
    let sources = dealt(&hdfs_lines(900, 4)?, 1);
    let index = build(HDFS_LOGS_YAML, &sources, 300)?;
    let entries = index.entries()?;
    let id = entries[1].id.as_str();
    let name = format!("splits/{id}.split");
    let len = index.objects[&name].len();
    for at in (0..len).step_by(len / 40).chain([len - 1]) {
        let mut damaged = index.clone();
        let mut bytes = index.objects[&name].to_vec();
        bytes[at] ^= 0x20;
        damaged.objects.insert(name.clone(), bytes.into());
        expect_error(
            damaged.merge(HDFS_LOGS_YAML, &entries)?,
            ErrorKind::Data,
            &[id],
        );
    }
    let mut cut = index.clone();
    cut.objects
        .insert(name.clone(), index.objects[&name].slice(..len - 10));
    let error = cut
        .merge(HDFS_LOGS_YAML, &entries)?
        .map(|_| ())
        .unwrap_err();
    ensure!(error.to_string().contains(id), "{error}");
    let mut missing = index.clone();
    missing.objects.remove(&name);
    expect_error(
        missing.merge(HDFS_LOGS_YAML, &entries)?,
        ErrorKind::Data,
        &[id, "missing"],
    );
    // Head checksum of another split.
    let mut swapped = entries.clone();
    swapped[1].head_checksum = entries[0].head_checksum;
    expect_error(
        index.merge(HDFS_LOGS_YAML, &swapped)?,
        ErrorKind::Data,
        &[id],
    );
    Ok(())
}

#[test]
fn without_a_timestamp_field_documents_stand_by_source_and_position() -> Result<()> {
    let config = grown("dynamic", &[]).replace("  timestamp_field: ts\n", "");
    let sources = dealt(&hdfs_lines(600, 6)?, 3);
    let divided = build(&config, &sources, 70)?;
    let at_once = build(&config, &sources, 1_000)?;
    let split = merged(&divided, &config, &divided.entries()?)?;
    let wanted = &at_once.entries()?[0].id;
    ensure_equal(
        &split.bytes,
        &at_once.objects[&format!("splits/{wanted}.split")],
    )
}

#[test]
fn a_document_that_was_ingested_twice_is_there_twice() -> Result<()> {
    let lines = hdfs_lines(100, 6)?;
    let source = [("same", lines.as_slice())];
    // Other split limits divide the same documents into other splits.
    let once = TestIndex::build_of(HDFS_LOGS_YAML, &[&source], 60)?;
    let mut twice = TestIndex::build_of(HDFS_LOGS_YAML, &[&source], 35)?;
    let entries = [once.entries()?, twice.entries()?].concat();
    for (name, bytes) in once.objects {
        twice.objects.entry(name).or_insert(bytes);
    }
    let split = merged(&twice, HDFS_LOGS_YAML, &entries)?;
    ensure!(split.entry.num_docs == 200);
    let merged = TestIndex::of_splits(HDFS_LOGS_YAML, &[split], &twice)?;
    let docs = identities(&merged, &merged.entries()?[0])?;
    ensure!(docs.chunks(2).all(|pair| pair[0] == pair[1]), "{docs:?}");
    Ok(())
}

/// Such fields change the numbers of other fields in relation to existing splits.
#[test]
fn a_field_may_be_added_between_others_or_in_an_object() -> Result<()> {
    let n = "name: n, type: u64, fast: true";
    let object = |fields: &str| {
        format!("name: o, type: object, field_mappings: [{fields}{{name: y, type: array<text>}}]")
    };
    let (few, more) = (object(""), object("{name: x, type: ip, fast: true}, "));
    let tail = "name: z, type: json";
    let (old, new) = (
        grown("dynamic", &[&few, tail]),
        grown("dynamic", &[n, &more, tail]),
    );
    let line = |ord: u64, is_new: bool| {
        let mut line = json!({"ts": 1_600_000_000 + ord / 2, "what": "beat", "o": {"y": ["a", "b"]},
            "z": {"k": ord}, "other": ord % 3});
        if is_new {
            line["n"] = json!(ord);
            line["o"]["x"] = json!("10.0.0.1");
        }
        line.to_string()
    };
    let old_lines: Vec<String> = (0..90).map(|ord| line(ord, false)).collect();
    let new_lines: Vec<String> = (30..120).map(|ord| line(ord, true)).collect();
    let (index, entries) = two_configs(&old, &new, &old_lines, &new_lines)?;
    let split = merged(&index, &new, &entries)?;
    let sources = vec![("old".to_owned(), old_lines), ("new".to_owned(), new_lines)];
    let at_once = build(&new, &sources, 1_000)?;
    let wanted = &at_once.entries()?[0].id;
    ensure_equal(
        &split.bytes,
        &at_once.objects[&format!("splits/{wanted}.split")],
    )
}

/// These splits store documents in a form that is no longer supported.
#[test]
fn splits_of_version_0_1_are_refused_by_name() -> Result<()> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/index-0.1");
    let manifest = ManifestFile::from_bytes(&std::fs::read(golden.join(MANIFEST_OBJECT))?)?;
    let config = serde_json::from_value(manifest.manifest.index_config)?;
    let inputs: Vec<MergeInput> = manifest.manifest.splits.iter().map(whole).collect();
    let store = IndexStore::open(golden.to_str().context("UTF-8")?)?;
    let merged = merge_splits(&store, &config, &inputs, &MergeOptions::default());
    let mut ids: Vec<&str> = inputs.iter().map(|input| input.entry.id.as_str()).collect();
    ids.sort_unstable();
    expect_error(
        merged,
        ErrorKind::Invalid,
        &[ids[0], "build the index again"],
    );
    Ok(())
}

/// Generates a document with one of a few times and any keys.
fn any_line() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        any::<i32>().prop_map(|n| json!(n)),
        any::<u64>().prop_map(|n| json!(n)),
        (-9.0..9.0).prop_map(|n: f64| json!(n)),
        "[a-c]{0,3}( [a-c]{1,2}){0,4}".prop_map(|text| json!(text)),
        any::<bool>().prop_map(|flag| json!(flag)),
        prop::collection::vec(0..5_u8, 0..4).prop_map(|some| json!(some)),
        "[xy]".prop_map(|key| json!({ key: 1 })),
    ];
    let keys = prop::collection::btree_map("[a-e]", value, 0..4);
    (0..12_i64, "[a-d]( [a-d]){0,6}", keys).prop_map(|(ts, what, keys)| {
        let mut line = json!({"ts": 1_600_000_000 + ts, "what": what});
        for (key, value) in keys {
            line[key] = value;
        }
        line.to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn however_documents_are_divided_and_merged_none_is_lost_and_the_bytes_are_the_same(
        lines in prop::collection::vec((any_line(), 0..4_usize), 1..120),
        split_num_docs in 1..40_u64,
        first in prop::collection::vec(any::<bool>(), 120),
    ) {
        let config = grown("dynamic", &["name: n, type: u64"]);
        let mut sources: Sources = (0..4).map(|ord| (format!("source {ord}"), Vec::new())).collect();
        for (line, source) in &lines {
            sources[*source].1.push(line.clone());
        }
        sources.retain(|(_, lines)| !lines.is_empty());
        let at_once = build(&config, &sources, 1_000_000).unwrap();
        let divided = build(&config, &sources, split_num_docs).unwrap();
        let entries = divided.entries().unwrap();
        let wanted = at_once.entries().unwrap();
        prop_assert_eq!(entries.iter().map(|entry| entry.num_docs).sum::<u64>(), lines.len() as u64);
        // Merges some of the splits, then all.
        let (one, other): (Vec<_>, Vec<_>) = entries.into_iter().zip(&first).partition(|(_, first)| **first);
        let parts: Vec<PackagedSplit> = [one, other]
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(|part| {
                let part: Vec<SplitEntry> = part.into_iter().map(|(entry, _)| entry).collect();
                merged(&divided, &config, &part).unwrap()
            })
            .collect();
        let parts = TestIndex::of_splits(&config, &parts, &divided).unwrap();
        let split = merged(&parts, &config, &parts.entries().unwrap()).unwrap();
        let whole = &at_once.objects[&format!("splits/{}.split", wanted[0].id)];
        let equal = ensure_equal(&split.bytes, whole);
        prop_assert!(equal.is_ok(), "{:?}", equal);
        prop_assert_eq!(&split.entry.id, &wanted[0].id);
    }
}
