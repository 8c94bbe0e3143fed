//! Budgets and explanations on a real index: the plan of a search, and its answers within smaller
//! budgets.

use std::collections::BTreeSet;
use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Caller, Explanation, Limits, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::split_object;
use canter_tests::{TestIndex, hdfs_lines, run};
use serde_json::{Value, json};

fn index() -> TestIndex {
    let lines = hdfs_lines(6_000, 9).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, 1_000).unwrap()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

/// Returns the split ids under a key of a response.
fn ids(response: &Value, key: &str) -> BTreeSet<String> {
    let splits = response[key].as_array().unwrap();
    let id = |split: &Value| split["split_id"].as_str().unwrap().to_owned();
    splits.iter().map(id).collect()
}

#[test]
fn a_budget_buys_the_newest_splits_and_names_the_others() {
    let index = index();
    let newest_first: Vec<String> = {
        let splits = index.manifest().unwrap().manifest.splits;
        splits.into_iter().rev().map(|split| split.id).collect()
    };
    let request = json!({"query": "tenant_id:[3 TO 40]", "max_hits": 0});
    for engine in engines() {
        let searcher = index.searcher(engine, 5, 1).unwrap();
        let whole = run(&searcher, &request).unwrap();
        assert_eq!(whole.json["skipped_splits"], json!([]), "{}", whole.json);
        assert_eq!(whole.json["budget_exhausted"], Value::Null);
        // The manifest, then one request for the column of each split.
        for max_requests in 1..=7_usize {
            let mut request = request.clone();
            request["budget"] = json!({"max_requests": max_requests});
            request["profile"] = json!(true);
            let response = run(&searcher, &request).unwrap().json;
            let skipped = ids(&response, "skipped_splits");
            let expected = newest_first.iter().skip(max_requests - 1).cloned();
            assert_eq!(skipped, expected.collect::<BTreeSet<_>>());
            assert_eq!(response["failed_splits"], json!([]));
            let is_cut = max_requests <= 6;
            assert_eq!(response["budget_exhausted"] == "max_requests", is_cut);
            assert_eq!(response["num_hits"] == whole.json["num_hits"], !is_cut);
            assert_eq!(response["profile"]["num_requests"], max_requests);
            for split in response["skipped_splits"].as_array().unwrap() {
                let message = split["message"].as_str().unwrap();
                assert!(message.contains("max_requests of"), "{message}");
            }
        }
    }
}

fn explain(searcher: &Searcher, request: &Value) -> Explanation {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime
        .block_on(searcher.explain(request, &Caller::default(), &Limits::default()))
        .unwrap()
}

/// Returns decisions with the number of splits that each applies to.
fn decisions(explanation: &Explanation) -> Vec<(String, usize)> {
    let mut decisions: Vec<(String, usize)> = Vec::new();
    for split in explanation.plan["splits"].as_array().unwrap() {
        let decision = split["decision"].as_str().unwrap();
        assert!(!split["reason"].as_str().unwrap().is_empty());
        match decisions.iter_mut().find(|(known, _)| known == decision) {
            Some((_, count)) => *count += 1,
            None => decisions.push((decision.to_owned(), 1)),
        }
    }
    decisions.sort();
    decisions
}

#[test]
fn an_explanation_says_what_becomes_of_each_split() {
    let index = index();
    let splits = index.manifest().unwrap().manifest.splits;
    let newest = splits.last().unwrap().time_range.unwrap();
    let aggs = json!({"t": {"terms": {"field": "tenant_id"}}});
    for engine in engines() {
        let searcher = index.searcher(engine, 5, 1).unwrap();
        let check = |request: Value, expected: &[(&str, usize)], max_documents: u64| {
            let explanation = explain(&searcher, &request);
            let expected: Vec<(String, usize)> = expected
                .iter()
                .map(|(decision, count)| ((*decision).to_owned(), *count))
                .collect();
            assert_eq!(decisions(&explanation), expected, "{request}");
            assert_eq!(explanation.max_documents, max_documents, "{request}");
            assert_eq!(explanation.plan["num_splits"], 6);
        };
        check(json!({"query": "*", "max_hits": 0}), &[("head", 6)], 0);
        check(
            json!({"query": "*", "max_hits": 5}),
            &[("head", 5), ("search", 1)],
            5,
        );
        check(
            json!({"query": "body:nowhere", "max_hits": 5}),
            &[("head", 6)],
            0,
        );
        check(
            json!({"query": "*", "max_hits": 0, "aggs": aggs}),
            &[("search", 6)],
            0,
        );
        check(
            json!({"query": "*", "max_hits": 3, "start_timestamp": newest.end_ns / 1_000_000_000}),
            &[("pruned", 5), ("search", 1)],
            1,
        );
    }
}

#[test]
fn an_explanation_lists_the_reads_that_the_search_then_makes() {
    let index = index();
    let request =
        json!({"query": "*", "max_hits": 0, "aggs": {"t": {"terms": {"field": "tenant_id"}}}});
    for engine in engines() {
        let searcher = index.searcher(engine, 5, 1).unwrap();
        let explanation = explain(&searcher, &request);
        let planned: BTreeSet<(String, u64, u64)> = explanation
            .planned
            .iter()
            .map(|read| (read.object.clone(), read.offset, read.length))
            .collect();
        assert_eq!(planned.len(), 6);
        let response = run(&searcher, &request).unwrap();
        let made: BTreeSet<(String, u64, u64)> = response
            .profile
            .waves
            .iter()
            .flat_map(|wave| &wave.requests)
            .map(|request| (request.object.clone(), request.offset, request.length))
            .filter(|(object, _, _)| object.starts_with(&split_folder()))
            .collect();
        assert_eq!(made, planned);
    }
}

fn split_folder() -> String {
    let object = split_object("x");
    object.trim_end_matches(|c| c != '/').to_owned()
}
