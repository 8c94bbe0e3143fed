//! Pins the reads of the queries of `range_budget`, on an index of 40,000 documents in 8 splits.
//!
//! A commit that changes a figure must say so. Waves and requests are exact; bytes are upper
//! bounds, since small changes of a split do not matter.

use std::sync::Arc;

use canter_benches::{BenchIndex, Cost, Settings, budget_queries, measure, table};
use canter_runtime::Engine;
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};

/// Query, waves, requests, and maximum number of bytes.
const PINNED: &[(&str, u64, u64, u64)] = &[
    ("classic 1: severity_text:ERROR", 2, 2, 204_000),
    ("classic 2: * by day and level", 1, 1, 170_000),
    ("body:exception", 3, 3, 193_000),
    ("body:terminating", 3, 3, 183_000),
    ("body:\"exception while serving\"", 3, 10, 760_000),
    ("body:ioexc*", 3, 12, 288_000),
    ("* sorted by tenant_id", 3, 10, 250_000),
    ("* by hour", 1, 1, 170_000),
    ("body:exception by hour", 2, 9, 203_000),
    ("body:exception by 7 minutes", 2, 9, 912_000),
    ("count of *", 1, 1, 170_000),
    ("* by day and level, and an average", 2, 9, 235_000),
    ("* by day and level, of whole hours", 1, 1, 170_000),
    ("* by day and level, from some second on", 2, 2, 186_000),
    ("body:exception by hour, from some second on", 2, 4, 268_000),
];

#[test]
fn queries_read_what_is_pinned_in_both_engines() {
    let settings = Settings {
        num_docs: 40_000,
        num_splits: 8,
        max_parallel_leaves: 1,
    };
    let index = BenchIndex::build(&settings).unwrap();
    let costs = |engine: Arc<dyn Engine>| measure(&index, &engine, &budget_queries()).unwrap();
    let native = costs(Arc::new(NativeEngine::new()));
    let wasm = |bytes_at_once| {
        let options = WasmOptions {
            bytes_at_once,
            ..WasmOptions::default()
        };
        costs(Arc::new(WasmEngine::embedded(options).unwrap()))
    };
    let usual = WasmOptions::default().bytes_at_once;
    assert_eq!(native, wasm(usual), "the engines read differently");
    // The number of waves is independent of the size of the parts that enter the guest.
    assert_eq!(
        native,
        wasm(1),
        "what enters the guest by itself is read differently"
    );
    let is_as_pinned = |(cost, pinned): (&Cost, &(&str, u64, u64, u64))| {
        (cost.name, cost.num_waves, cost.num_requests) == (pinned.0, pinned.1, pinned.2)
            && cost.num_bytes <= pinned.3
    };
    assert!(
        native.len() == PINNED.len() && native.iter().zip(PINNED).all(is_as_pinned),
        "the figures moved; they are now:\n{}",
        table(&native)
    );
}
