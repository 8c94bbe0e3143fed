//! Very many splits of twenty documents each, as produced by a continuous indexer: the costs of
//! searches depend on their needs, before and after a merge.
//!
//! `CANTER_SMALL_SPLITS` sets the number of splits (1,500 by default).

use std::sync::{Arc, LazyLock};

use canter_runtime::engine::NativeEngine;
use canter_runtime::{ErrorKind, Limits, Profile};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run_with};
use serde_json::{Value, json};

const NUM_DOCS: u64 = 20;

static NUM_SPLITS: LazyLock<u64> = LazyLock::new(|| {
    let asked = std::env::var("CANTER_SMALL_SPLITS").ok();
    asked.map_or(1_500, |text| text.parse().unwrap())
});

fn build(split_num_docs: u64) -> TestIndex {
    let lines = hdfs_lines(*NUM_SPLITS * NUM_DOCS, 3).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, split_num_docs).unwrap()
}

static SMALL: LazyLock<TestIndex> = LazyLock::new(|| build(NUM_DOCS));

fn requests() -> [(&'static str, Value); 4] {
    let by_day = json!({"days": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
        "aggs": {"levels": {"terms": {"field": "severity_text"}}},
    }});
    [
        (
            "term",
            json!({"query": "severity_text:ERROR", "max_hits": 10}),
        ),
        (
            "histogram",
            json!({"query": "*", "max_hits": 0, "aggs": by_day}),
        ),
        (
            "absent word",
            json!({"query": "body:nowhere", "max_hits": 10}),
        ),
        ("newest", json!({"query": "*", "max_hits": 10})),
    ]
}

/// Returns the answer without varying values, and the profile.
fn ask(index: &TestIndex, request: &Value, max_splits: u64) -> (Value, Profile) {
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let mut limits = Limits::default();
    limits
        .guest
        .insert("max_splits".to_owned(), max_splits.into());
    let mut answer = run_with(&searcher, request, &limits).unwrap();
    for varies in ["elapsed_time_micros", "profile"] {
        answer.json.as_object_mut().unwrap().remove(varies);
    }
    assert_eq!(answer.json["failed_splits"], json!([]));
    (answer.json, answer.profile)
}

#[test]
fn cost_depends_on_what_a_search_needs_and_a_merge_makes_it_that_of_a_fresh_build() {
    let num_pages = SMALL.manifest().unwrap().pages.len() as u64;
    let merged = SMALL.merge_what_is_due().unwrap();
    let fresh = build(*NUM_SPLITS * NUM_DOCS);
    let of_merged = merged.manifest().unwrap();
    println!(
        "{} splits in {num_pages} pages; {} splits after the merge",
        *NUM_SPLITS,
        of_merged.num_splits()
    );
    assert_eq!(SMALL.manifest().unwrap().num_splits(), *NUM_SPLITS);
    assert!(of_merged.pages.is_empty() && of_merged.num_splits() < 40);
    for (name, request) in requests() {
        // Maximum number of splits that a search opens.
        let most = 150 + *NUM_SPLITS / 20;
        let (answer, small) = ask(&SMALL, &request, most);
        let (after, large) = ask(&merged, &request, most);
        let (expect, best) = ask(&fresh, &request, most);
        assert_eq!(answer, after, "{name}");
        assert_eq!(answer, expect, "{name}");
        let told = [&small, &large, &best].map(|profile| {
            let (waves, requests) = (profile.num_waves, profile.num_requests);
            format!(
                "{waves} waves, {requests} requests, {} bytes",
                profile.num_bytes
            )
        });
        println!(
            "{name}: {} | merged {} | fresh {}",
            told[0], told[1], told[2]
        );
        let (waves, requests) = match name {
            "term" => (4, 25 + num_pages),
            "histogram" => (2, 1 + num_pages),
            "absent word" => (4, 20 + *NUM_SPLITS / 20),
            _ => (2, 2),
        };
        assert!(
            small.num_waves <= waves && small.num_requests <= requests,
            "{name}"
        );
        assert!(large.num_waves <= best.num_waves + 1, "{name}");
        assert!(large.num_requests <= 40, "{name}");
    }
}

#[test]
fn a_search_that_must_read_more_splits_than_it_may_is_refused_with_what_to_do() {
    let request = json!({"query": "body:block", "max_hits": 3, "sort_by": "tenant_id"});
    let searcher = SMALL.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let mut limits = Limits::default();
    limits.guest.insert("max_splits".to_owned(), 200.into());
    let refused = run_with(&searcher, &request, &limits).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Limit);
    let message = refused.to_string();
    assert!(
        message.contains("more than the limit max_splits of 200"),
        "{message}"
    );
    assert!(
        message.contains("narrow it by start_timestamp"),
        "{message}"
    );
}
