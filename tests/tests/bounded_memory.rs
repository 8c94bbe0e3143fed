//! Memory limit of the guest: for any number of splits, it opens them in batches and releases them.
//!
//! `CANTER_BOUNDED_SPLITS` sets the number of splits (300 by default).

use std::sync::{Arc, LazyLock};

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Limits, SearchError, SearchResponse};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run_with};
use serde_json::{Value, json};

const NUM_DOCS: u64 = 2_000;

static NUM_SPLITS: LazyLock<u64> = LazyLock::new(|| {
    let asked = std::env::var("CANTER_BOUNDED_SPLITS").ok();
    asked.map_or(300, |text| text.parse().unwrap())
});

static INDEX: LazyLock<TestIndex> = LazyLock::new(|| {
    let lines = hdfs_lines(*NUM_SPLITS * NUM_DOCS, 3).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, NUM_DOCS).unwrap()
});

fn requests() -> Vec<Value> {
    vec![
        json!({"query": "*", "max_hits": 10, "sort_by": "tenant_id"}),
        json!({"query": "severity_text:INFO AND body:src", "max_hits": 10}),
        json!({"query": "severity_text:INFO AND body:src", "max_hits": 10, "sort_by": "-tenant_id"}),
        json!({"query": "body:\"src 10\"", "max_hits": 10}),
        json!({"query": "body:src", "max_hits": 10}),
        json!({"query": "tenant_id:>=0", "max_hits": 0, "aggs": {"t": {"terms": {"field": "tenant_id"}}}}),
        json!({"query": "body:src", "max_hits": 10, "sort_by": "_score"}),
    ]
}

/// Searches with `max_resident_bytes` for splits, in a guest with `max_memory_bytes` in all.
fn search(
    engine: &Arc<dyn Engine>,
    request: &Value,
    max_resident_bytes: Option<u64>,
    max_memory_bytes: usize,
) -> Result<SearchResponse, SearchError> {
    let searcher = INDEX.searcher(Arc::clone(engine), 3, 1).unwrap();
    let mut limits = Limits {
        max_memory_bytes: Some(max_memory_bytes),
        ..Limits::default()
    };
    if let Some(max) = max_resident_bytes {
        let name = "max_resident_bytes".to_owned();
        limits.guest.insert(name, max.into());
    }
    run_with(&searcher, request, &limits)
}

fn wasm() -> Arc<dyn Engine> {
    Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap())
}

fn native() -> Arc<dyn Engine> {
    Arc::new(NativeEngine::new())
}

fn plain(mut answer: Value) -> Value {
    for varies in ["elapsed_time_micros", "profile"] {
        answer.as_object_mut().unwrap().remove(varies);
    }
    answer
}

#[test]
fn answers_do_not_depend_on_how_many_splits_are_open_at_once() {
    for request in requests() {
        let all = search(&native(), &request, Some(1 << 40), 1 << 30).unwrap();
        assert_eq!(all.json["failed_splits"], json!([]));
        assert!(all.json["num_hits"].as_u64() > Some(0), "{request}");
        let expect = plain(all.json);
        let mut waves = vec![all.profile.num_waves];
        for max in [4 << 20, 1 << 20, 3 << 17] {
            let some = search(&native(), &request, Some(max), 1 << 30).unwrap();
            assert_eq!(plain(some.json), expect, "{request}");
            waves.push(some.profile.num_waves);
        }
        println!("{request}: {waves:?} waves");
        assert!(waves.is_sorted(), "{request}: {waves:?}");
        if request["sort_by"] != "_score" {
            assert!(waves[3] > 4 * waves[1], "{request}: {waves:?}");
        }
    }
}

/// The ratio of memory to splits is the same in both cases: 21 MiB, half of which the guest itself
/// needs, for 300 splits, and 128 MiB for 3,000.
#[test]
fn a_search_over_many_splits_keeps_to_its_memory() {
    let (memory, resident) = match *NUM_SPLITS >= 1_000 {
        true => (128 << 20, None),
        false => (21 << 20, Some(6 << 20)),
    };
    for request in requests() {
        let expect = search(&native(), &request, Some(1 << 40), 1 << 30).unwrap();
        let answer = search(&wasm(), &request, resident, memory).unwrap();
        assert_eq!(plain(answer.json), plain(expect.json), "{request}");
        println!("{request}: {} waves", answer.profile.num_waves);
    }
}
