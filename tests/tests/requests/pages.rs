//! Index with many small splits in pages of the manifest. Answers equal those of the same documents
//! in few splits, costs depend on the needs of a query, and damage only affects the damaged parts.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run, run_with, usual_or_full};
use serde_json::{Value, json};

/// 1,000 splits of 30 documents.
static FED: LazyLock<TestIndex> = LazyLock::new(|| index(30));
/// Same documents in 6 splits.
static WHOLE: LazyLock<TestIndex> = LazyLock::new(|| index(5_000));

fn index(split_num_docs: u64) -> TestIndex {
    let lines = hdfs_lines(30_000, 3).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, split_num_docs).unwrap()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

/// Returns the time in the middle of the documents in seconds.
fn middle() -> i64 {
    let splits = WHOLE.manifest().unwrap().manifest.splits;
    splits[3].time_range.unwrap().start_ns / 1_000_000_000 + 60
}

fn requests() -> Vec<Value> {
    let middle = middle();
    let by_day = json!({"days": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
        "aggs": {"levels": {"terms": {"field": "severity_text"}}},
    }});
    let by_minutes = json!({"minutes": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "7m", "min_doc_count": 1},
        "aggs": {"tenant": {"avg": {"field": "tenant_id"}}},
    }});
    vec![
        json!({"query": "*", "max_hits": 3}),
        json!({"query": "*", "max_hits": 3, "sort_by": "-timestamp"}),
        json!({"query": "*", "max_hits": 120, "start_offset": 40}),
        json!({"query": "*", "max_hits": 0}),
        json!({"query": "*", "max_hits": 2, "end_timestamp": middle}),
        json!({"query": "*", "max_hits": 0, "start_timestamp": middle}),
        json!({"query": "severity_text:WARN", "max_hits": 10}),
        json!({"query": "severity_text:WARN", "max_hits": 10, "sort_by": "-timestamp"}),
        json!({"query": "severity_text:WARN", "max_hits": 10, "start_timestamp": middle - 5_000, "end_timestamp": middle}),
        json!({"query": "severity_text:NOBODY", "max_hits": 10}),
        json!({"query": "severity_text:ERROR AND body:block", "max_hits": 10}),
        json!({"query": "tenant_id:42", "max_hits": 10}),
        json!({"query": "body:\"received block\"", "max_hits": 5}),
        json!({"query": "body:block", "max_hits": 5, "sort_by": "_score"}),
        json!({"query": "*", "max_hits": 5, "sort_by": "tenant_id"}),
        json!({"query": "*", "max_hits": 0, "aggs": by_day}),
        json!({"query": "*", "max_hits": 4, "aggs": by_day}),
        json!({"query": "*", "max_hits": 0, "start_timestamp": middle, "aggs": by_day}),
        json!({"query": "severity_text:WARN", "max_hits": 0, "aggs": by_day}),
        json!({"query": "*", "max_hits": 0, "aggs": by_minutes}),
        json!({"query": "*", "max_hits": 0, "aggs": {"tenants": {"terms": {"field": "tenant_id", "size": 7}}}}),
    ]
}

fn plain(mut answer: Value) -> Value {
    for varies in ["elapsed_time_micros", "profile"] {
        answer.as_object_mut().unwrap().remove(varies);
    }
    answer
}

#[test]
fn the_index_has_pages_and_the_other_has_none() {
    let manifest = FED.manifest().unwrap();
    assert_eq!(
        (manifest.num_splits(), manifest.num_docs()),
        (1_000, 30_000)
    );
    assert!(manifest.pages.len() > 1 && manifest.manifest.splits.len() < 50);
    assert!(WHOLE.manifest().unwrap().pages.is_empty());
}

#[test]
fn answers_do_not_depend_on_pages() {
    for engine in engines() {
        for max_leaves in [3, 1].into_iter().take(usual_or_full(1, 2)) {
            let fed = FED.searcher(Arc::clone(&engine), 7, max_leaves).unwrap();
            let whole = WHOLE.searcher(Arc::clone(&engine), 7, max_leaves).unwrap();
            for request in requests() {
                let expect = plain(run(&whole, &request).unwrap().json);
                let answer = plain(run(&fed, &request).unwrap().json);
                assert_eq!(answer, expect, "{request}");
            }
        }
    }
}

/// Returns waves, requests and bytes.
fn cost(request: &Value) -> (u64, u64, u64) {
    let searcher = FED.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let profile = run(&searcher, request).unwrap().profile;
    (profile.num_waves, profile.num_requests, profile.num_bytes)
}

#[test]
fn cost_depends_on_what_a_query_needs() {
    for (request, most) in [
        (json!({"query": "*", "max_hits": 0}), (1, 1, 700_000)),
        (json!({"query": "*", "max_hits": 10}), (2, 2, 700_000)),
        (
            json!({"query": "severity_text:ERROR", "max_hits": 10}),
            // Heads between the hits of a page are read along with them.
            (4, 19, 700_000),
        ),
        (
            json!({"query": "*", "max_hits": 0, "aggs": {"days": {
                "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
                "aggs": {"levels": {"terms": {"field": "severity_text"}}},
            }}}),
            (2, 6, 1_500_000),
        ),
    ] {
        let (waves, requests, bytes) = cost(&request);
        println!("{request}: {waves} waves, {requests} requests, {bytes} bytes");
        assert!(
            waves <= most.0 && requests <= most.1 && bytes <= most.2,
            "{request}: {waves} waves, {requests} requests, {bytes} bytes"
        );
    }
}

#[test]
fn a_time_filter_reads_the_pages_that_it_meets() {
    let middle = middle();
    let request = json!({"query": "*", "max_hits": 0, "start_timestamp": middle, "end_timestamp": middle + 60,
        "aggs": {"t": {"avg": {"field": "tenant_id"}}}, "profile": true});
    let answer = FED.search(&request).unwrap();
    let profile = &answer.json["profile"];
    assert_eq!(profile["num_splits"], 1_000);
    let num_pruned = profile["num_splits_pruned_by_time"].as_u64().unwrap();
    let num_searched = profile["num_splits_searched"].as_u64().unwrap();
    assert!(num_pruned > 985, "{num_pruned}");
    assert_eq!(num_pruned + num_searched, 1_000);
}

/// Change of an object.
type Change = fn(&mut Vec<u8>);

/// Returns an index whose first page was changed by `change`, with the page's name and number of
/// documents.
fn with_page(change: impl Fn(&mut Vec<u8>)) -> (TestIndex, String, u64) {
    let mut index = FED.clone();
    let page = &index.manifest().unwrap().pages[0];
    let (object, num_docs) = (page.object(), page.num_docs);
    let mut bytes = index.objects[&object].to_vec();
    change(&mut bytes);
    match bytes.is_empty() {
        true => drop(index.objects.remove(&object)),
        false => drop(index.objects.insert(object.clone(), Bytes::from(bytes))),
    }
    (index, object, num_docs)
}

#[test]
fn a_page_that_is_gone_or_damaged_costs_its_splits_by_name() {
    let request = json!({"query": "severity_text:INFO", "max_hits": 3});
    let all = FED.search(&request).unwrap().json;
    let changes: [Change; 3] = [
        |bytes| bytes.clear(),
        |bytes| bytes.truncate(5_000),
        |bytes| bytes[4_000] ^= 1,
    ];
    for change in changes {
        let (index, object, _) = with_page(change);
        let answer = index.search(&request).unwrap().json;
        assert_eq!(answer["failed_splits"][0]["split_id"], object.as_str());
        assert_eq!(answer["failed_splits"].as_array().unwrap().len(), 1);
        assert_eq!(answer["hits"], all["hits"], "the newest are elsewhere");
        assert!(answer["num_hits"].as_u64() < all["num_hits"].as_u64());
        let errors = answer["errors"].to_string();
        assert!(errors.contains(&object), "{errors}");
    }
}

#[test]
fn a_damaged_head_in_a_page_is_read_from_its_split() {
    let request = json!({"query": "tenant_id:42", "max_hits": 3});
    let expect = plain(FED.search(&request).unwrap().json);
    let (index, ..) = with_page(|bytes| {
        let last = bytes.len() - 100;
        bytes[last] ^= 1;
    });
    assert_eq!(plain(index.search(&request).unwrap().json), expect);
}

#[test]
fn a_budget_that_does_not_reach_for_pages_says_so() {
    let searcher = FED.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let mut limits = Limits::default();
    limits.budget.max_requests = Some(1);
    let request = json!({"query": "severity_text:ERROR", "max_hits": 3});
    let answer = run_with(&searcher, &request, &limits).unwrap().json;
    assert_eq!(answer["budget_exhausted"], "max_requests");
    let skipped = answer["skipped_splits"].as_array().unwrap();
    let names = skipped
        .iter()
        .filter_map(|split| split["split_id"].as_str());
    assert!(names.filter(|name| name.starts_with("pages/")).count() > 1);
}

#[test]
fn an_explanation_names_pages() {
    let request = json!({"query": "*", "max_hits": 3, "start_timestamp": middle()});
    let searcher = FED.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (caller, limits) = (Caller::default(), Limits::default());
    let explained = runtime.block_on(searcher.explain(&request, &caller, &limits));
    let splits = explained.unwrap().plan["splits"].clone();
    let splits = splits.as_array().unwrap();
    let num_splits = splits
        .iter()
        .map(|split| split["num_splits"].as_u64().unwrap_or(1));
    assert_eq!(num_splits.sum::<u64>(), 1_000);
    let pages: Vec<&Value> = splits
        .iter()
        .filter(|split| split["num_splits"].is_u64())
        .collect();
    assert!(
        pages.iter().any(|page| page["decision"] == "pruned"),
        "{pages:?}"
    );
    assert!(
        pages
            .iter()
            .all(|page| page["split_id"].as_str().unwrap().starts_with("pages/"))
    );
}

/// The fields without a mapping in a time range are those of the documents in it.
#[test]
fn fields_of_documents_are_found_in_pages_too() {
    const START: u64 = 1_460_000_000;
    const CONFIG: &str = "
version: 0.9
index_id: eras
doc_mapping:
  field_mappings:
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
  timestamp_field: ts
";
    let line = |n: u64| {
        let era = format!("era_{}", n / 100);
        json!({"ts": START + n * 10, era: 1}).to_string()
    };
    let lines: Vec<String> = (0..1_400).map(line).collect();
    let index = TestIndex::build(CONFIG, &lines, 2).unwrap();
    assert!(index.manifest().unwrap().pages.len() > 1);
    for engine in engines() {
        let builder = Searcher::builder().engine(engine);
        let builder = builder.index_from("eras", Arc::new(index.fetcher()), "eras");
        let searcher = builder.unwrap().build().unwrap();
        for era in [0, 6, 7, 13] {
            let start = START + era * 1_000;
            let request = HttpRequest {
                method: "GET".to_owned(),
                path: "/eras/_field_caps".to_owned(),
                query: format!(
                    "fields=era_*&start_timestamp={start}&end_timestamp={}",
                    start + 1_000
                ),
                body: Vec::new(),
            };
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let answer =
                runtime.block_on(searcher.http(request, &Caller::default(), &Limits::default()));
            let answer: Value = serde_json::from_slice(&answer.response.body).unwrap();
            let fields = answer["fields"].as_object().unwrap();
            let names: Vec<&String> = fields.keys().collect();
            assert_eq!(names, [&format!("era_{era}")], "{answer}");
        }
    }
}

/// The manifest gives the number of documents, with splits in pages or in the manifest.
#[test]
fn fed_and_whole_hold_the_same() {
    let manifest = FED.manifest().unwrap();
    let whole = WHOLE.manifest().unwrap();
    assert_eq!(manifest.num_docs(), whole.num_docs());
    let raw = |pages: u64, splits: u64| pages + splits;
    let fed_raw = raw(
        manifest.pages.iter().map(|page| page.raw_num_bytes).sum(),
        manifest
            .manifest
            .splits
            .iter()
            .map(|split| split.raw_num_bytes)
            .sum(),
    );
    let whole_raw: u64 = whole
        .manifest
        .splits
        .iter()
        .map(|split| split.raw_num_bytes)
        .sum();
    assert_eq!(fed_raw, whole_raw);
}
