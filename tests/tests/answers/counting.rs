//! Searches that need not count all hits: they return the same hits, and do not read anything else.

use std::sync::Arc;

use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Engine, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{CATALOGUE_CONFIG, TestIndex, catalogue, hdfs_lines, run, usual_or_full};
use serde_json::{Value, json};

fn search(searcher: &Searcher, request: &Value, counted: &Value) -> Value {
    let mut request = request.clone();
    request["profile"] = json!(true);
    request["track_total_hits"] = counted.clone();
    let answer = run(searcher, &request).unwrap().json;
    assert_eq!(answer["failed_splits"], json!([]), "{request}");
    answer
}

fn engines() -> [Arc<dyn Engine>; 2] {
    [
        Arc::new(NativeEngine::new()),
        Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap()),
    ]
}

/// Checks that the hits are the same and that their number is within the promised bound. Returns
/// whether a search stopped early.
fn check(searcher: &Searcher, request: &Value) -> bool {
    let whole = search(searcher, request, &json!(true));
    assert_eq!(whole["num_hits_relation"], Value::Null, "{request}");
    let total = whole["num_hits"].as_u64().unwrap();
    let mut has_stopped = false;
    for counted in [json!(false), json!(1), json!(25), json!(1_000_000)] {
        let part = search(searcher, request, &counted);
        assert_eq!(part["hits"], whole["hits"], "{request} {counted}");
        let num_hits = part["num_hits"].as_u64().unwrap();
        let not_needed = &part["profile"]["num_splits_not_needed"];
        if part["num_hits_relation"] == "gte" {
            has_stopped = true;
            assert!(
                num_hits >= counted.as_u64().unwrap_or(0),
                "{request} {counted}"
            );
            assert!(num_hits <= total, "{request} {counted}");
            assert!(not_needed.as_u64() > Some(0), "{request} {counted}");
        } else {
            assert_eq!(num_hits, total, "{request} {counted}");
            assert_eq!(*not_needed, Value::Null, "{request} {counted}");
        }
    }
    has_stopped
}

#[test]
fn the_hits_are_those_of_a_search_that_counts_all() {
    // The splits of this index follow each other in time.
    let logs = TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(6_000, 4).unwrap(), 250).unwrap();
    // The splits of this index all overlap in time.
    let wares = TestIndex::build(CATALOGUE_CONFIG, &catalogue(3_000, 7), 150).unwrap();
    for (engine, step) in engines().into_iter().zip([1, usual_or_full(2, 1)]) {
        let searcher = logs.searcher(engine.clone(), 1, 1).unwrap();
        let (mut num_stopped, mut num_checked) = (0, 0);
        for query in [
            "*",
            "body:block",
            "body:exception",
            "body:block AND body:terminating",
            "body:\"exception while serving\"",
            "body:block -severity_text:INFO",
            "body:ex*",
            "tenant_id:[20 TO 40]",
            "severity_text:ERROR",
            "body:nothing",
        ]
        .into_iter()
        .step_by(step)
        {
            num_checked += 5;
            for request in [
                json!({"query": query, "max_hits": 10}),
                json!({"query": query, "max_hits": 7, "start_offset": 12}),
                json!({"query": query, "max_hits": 5, "sort_by": "-timestamp"}),
                json!({"query": query, "max_hits": 5, "sort_by": "_doc", "start_timestamp": 1_460_938_637}),
                json!({"query": query, "max_hits": 5, "end_timestamp": 1_461_801_600}),
            ] {
                num_stopped += u32::from(check(&searcher, &request));
            }
            let sorted = json!({"query": query, "max_hits": 5, "sort_by": "tenant_id"});
            assert!(
                !check(&searcher, &sorted),
                "every split may hold a better hit"
            );
            let aggregated = json!({"query": query, "max_hits": 5, "aggs": {"n": {"value_count": {"field": "tenant_id"}}}});
            assert!(!check(&searcher, &aggregated), "all are aggregated");
        }
        let all = json!({"query": "*", "max_hits": 5});
        assert!(!check(&searcher, &all), "their number is known anyway");
        assert!(
            num_stopped * 5 >= num_checked * 2,
            "{num_stopped} of {num_checked} searches left splits out"
        );
        let searcher = wares.searcher(engine, 1, 1).unwrap();
        for query in [
            "shoes",
            "vendor:acme",
            "price:[10 TO 500]",
            "active:true AND shoes",
        ] {
            for request in [
                json!({"query": query, "max_hits": 10}),
                json!({"query": query, "max_hits": 3, "start_offset": 40}),
            ] {
                check(&searcher, &request);
            }
        }
    }
}

#[test]
fn the_newest_splits_are_enough() {
    let logs = TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(8_000, 2).unwrap(), 100).unwrap();
    let searcher = logs.searcher(Arc::new(NativeEngine::new()), 1, 1).unwrap();
    let request = json!({"query": "body:\"blk src\" OR body:block", "max_hits": 10});
    let whole = search(&searcher, &request, &json!(true))["profile"].take();
    let part = search(&searcher, &request, &json!(false))["profile"].take();
    assert_eq!(whole["num_splits_searched"], 80);
    assert_eq!(part["num_splits_searched"], 8);
    assert_eq!(part["num_splits_not_needed"], 72);
    // Nothing of a skipped split is read, not even its head.
    let requests = |profile: &Value| profile["num_requests"].as_u64().unwrap();
    assert!(requests(&part) * 5 < requests(&whole), "{part} {whole}");
}

#[test]
fn quickwits_parameter_is_understood() {
    let logs = TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(2_000, 2).unwrap(), 100).unwrap();
    let searcher = logs.searcher(Arc::new(NativeEngine::new()), 1, 1).unwrap();
    let answer = |counted: Value| {
        let request = json!({"query": "body:block", "max_hits": 3, "count_all": counted});
        run(&searcher, &request).map(|answer| answer.json)
    };
    assert_eq!(answer(json!(false)).unwrap()["num_hits_relation"], "gte");
    assert_eq!(
        answer(json!(true)).unwrap()["num_hits_relation"],
        Value::Null
    );
    let refused = answer(json!("some")).unwrap_err().to_string();
    assert!(
        refused.contains("count_all: this must be true or false"),
        "{refused}"
    );
}
