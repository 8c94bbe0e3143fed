//! Histograms over the documents of one term: counted from posting lists if the documents
//! themselves are not needed, and one by one if hits are requested.

use std::sync::Arc;

use canter_runtime::Engine;
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run};
use serde_json::{Value, json};

/// Returns aggregations that need no documents, and some that need all of them.
fn aggregations(first_ms: i64, last_ms: i64) -> Vec<Value> {
    let third = (last_ms - first_ms) / 3;
    let bounds = json!({"min": first_ms + third, "max": last_ms - third});
    let histogram = |more: Value| {
        let mut body = json!({"field": "timestamp", "min_doc_count": 1});
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        json!({"date_histogram": body})
    };
    let hours = histogram(json!({"fixed_interval": "1h"}));
    let mut with_terms = hours.clone();
    with_terms["aggs"] = json!({"t": {"terms": {"field": "tenant_id"}}});
    let moved = histogram(json!({"fixed_interval": "7m", "offset": "100s"}));
    let zone = json!({"calendar_interval": "day", "time_zone": "Europe/Berlin"});
    let bounded = histogram(json!({"fixed_interval": "1m", "hard_bounds": bounds}));
    vec![
        json!({"a": hours}),
        json!({"a": moved, "b": hours, "c": histogram(zone)}),
        json!({"a": bounded}),
        json!({"a": histogram(json!({"fixed_interval": "1s"}))}),
        json!({"a": hours, "b": {"max": {"field": "tenant_id"}}}),
        json!({"a": with_terms}),
    ]
}

#[test]
fn histograms_of_a_term_are_the_same_whether_or_not_its_documents_are_looked_at() {
    let lines = hdfs_lines(12_000, 7).unwrap();
    let index = TestIndex::build(HDFS_LOGS_YAML, &lines, 5_000).unwrap();
    let ends = json!({"query": "*", "max_hits": 0, "aggs": {
        "min": {"min": {"field": "timestamp"}}, "max": {"max": {"field": "timestamp"}}
    }});
    let ends = index.search(&ends).unwrap().json;
    let end_ms = |name: &str| ends["aggregations"][name]["value"].as_f64().unwrap() as i64;
    let (first_ms, last_ms) = (end_ms("min"), end_ms("max"));
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    let searchers = engines.map(|engine| index.searcher(engine, 0, 1).unwrap());
    let mut most_hits = 0;
    for query in [
        "body:block",
        "severity_text:INFO",
        "severity_text:ERROR",
        "tenant_id:58",
        "body:nothing_has_this",
    ] {
        let fifth = (last_ms - first_ms) / 5_000;
        for (start, end) in [
            (0, i64::MAX / 2_000_000_000),
            (first_ms / 1000 + fifth, last_ms / 1000 - fifth),
        ] {
            for aggs in aggregations(first_ms, last_ms) {
                let mut request = json!({
                    "query": query, "start_timestamp": start, "end_timestamp": end, "aggs": aggs,
                });
                let mut answers = Vec::new();
                for max_hits in [0, 3] {
                    request["max_hits"] = json!(max_hits);
                    for searcher in &searchers {
                        let answer = run(searcher, &request).unwrap().json;
                        assert_eq!(answer["failed_splits"], json!([]), "{request}");
                        most_hits = most_hits.max(answer["num_hits"].as_u64().unwrap());
                        answers.push((answer["num_hits"].clone(), answer["aggregations"].clone()));
                    }
                }
                let is_same = answers.windows(2).all(|pair| pair[0] == pair[1]);
                assert!(is_same, "{request}: {answers:#?}");
            }
        }
    }
    // Posting lists have several blocks of 128 documents each.
    assert!(most_hits > 1_000, "{most_hits} hits");
}
