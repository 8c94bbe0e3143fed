//! Access-log example, compared with a plain scan of its file and of the file in
//! `CANTER_ACCESS_LOG`, if there is one (with the same fields).

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_runtime::Searcher;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_tests::{TestIndex, run};
use serde_json::{Value, json};

const CONFIG: &str = include_str!("../../../examples/access-logs/index-config.yaml");
const SAMPLE: &str = include_str!("../../../examples/access-logs/access-logs.ndjson");
const NUM_SPLITS: usize = 4;
/// Maximum number of hits by the guest's default limit.
const MAX_HITS: u64 = 10_000;

#[test]
fn answers_are_those_of_a_plain_scan_of_the_sample() {
    check(SAMPLE);
}

#[test]
fn answers_are_those_of_a_plain_scan_of_the_named_file() {
    if let Some(path) = std::env::var_os("CANTER_ACCESS_LOG") {
        check(&std::fs::read_to_string(&path).unwrap());
    }
}

/// Indexes the lines in several splits, runs the four queries of the example, and compares them
/// with a scan.
fn check(text: &str) {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let docs: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let split_num_docs = lines.len().div_ceil(NUM_SPLITS) as u64;
    let index = TestIndex::build(CONFIG, &lines, split_num_docs).unwrap();
    assert_eq!(
        index.report.num_ingested_docs,
        docs.len() as u64,
        "every line is a document"
    );
    assert_eq!(index.report.splits.len(), NUM_SPLITS);
    let request = most_frequent_request(&docs);
    let engines: [Arc<dyn Engine>; 2] = [
        Arc::new(NativeEngine::new()),
        Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap()),
    ];
    for engine in engines {
        println!("{} documents, engine {}", docs.len(), engine.name());
        let searcher = index.searcher(engine, 5, 1).unwrap();
        check_statuses(&searcher, &docs);
        check_hits(&searcher, "status: IN [500 400 403]", &docs, |doc| {
            [500, 400, 403]
                .into_iter()
                .any(|status| doc["status"] == status)
        });
        let query = format!("request:\"{request}\"");
        check_hits(&searcher, &query, &docs, |doc| doc["request"] == request);
    }
}

/// Checks count and minimum size by status over all documents.
fn check_statuses(searcher: &Searcher, docs: &[Value]) {
    let mut expected = BTreeMap::new();
    for doc in docs {
        let (status, size) = (
            doc["status"].as_u64().unwrap(),
            doc["size"].as_u64().unwrap(),
        );
        let (count, smallest) = expected.entry(status).or_insert((0_u64, u64::MAX));
        *count += 1;
        *smallest = size.min(*smallest);
    }
    let answer = answer(
        searcher,
        &json!({"query": "*", "max_hits": 0, "aggs": {
            "counts": {"terms": {"field": "status", "size": 100}},
            "sizes": {
                "terms": {"field": "status", "size": 100},
                "aggs": {"smallest": {"min": {"field": "size"}}},
            },
        }}),
    );
    let buckets = |name: &str| {
        answer["aggregations"][name]["buckets"]
            .as_array()
            .unwrap()
            .clone()
    };
    // Statuses are integers, but their keys may be any JSON numbers.
    let key = |bucket: &Value| bucket["key"].as_f64().unwrap() as u64;
    let counts: BTreeMap<u64, u64> = buckets("counts")
        .iter()
        .map(|bucket| (key(bucket), bucket["doc_count"].as_u64().unwrap()))
        .collect();
    let smallest: BTreeMap<u64, f64> = buckets("sizes")
        .iter()
        .map(|bucket| (key(bucket), bucket["smallest"]["value"].as_f64().unwrap()))
        .collect();
    println!("  count by status: {counts:?}\n  smallest size by status: {smallest:?}");
    assert_eq!(answer["num_hits"], docs.len());
    assert_eq!(
        counts,
        expected
            .iter()
            .map(|(status, (count, _))| (*status, *count))
            .collect()
    );
    assert_eq!(
        smallest,
        expected
            .iter()
            .map(|(status, (_, size))| (*status, *size as f64))
            .collect()
    );
}

/// Checks that the hits are exactly the documents for which `matches` holds, newest first.
fn check_hits(searcher: &Searcher, query: &str, docs: &[Value], matches: impl Fn(&Value) -> bool) {
    let answer = answer(searcher, &json!({"query": query, "max_hits": MAX_HITS}));
    println!("  {query}: {} hits", answer["num_hits"]);
    let expected: Vec<&Value> = docs.iter().filter(|doc| matches(doc)).collect();
    assert!(!expected.is_empty(), "{query} finds nothing in the file");
    assert_eq!(answer["num_hits"], expected.len(), "{query}");
    let hits = answer["hits"].as_array().unwrap();
    let time = |doc: &Value| doc["@timestamp"].as_u64().unwrap();
    assert!(
        hits.iter()
            .is_sorted_by_key(|hit| std::cmp::Reverse(time(hit))),
        "{query}: order"
    );
    assert_eq!(sorted(hits.iter()), sorted(expected.into_iter()), "{query}");
}

fn answer(searcher: &Searcher, request: &Value) -> Value {
    let answer = run(searcher, request).unwrap().json;
    assert_eq!(answer["failed_splits"], json!([]), "{request}");
    answer
}

/// Returns the documents as sorted texts with sorted fields, which are equal if the documents are.
fn sorted<'a>(docs: impl Iterator<Item = &'a Value>) -> Vec<String> {
    let text = |doc: &Value| {
        let fields: BTreeMap<_, _> = doc.as_object().unwrap().iter().collect();
        serde_json::to_string(&fields).unwrap()
    };
    let mut texts: Vec<String> = docs.map(text).collect();
    texts.sort();
    texts
}

/// Returns the most frequent request that needs no escape inside quotes.
fn most_frequent_request(docs: &[Value]) -> String {
    let mut counts = BTreeMap::new();
    for request in docs.iter().filter_map(|doc| doc["request"].as_str()) {
        if !request.contains(['"', '\\']) {
            *counts.entry(request).or_insert(0) += 1;
        }
    }
    counts
        .into_iter()
        .max_by_key(|(_, count)| *count)
        .unwrap()
        .0
        .to_owned()
}
