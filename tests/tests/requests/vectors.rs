//! Costs of the nearest vectors, on both engines.

use std::sync::Arc;

use canter_runtime::Engine;
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_tests::{TestIndex, run};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const CONFIG: &str = "
version: 0.9
index_id: vectors
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: v, type: dense_vector, dims: 64}
    - {name: small, type: dense_vector, dims: 4, similarity: l2_norm}
";

const NUM_DOCS: usize = 12_000;

fn index() -> TestIndex {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut draw = |len: usize| -> Vec<f32> {
        let numbers = (0..len).map(|_| random.random_range(-1.0f32..1.0));
        numbers.map(|number| (number * 1e3).round() / 1e3).collect()
    };
    let lines: Vec<String> = (0..NUM_DOCS)
        .map(|n| json!({"n": n, "v": draw(64), "small": draw(4)}).to_string())
        .collect();
    TestIndex::build(CONFIG, &lines, 4_000).unwrap()
}

fn knn(field: &str, len: usize, filter: Option<Value>) -> Value {
    let vector: Vec<f32> = (0..len).map(|at| (at as f32 + 1.0).sin()).collect();
    let mut knn = json!({"field": field, "query_vector": vector, "k": 10});
    if let Some(filter) = filter {
        knn["filter"] = filter;
    }
    json!({"query": {"knn": knn}, "max_hits": 10, "sort_by": "_score", "profile": true})
}

#[test]
fn the_nearest_are_found_in_few_waves_and_alike_on_both_engines() {
    let index = index();
    let wasm: Arc<dyn Engine> = Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap());
    let few = json!({"range": {"n": {"lt": 20}}});
    // Waves: the manifest; clusters; exact vectors; documents. A filter that is a column comes before.
    for (request, waves, requests, bytes) in [
        (knn("v", 64, None), 4, 28, 1_700_000),
        (knn("small", 4, None), 3, 15, 600_000),
        (knn("v", 64, Some(few)), 4, 10, 800_000),
    ] {
        let native = index.searcher(Arc::new(NativeEngine::new()), 1, 1).unwrap();
        let answer = run(&native, &request).unwrap();
        let profile = &answer.profile;
        println!(
            "{} waves, {} requests, {} bytes",
            profile.num_waves, profile.num_requests, profile.num_bytes
        );
        assert_eq!(answer.json["num_hits"], json!(10));
        assert!(profile.num_waves <= waves, "{} waves", profile.num_waves);
        assert!(
            profile.num_requests <= requests,
            "{} requests",
            profile.num_requests
        );
        assert!(profile.num_bytes <= bytes, "{} bytes", profile.num_bytes);
        let other = index.searcher(Arc::clone(&wasm), 2, 1).unwrap();
        let other = run(&other, &request).unwrap();
        assert_eq!(answer.json["hits"], other.json["hits"]);
        // A divided search names the same documents to its leaves.
        let divided = index.searcher(Arc::new(NativeEngine::new()), 3, 3).unwrap();
        let divided = canter_tests::run_divided(&divided, &request).unwrap();
        assert_eq!(answer.json["hits"], divided.json["hits"]);
    }
}
