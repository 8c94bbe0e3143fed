//! Index that is fed in small pieces, merged and cleaned up: answers do not change, ingested
//! documents stay known, and referenced objects are never removed.

use std::path::Path;
use std::sync::Arc;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    ErrorKind, GcOptions, IndexStore, IngestOptions, IngestReport, MergeIndexOptions, Source,
    VerifyOptions, collect_garbage, create_index, ingest, merge_index, verify_index,
};
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{hdfs_lines, run};
use serde_json::{Value, json};

const NUM_PIECES: usize = 130;
const PIECE_LEN: usize = 60;

/// Returns a config that merges ten splits of the same size, smallest first.
fn config() -> IndexConfig {
    let yaml = format!(
        "{HDFS_LOGS_YAML}\nindexing_settings:\n  split_num_docs_target: 4000\n  merge_policy:\n    \
         type: stable_log\n    min_level_num_docs: 100\n    merge_factor: 10\n    max_merge_factor: 12\n"
    );
    IndexConfig::from_yaml(&yaml, |_| None).unwrap()
}

fn pieces() -> Vec<Vec<String>> {
    let lines = hdfs_lines((NUM_PIECES * PIECE_LEN) as u64, 5).unwrap();
    lines.chunks(PIECE_LEN).map(<[String]>::to_vec).collect()
}

fn ingest_piece(store: &IndexStore, ord: usize, lines: &[String]) -> IngestReport {
    let text = lines.join("\n").into_bytes();
    let id = format!("piece {ord}");
    // Repeats the ingest if the error asks for that.
    for _ in 0..20 {
        let text = std::io::Cursor::new(text.clone());
        let source = Source::reader(id.clone(), text).with_id(id.clone());
        match ingest(store, &IngestOptions::default(), vec![source], &()) {
            Ok(report) => return report,
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("piece {ord} could not be ingested");
}

/// Runs all due merges. Repeats them if a garbage collection without a grace period removed the new
/// split before its publication.
fn merge_all(store: &IndexStore) {
    for _ in 0..20 {
        match merge_index(store, &MergeIndexOptions::default(), &|_| {}) {
            Ok(_) => return,
            Err(error) if error.kind() == ErrorKind::Unavailable => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the index could not be merged");
}

fn searcher(folder: &Path) -> Searcher {
    let fetcher = open_uri(folder.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .fetcher(fetcher);
    searcher.build().unwrap()
}

fn answers(folder: &Path) -> Vec<Value> {
    let searcher = searcher(folder);
    [
        json!({"query": "*", "max_hits": 25}),
        json!({"query": "*", "max_hits": 25, "sort_by": "-timestamp"}),
        json!({"query": "severity_text:WARN", "max_hits": 40, "start_offset": 5}),
        json!({"query": "body:\"received block\"", "max_hits": 7}),
        json!({"query": "body:block", "max_hits": 7, "sort_by": "_score"}),
        json!({"query": "*", "max_hits": 9, "sort_by": "tenant_id"}),
        json!({"query": "tenant_id:[3 TO 9]", "max_hits": 0, "aggs": {
            "minutes": {"date_histogram": {"field": "timestamp", "fixed_interval": "90s", "min_doc_count": 1},
                "aggs": {"level": {"terms": {"field": "severity_text"}}}},
            "tenants": {"cardinality": {"field": "tenant_id"}},
        }}),
    ]
    .into_iter()
    .map(|request| {
        let mut answer = run(&searcher, &request).unwrap().json;
        for varies in ["elapsed_time_micros", "profile"] {
            answer.as_object_mut().unwrap().remove(varies);
        }
        assert_eq!(answer["errors"], json!([]), "{request}");
        answer
    })
    .collect()
}

fn at(now_ms: u64) -> GcOptions {
    GcOptions {
        now_ms,
        grace_ms: 1_000,
        dry_run: false,
        applies_retention: true,
    }
}

#[test]
fn a_fed_index_is_merged_and_cleaned_up_and_answers_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &config()).unwrap();
    let pieces = pieces();
    for (ord, lines) in pieces.iter().enumerate() {
        ingest_piece(&store, ord, lines);
    }
    let before = answers(folder.path());
    let fed = store.describe().unwrap();
    assert_eq!(fed.num_splits, NUM_PIECES as u64);
    assert!(fed.num_pages > 0);

    let plan = MergeIndexOptions {
        dry_run: true,
        ..MergeIndexOptions::default()
    };
    let planned = merge_index(&store, &plan, &|_| {}).unwrap();
    assert!(!planned.merges.is_empty());
    assert_eq!(store.describe().unwrap().num_splits, fed.num_splits);
    let one = MergeIndexOptions {
        max_merges: Some(1),
        ..MergeIndexOptions::default()
    };
    assert_eq!(merge_index(&store, &one, &|_| {}).unwrap().merges.len(), 1);
    assert_eq!(answers(folder.path()), before, "after one merge");

    let merged = merge_index(&store, &MergeIndexOptions::default(), &|_| {}).unwrap();
    assert!(
        merged.num_splits < 25,
        "{} splits are left",
        merged.num_splits
    );
    assert_eq!(merged.num_dropped, 0);
    let described = store.describe().unwrap();
    assert_eq!(
        (described.num_docs, described.num_splits),
        (fed.num_docs, merged.num_splits)
    );
    assert_eq!(answers(folder.path()), before, "after all merges");
    let again = merge_index(&store, &MergeIndexOptions::default(), &|_| {}).unwrap();
    assert_eq!(again.merges, []);

    // Ingested documents stay known, wherever they are now.
    for ord in [0, 64, NUM_PIECES - 1] {
        let report = ingest_piece(&store, ord, &pieces[ord]);
        assert_eq!(report.num_known_docs, PIECE_LEN as u64);
        assert_eq!(report.num_published_splits, 0);
    }

    let condemned = collect_garbage(&store, &at(10_000)).unwrap();
    assert!(condemned.condemned.len() >= NUM_PIECES && condemned.deleted.is_empty());
    let removed = collect_garbage(&store, &at(12_000)).unwrap();
    assert_eq!(removed.deleted.len(), condemned.condemned.len());
    assert_eq!(
        verify_index(&store, &VerifyOptions::default())
            .unwrap()
            .problems,
        []
    );
    assert_eq!(answers(folder.path()), before, "after the garbage is gone");
    let files = std::fs::read_dir(folder.path().join("splits"))
        .unwrap()
        .count();
    assert_eq!(files as u64, merged.num_splits);
    // A repeated ingest leaves nothing behind: its documents are still known.
    assert_eq!(
        ingest_piece(&store, 7, &pieces[7]).num_known_docs,
        PIECE_LEN as u64
    );
}

/// Two processes merge while others feed and collect garbage.
#[test]
fn merges_ingests_and_collections_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &config()).unwrap();
    let pieces = pieces();
    let (early, late) = pieces.split_at(60);
    for (ord, lines) in early.iter().enumerate() {
        ingest_piece(&store, ord, lines);
    }
    std::thread::scope(|scope| {
        let store = &store;
        for _ in 0..2 {
            scope.spawn(move || merge_all(store));
        }
        scope.spawn(move || {
            for (ord, lines) in (60..).zip(&late[..40]) {
                ingest_piece(store, ord, lines);
            }
        });
        scope.spawn(move || {
            for round in 0..12 {
                // With hardly any grace period, uploads that are not yet published also count as
                // garbage.
                let options = GcOptions {
                    grace_ms: 500,
                    ..at(10_000 + 400 * round)
                };
                collect_garbage(store, &options).unwrap();
            }
        });
    });
    assert_eq!(store.describe().unwrap().num_docs, (100 * PIECE_LEN) as u64);
    assert_eq!(
        verify_index(&store, &VerifyOptions::default())
            .unwrap()
            .problems,
        []
    );
    let all = run(
        &searcher(folder.path()),
        &json!({"query": "*", "max_hits": 0}),
    )
    .unwrap();
    assert_eq!(all.json["num_hits"], 100 * PIECE_LEN);
}
