//! Partial-result cache: it saves reads, and never changes an answer.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use canter_runtime::cache::{CacheOptions, CachedPiece, MemoryCache};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::session::ByteClass;
use canter_runtime::{RangeCache, SearchResponse, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run_divided};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

const SPLIT_NUM_DOCS: u64 = 1_500;

fn index(num_docs: usize) -> TestIndex {
    let lines = hdfs_lines(6_000, 3).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines[..num_docs], SPLIT_NUM_DOCS).unwrap()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

fn memory_cache() -> Arc<dyn RangeCache> {
    Arc::new(MemoryCache::with_options(&CacheOptions::memory()).unwrap())
}

fn searcher(index: &TestIndex, engine: &Arc<dyn Engine>, cache: &Arc<dyn RangeCache>) -> Searcher {
    Searcher::builder()
        .engine(Arc::clone(engine))
        .fetcher(Arc::new(index.fetcher()))
        .cache(Arc::clone(cache))
        .max_parallel_leaves(3)
        .build()
        .unwrap()
}

fn search(searcher: &Searcher, request: &Value) -> SearchResponse {
    let mut request = request.clone();
    request["profile"] = json!(true);
    run_divided(searcher, &request).unwrap()
}

/// Returns the parts of an answer that depend on the documents.
fn body(response: &SearchResponse) -> String {
    let json = &response.json;
    json!([json["hits"], json["num_hits"], json["aggregations"]]).to_string()
}

fn histogram() -> Value {
    json!({"events": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
        "aggs": {"log_level": {"terms": {"field": "severity_text"}}},
    }})
}

fn requests() -> Vec<Value> {
    vec![
        json!({"query": "severity_text:ERROR", "max_hits": 10}),
        json!({"query": "body:block", "max_hits": 5, "start_offset": 2, "sort_by": "tenant_id"}),
        json!({"query": "body:received", "max_hits": 5, "sort_by": "_score"}),
        json!({"query": "*", "max_hits": 0, "aggs": histogram()}),
        json!({"query": "tenant_id:[10 TO 50]", "max_hits": 0, "aggs": histogram()}),
        json!({"query": "body:block", "max_hits": 3, "aggs": {
            "tenants": {"terms": {"field": "tenant_id", "size": 100},
                "aggs": {"p": {"percentiles": {"field": "tenant_id"}}}},
        }}),
        json!({"query": "severity_text:none", "max_hits": 10}),
    ]
}

#[test]
fn a_second_search_reads_the_manifest_and_nothing_else() {
    let index = index(6_000);
    let num_splits = index.manifest().unwrap().manifest.splits.len();
    assert_eq!(num_splits, 4);
    for engine in engines() {
        for request in requests() {
            let without = index.searcher(Arc::clone(&engine), 0, 1).unwrap();
            let expected = body(&search(&without, &request));
            let cache = memory_cache();
            let first = search(&searcher(&index, &engine, &cache), &request);
            assert_eq!(body(&first), expected, "{request}");
            // Simulates a restarted host with the same cache.
            let second = search(&searcher(&index, &engine, &cache), &request);
            assert_eq!(body(&second), expected, "{request}");
            let profile = &second.json["profile"];
            assert_eq!(profile["num_requests"], 1, "{request}");
            assert_eq!(profile["num_waves"], 1, "{request}");
            assert_eq!(profile["num_splits_answered_from_cache"], num_splits);
            assert_eq!(profile["num_splits_searched"], 0);
        }
    }
}

#[test]
fn a_dashboard_reads_only_new_splits() {
    let [engine, _] = engines();
    let cache = memory_cache();
    let (before, after) = (index(4_500), index(6_000));
    let old: BTreeSet<&String> = before.objects.keys().collect();
    let is_old = |object: &&String| object.contains("split") && old.contains(*object);
    let num_old = after.objects.keys().filter(is_old).count();
    assert!(num_old >= 2, "the first splits of both are the same");
    for request in [
        json!({"query": "tenant_id:[10 TO 50]", "max_hits": 0, "aggs": histogram()}),
        json!({"query": "body:block", "max_hits": 0}),
    ] {
        search(&searcher(&before, &engine, &cache), &request);
        let refreshed = search(&searcher(&after, &engine, &cache), &request);
        let without = after.searcher(Arc::clone(&engine), 0, 1).unwrap();
        assert_eq!(body(&refreshed), body(&search(&without, &request)));
        let profile = &refreshed.json["profile"];
        let from_cache = &profile["num_splits_answered_from_cache"];
        assert_eq!(*from_cache, num_old, "{request}");
        for request in refreshed
            .profile
            .waves
            .iter()
            .flat_map(|wave| &wave.requests)
        {
            let is_new = !old.contains(&request.object);
            assert!(is_new || request.object.contains("manifest"), "{request:?}");
        }
    }
}

#[test]
fn a_time_window_that_moves_finds_the_splits_inside_it_again() {
    let [engine, _] = engines();
    let cache = memory_cache();
    let index = index(6_000);
    let splits = index.manifest().unwrap().manifest.splits;
    let second_of = |time_ns: i64| time_ns / 1_000_000_000;
    let start = second_of(splits[0].time_range.unwrap().start_ns);
    let end = second_of(splits[3].time_range.unwrap().end_ns) + 1;
    let window = |start: i64, end: i64| {
        json!({"query": "tenant_id:[10 TO 50]", "max_hits": 0, "aggs": histogram(),
            "start_timestamp": start, "end_timestamp": end})
    };
    search(&searcher(&index, &engine, &cache), &window(start, end));
    let moved = window(start + 10, end + 10);
    let response = search(&searcher(&index, &engine, &cache), &moved);
    let without = index.searcher(Arc::clone(&engine), 0, 1).unwrap();
    assert_eq!(body(&response), body(&search(&without, &moved)));
    let from_cache = &response.json["profile"]["num_splits_answered_from_cache"];
    assert_eq!(*from_cache, 3, "all but the oldest split");
}

/// Cache whose entries come back with a flipped bit, or as those of another request.
struct Unreliable {
    inner: Arc<dyn RangeCache>,
    swaps: bool,
}

impl RangeCache for Unreliable {
    fn block_len(&self, class: ByteClass) -> u64 {
        self.inner.block_len(class)
    }

    fn get<'a>(
        &'a self,
        object: &'a str,
        range: Range<u64>,
        class: ByteClass,
    ) -> BoxFuture<'a, Vec<CachedPiece>> {
        self.inner.get(object, range, class)
    }

    fn put<'a>(
        &'a self,
        object: &'a str,
        offset: u64,
        bytes: Bytes,
        class: ByteClass,
    ) -> BoxFuture<'a, ()> {
        self.inner.put(object, offset, bytes, class)
    }

    fn get_entry<'a>(&'a self, key: &'a str, class: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        async move {
            let entry = self.inner.get_entry(self.place_of(key), class).await?;
            let mut bytes = entry.to_vec();
            if !self.swaps {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            Some(bytes.into())
        }
        .boxed()
    }

    fn put_entry<'a>(&'a self, key: &'a str, bytes: Bytes, class: ByteClass) -> BoxFuture<'a, ()> {
        self.inner.put_entry(self.place_of(key), bytes, class)
    }
}

impl Unreliable {
    /// Returns the place of an entry; with `swaps`, all entries of a kind share a place.
    fn place_of<'a>(&self, key: &'a str) -> &'a str {
        match self.swaps {
            true => key.rsplit_once('/').map_or(key, |(kind, _)| kind),
            false => key,
        }
    }
}

#[test]
fn damaged_and_mixed_up_entries_cost_time_and_change_no_answer() {
    let index = index(6_000);
    for (engine, swaps) in engines().iter().zip([false, true]) {
        let cache: Arc<dyn RangeCache> = Arc::new(Unreliable {
            inner: memory_cache(),
            swaps,
        });
        for request in requests() {
            let without = index.searcher(Arc::clone(engine), 0, 1).unwrap();
            let expected = body(&search(&without, &request));
            let response = search(&searcher(&index, engine, &cache), &request);
            assert_eq!(body(&response), expected, "{request}");
            let profile = &response.json["profile"];
            assert_eq!(profile["num_splits_answered_from_cache"], 0);
        }
    }
}

#[test]
fn an_incomplete_answer_is_not_kept() {
    let [engine, _] = engines();
    let cache = memory_cache();
    let index = index(6_000);
    let whole = json!({"query": "body:block", "max_hits": 0, "aggs": histogram()});
    let mut cut = whole.clone();
    cut["budget"] = json!({"max_requests": 3});
    let partial = search(&searcher(&index, &engine, &cache), &cut);
    assert_eq!(partial.json["budget_exhausted"], "max_requests");
    let without = index.searcher(Arc::clone(&engine), 0, 1).unwrap();
    let expected = body(&search(&without, &whole));
    assert_ne!(body(&partial), expected);
    let response = search(&searcher(&index, &engine, &cache), &whole);
    assert_eq!(body(&response), expected);
}
