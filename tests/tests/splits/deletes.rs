//! Deleted documents: all answers equal those of an index that only received the other documents.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use canter_index_builder::{IngestOptions, Source, ingest, stored_splits, verify_index};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::{MANIFEST_OBJECT, ManifestFile, SplitEntry};
use canter_tests::{TestIndex, hdfs_lines, list, run, run_divided};
use serde_json::{Value, json};

/// Query that deletes documents, and a predicate that decides the same for a line.
type Deletion = (Value, fn(&Value) -> bool);

fn tenant(line: &Value) -> u64 {
    line["tenant_id"].as_u64().unwrap()
}

/// Returns successive deletions: few documents of most splits, many of all, and all of some.
fn deletions() -> [Deletion; 3] {
    [
        (json!({"query": "severity_text:WARN"}), |line| {
            line["severity_text"] == "WARN"
        }),
        (
            json!({"query": "tenant_id:>=40 AND tenant_id:<70"}),
            |line| (40..70).contains(&tenant(line)),
        ),
        (json!({"query": "*", "end_timestamp": middle()}), |line| {
            line["timestamp"].as_i64().unwrap() < middle()
        }),
    ]
}

/// Returns a time in seconds since 1970 that a third of the documents precede.
fn middle() -> i64 {
    let line: Value = serde_json::from_str(&LINES[LINES.len() / 3]).unwrap();
    line["timestamp"].as_i64().unwrap()
}

static LINES: LazyLock<Vec<String>> = LazyLock::new(|| hdfs_lines(6_000, 3).unwrap());

fn build(lines: &[String], split_num_docs: u64) -> TestIndex {
    TestIndex::build(HDFS_LOGS_YAML, lines, split_num_docs).unwrap()
}

/// Returns the lines, with blank ones in place of deleted lines, so that the others keep their
/// positions.
fn left(is_deleted: impl Fn(&Value) -> bool) -> Vec<String> {
    let lines = LINES.iter().map(|line| {
        let json: Value = serde_json::from_str(line).unwrap();
        match is_deleted(&json) {
            true => String::new(),
            false => line.clone(),
        }
    });
    lines.collect()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

fn requests() -> Vec<Value> {
    let aggs = json!({
        "days": {
            "date_histogram": {"field": "timestamp", "fixed_interval": "1h"},
            "aggs": {"levels": {"terms": {"field": "severity_text"}}},
        },
        "tenants": {"stats": {"field": "tenant_id"}},
        "distinct": {"cardinality": {"field": "tenant_id"}},
        "errors": {"filter": "severity_text:ERROR"},
    });
    let rolled_up = json!({"levels": {"terms": {"field": "severity_text"}}});
    let hours =
        json!({"hours": {"date_histogram": {"field": "timestamp", "fixed_interval": "1h"}}});
    let mut requests = Vec::new();
    for query in [
        "*",
        "severity_text:INFO",
        "severity_text:WARN",
        "tenant_id:50",
        "tenant_id:[30 TO 60]",
        "body:block",
        "NOT severity_text:INFO",
        "nothing",
    ] {
        for more in [
            json!({"max_hits": 0}),
            json!({"max_hits": 7}),
            json!({"max_hits": 5, "start_offset": 40, "sort_by": "-timestamp"}),
            json!({"max_hits": 9, "sort_by": "tenant_id,timestamp"}),
            json!({"max_hits": 9, "sort_by": "-_doc"}),
            json!({"max_hits": 0, "aggs": aggs}),
            json!({"max_hits": 3, "aggs": rolled_up}),
            json!({"max_hits": 0, "aggs": rolled_up}),
            json!({"max_hits": 0, "aggs": hours}),
            json!({"max_hits": 4, "start_timestamp": middle() - 900, "end_timestamp": middle() + 900}),
            json!({"max_hits": 2, "snippet_fields": "body"}),
        ] {
            let mut request = more;
            request["query"] = query.into();
            requests.push(request);
        }
    }
    requests
}

fn plain(mut answer: Value) -> Value {
    for varies in ["elapsed_time_micros", "profile"] {
        answer.as_object_mut().unwrap().remove(varies);
    }
    answer
}

/// Compares an index with deleted documents to one that never had them.
fn check(index: &TestIndex, without: &TestIndex) {
    for engine in engines() {
        for max_leaves in [1, 3] {
            let one = index.searcher(Arc::clone(&engine), 5, max_leaves).unwrap();
            let other = without.searcher(Arc::clone(&engine), 5, 1).unwrap();
            for request in requests() {
                let answer = plain(run_divided(&one, &request).unwrap().json);
                let expect = plain(run(&other, &request).unwrap().json);
                assert_eq!(answer, expect, "{request}");
            }
            let scored = json!({"query": "body:block", "sort_by": "_score", "max_hits": 20});
            let answer = run(&one, &scored).unwrap().json;
            let expect = run(&other, &scored).unwrap().json;
            assert_eq!(answer["num_hits"], expect["num_hits"]);
            assert_eq!(answer["hits"].as_array().unwrap().len(), 20);
        }
    }
}

#[test]
fn answers_are_those_of_the_documents_that_are_left() {
    for split_num_docs in [1_500, 60] {
        let mut index = build(&LINES, split_num_docs);
        let has_pages = !index.manifest().unwrap().pages.is_empty();
        assert_eq!(has_pages, split_num_docs == 60);
        let num_splits = index.manifest().unwrap().num_splits();
        let (mut num_gone, mut num_emptied) = (0, 0);
        let mut gone: Vec<fn(&Value) -> bool> = Vec::new();
        for (request, is_gone) in deletions() {
            let (after, report) = index.delete(&request).unwrap();
            gone.push(is_gone);
            let lines = left(|line| gone.iter().any(|is_gone| is_gone(line)));
            let num_left = lines.iter().filter(|line| !line.is_empty()).count() as u64;
            num_gone += report.num_deleted_docs;
            num_emptied += report.num_emptied_splits;
            assert_eq!(num_gone, LINES.len() as u64 - num_left, "{request}");
            let manifest = after.manifest().unwrap();
            assert_eq!(manifest.num_docs(), num_left);
            assert_eq!(manifest.num_splits(), num_splits - num_emptied);
            let again = after.delete(&request).unwrap().1;
            assert_eq!((again.num_deleted_docs, again.num_bytes_written), (0, 0));
            let stored = after.to_folder().unwrap();
            let verified = verify_index(&stored.store, &Default::default()).unwrap();
            assert_eq!(verified.problems, []);
            index = after;
        }
        assert!(num_emptied > 0, "some splits are emptied");
        let lines = left(|line| gone.iter().any(|is_gone| is_gone(line)));
        check(&index, &build(&lines, 1_000));
    }
}

#[test]
fn what_was_deleted_is_not_ingested_again() {
    let index = build(&LINES, 1_000);
    let (empty, report) = index.delete(&json!({"query": "*"})).unwrap();
    assert_eq!(
        (report.num_deleted_docs, report.num_emptied_splits),
        (6_000, 6)
    );
    let stored = empty.to_folder().unwrap();
    let reader = std::io::Cursor::new(LINES.join("\n").into_bytes());
    let options = IngestOptions {
        split_num_docs_target: Some(1_000),
        ..IngestOptions::default()
    };
    let source = Source::reader("lines", reader).with_id("lines");
    let report = ingest(&stored.store, &options, vec![source], &()).unwrap();
    assert_eq!(
        (report.num_published_splits, report.num_known_docs),
        (0, 6_000)
    );
    assert_eq!(stored.store.describe().unwrap().num_docs, 0);
    // The documents stay in the store until garbage collection.
    let splits = stored_splits(&stored.store).unwrap();
    assert_eq!(
        (
            splits.num_objects,
            splits.live.len(),
            splits.manifests.len()
        ),
        (6, 0, 1)
    );
    let mut as_if = empty;
    let manifest = splits.manifests[0].clone();
    as_if
        .objects
        .insert(MANIFEST_OBJECT.to_owned(), manifest.into());
    let searcher = as_if.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let found = list(&searcher, &json!({"query": "*"})).unwrap();
    assert_eq!(
        found.iter().map(|split| split.num_listed).sum::<u64>(),
        6_000
    );
}

/// Returns an index whose deletions are too numerous for the manifest, and the entry of its split.
fn with_object() -> (TestIndex, SplitEntry) {
    let index = build(&LINES, 6_000);
    let (index, _) = index.delete(&json!({"query": "tenant_id:<50"})).unwrap();
    let entry = index.entries().unwrap().remove(0);
    assert_eq!(entry.deletes.as_ref().unwrap().inlined, None);
    (index, entry)
}

#[test]
fn damage_of_what_is_deleted_costs_the_split_by_name() {
    let (index, entry) = with_object();
    let object = entry.deletes.unwrap().object();
    let damages: [&dyn Fn(&mut TestIndex); 3] = [
        &|index| drop(index.objects.remove(&object)),
        &|index| {
            let mut bytes = index.objects[&object].to_vec();
            bytes[9] ^= 1;
            index.objects.insert(object.clone(), bytes.into());
        },
        &|index| {
            index
                .objects
                .insert(object.clone(), Bytes::from_static(b"short"));
        },
    ];
    for damage in damages {
        let mut index = index.clone();
        damage(&mut index);
        for request in [
            json!({"query": "*"}),
            json!({"query": "*", "max_hits": 0, "sort_by": "tenant_id"}),
        ] {
            let answer = index.search(&request).unwrap().json;
            assert_eq!(answer["num_hits"], 0);
            assert_eq!(answer["failed_splits"][0]["split_id"], entry.id.as_str());
            let message = answer["failed_splits"][0]["message"].as_str().unwrap();
            assert!(message.contains(&object), "{message}");
        }
        assert!(
            index.delete(&json!({"query": "*"})).is_err(),
            "a split could not be searched"
        );
    }
}

#[test]
fn deletes_cost_one_request_in_the_wave_of_the_heads() {
    let (index, _) = with_object();
    // The same without its head in the manifest.
    let mut bare = ManifestFile::new(index.manifest().unwrap().manifest);
    for entry in &mut bare.manifest.splits {
        entry.head_offset = None;
    }
    let mut bare_index = index.clone();
    let bytes = bare.to_bytes().unwrap();
    bare_index
        .objects
        .insert(MANIFEST_OBJECT.to_owned(), bytes.into());
    for entry in &mut bare.manifest.splits {
        entry.deletes = None;
    }
    let mut without = bare_index.clone();
    without
        .objects
        .insert(MANIFEST_OBJECT.to_owned(), bare.to_bytes().unwrap().into());
    for request in [
        json!({"query": "*", "max_hits": 0, "sort_by": "tenant_id"}),
        json!({"query": "tenant_id:[60 TO 70]", "max_hits": 5}),
        json!({"query": "severity_text:INFO", "max_hits": 5}),
    ] {
        let cost = |index: &TestIndex| {
            let profile = index.search(&request).unwrap().profile;
            (profile.num_waves, profile.num_requests)
        };
        let (waves, num_requests) = cost(&without);
        let (waves_now, num_requests_now) = cost(&bare_index);
        assert_eq!(waves_now, waves, "{request}");
        assert_eq!(num_requests_now, num_requests + 1, "{request}");
    }
}

#[test]
fn a_list_of_documents_is_for_builders() {
    let index = build(&LINES, 6_000);
    for more in [
        json!({"max_hits": 1}),
        json!({"max_hits": 0, "explain": true}),
        json!({"max_hits": 0, "aggs": {"a": {"stats": {"field": "tenant_id"}}}}),
    ] {
        let mut request = more;
        request["list_documents"] = true.into();
        let error = index.search(&request).unwrap_err().to_string();
        assert!(
            error.contains("list_documents goes with neither"),
            "{error}"
        );
    }
}
