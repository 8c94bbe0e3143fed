//! Bytes that were damaged once in transit: they are fetched again, and never kept in a cache.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use canter_runtime::cache::MemoryCache;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::{ByteRange, FetchError, FetchedRange, HedgeOptions, MemoryFetcher};
use canter_runtime::{RangeFetcher, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::json;

/// Flips a bit in the first answer for each object.
struct DamagesFirst {
    inner: MemoryFetcher,
    seen: Mutex<HashSet<String>>,
}

impl RangeFetcher for DamagesFirst {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            let fetched = self.inner.fetch(object, range).await?;
            if !self.seen.lock().unwrap().insert(object.to_owned()) {
                return Ok(fetched);
            }
            let mut bytes = fetched.bytes.to_vec();
            let middle = bytes.len() / 2;
            if let Some(byte) = bytes.get_mut(middle) {
                *byte ^= 1;
            }
            Ok(FetchedRange {
                bytes: bytes.into(),
                ..fetched
            })
        }
        .boxed()
    }
}

#[test]
fn damage_that_passes_changes_no_answer_and_leaves_nothing_behind() {
    let lines = hdfs_lines(6_000, 4).unwrap();
    let index = TestIndex::build(HDFS_LOGS_YAML, &lines, 2_000).unwrap();
    let requests = [
        json!({"query": "body:block", "max_hits": 5, "sort_by": "tenant_id"}),
        json!({"query": "*", "max_hits": 0, "aggs": {"t": {"terms": {"field": "tenant_id"}}}}),
    ];
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    for engine in engines {
        for request in &requests {
            let expected = index.search(request).unwrap().json;
            let cache = Arc::new(MemoryCache::new(64 << 20));
            let fetcher = Arc::new(DamagesFirst {
                inner: index.fetcher(),
                seen: Mutex::default(),
            });
            // The second search uses the entries that the first one left in the cache.
            for _ in 0..2 {
                let searcher = Searcher::builder()
                    .engine(Arc::clone(&engine))
                    .fetcher(fetcher.clone())
                    .cache(cache.clone())
                    .partial_results(false)
                    .hedge(HedgeOptions::off())
                    .max_parallel_leaves(1)
                    .build()
                    .unwrap();
                let answer = run(&searcher, request).unwrap().json;
                for key in ["hits", "num_hits", "aggregations", "failed_splits"] {
                    assert_eq!(answer[key], expected[key], "{key} of {request}");
                }
            }
        }
    }
}
