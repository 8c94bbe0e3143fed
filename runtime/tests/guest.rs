//! The real guest in both engines, over an index that does not exist.
//!
//! Requires the output of `cargo xtask guest`. The `tests` crate, which can build indexes, tests the
//! guest's answers.

#![cfg(all(feature = "native", feature = "wasm"))]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use canter_runtime::engine::{CodeOrigin, InstanceLimits, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::MemoryFetcher;
use canter_runtime::session::{HostReport, HttpRequest, Progress, SessionRequest};
use canter_runtime::{Engine, ErrorKind, Interrupt, Limits, SearchError, Searcher};
use serde_json::{Value, json};

fn engines() -> [Arc<dyn Engine>; 2] {
    let options = WasmOptions::default().with_default_cache_dir();
    let wasm = WasmEngine::embedded(options).unwrap();
    [Arc::new(wasm), Arc::new(NativeEngine::new())]
}

async fn search(engine: Arc<dyn Engine>, request: &Value, max_parallel_leaves: u32) -> SearchError {
    let searcher = Searcher::builder()
        .engine(engine)
        .fetcher(Arc::new(MemoryFetcher::new()))
        .max_parallel_leaves(max_parallel_leaves)
        .build()
        .unwrap();
    let result = searcher.search(request, &Limits::default()).await;
    result.unwrap_err()
}

#[tokio::test]
async fn an_absent_index_is_the_same_error_in_both_engines() {
    let request = json!({"query": "*"});
    for max_parallel_leaves in [1, 2] {
        let [wasm, native] = engines();
        let wasm = search(wasm, &request, max_parallel_leaves).await;
        let native = search(native, &request, max_parallel_leaves).await;
        assert_eq!(wasm, native);
        assert_ne!(wasm.kind, ErrorKind::Internal, "{wasm}");
    }
}

#[tokio::test]
async fn a_wrong_request_is_the_same_error_in_both_engines() {
    let request = json!({"query": "*", "no_such_key": 1});
    let [wasm, native] = engines();
    let wasm = search(wasm, &request, 2).await;
    assert_eq!(wasm, search(native, &request, 2).await);
    assert_eq!(wasm.kind, ErrorKind::Invalid, "{wasm}");
}

/// The bench `instantiate` measures this time.
#[test]
fn an_instance_gives_back_its_place_and_its_memory_when_it_is_gone() {
    let options = WasmOptions {
        max_instances: 1,
        ..WasmOptions::default()
    };
    let wasm = WasmEngine::embedded(options).unwrap();
    let limits = InstanceLimits {
        interrupt: Interrupt::after(Instant::now(), Duration::MAX),
        max_memory_bytes: None,
    };
    let mut lens = BTreeSet::new();
    for _ in 0..50 {
        let instance = wasm.start(&limits).unwrap();
        lens.insert(wasm.memory_bytes());
        drop(instance);
        assert_eq!(wasm.memory_bytes(), Some(0));
    }
    // All of them begin with the same size.
    assert_eq!(lens.len(), 1, "{lens:?}");
}

/// A search that has ended leaves its instance to the next one, if that is allowed and the instance is small enough.
#[tokio::test]
async fn an_instance_goes_from_search_to_search() {
    let begin = |max_idle_bytes| {
        let options = WasmOptions {
            max_idle_bytes,
            ..WasmOptions::default()
        };
        WasmEngine::embedded(options).unwrap()
    };
    let limits = |max_memory_bytes| InstanceLimits {
        interrupt: Interrupt::after(Instant::now(), Duration::MAX),
        max_memory_bytes,
    };
    let search = |engine: &WasmEngine, max_memory_bytes| {
        let mut instance = engine.start(&limits(max_memory_bytes)).unwrap();
        let request = SessionRequest::Http {
            request: HttpRequest::default(),
            settings: json!({"indexes": [], "is_of_host": true}).to_string(),
            max_leaves: 1,
        };
        instance.open(request).unwrap();
        // It requests the manifest, and gets no answer: the search is abandoned.
        let asked = instance.step(Vec::new(), HostReport::default()).unwrap();
        assert!(matches!(asked, Progress::Pending(_)));
        engine.memory_bytes().unwrap()
    };
    let engine = begin(64 << 20);
    let len = search(&engine, None);
    assert_eq!(engine.memory_bytes(), Some(len));
    for _ in 0..100 {
        assert_eq!(search(&engine, None), len);
    }
    // A search with a small memory limit gets a fresh instance.
    let little = usize::try_from(len).unwrap() + 1;
    assert!(search(&engine, Some(little)) > len);

    let engine = begin(usize::try_from(len).unwrap() - 1);
    assert_eq!(search(&engine, None), len);
    assert_eq!(engine.memory_bytes(), Some(0));
    let engine = begin(0);
    assert_eq!(search(&engine, None), len);
    assert_eq!(engine.memory_bytes(), Some(0));
}

/// Compiling takes seconds, and requires a compiler that may run.
#[test]
fn loading_the_precompiled_guest_takes_no_compiler() {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    assert_eq!(wasm.origin(), CodeOrigin::Precompiled);
    assert_eq!(wasm.warning(), None);
}

/// The code is not copied when it is loaded: the pages of the file are executed.
#[cfg(all(target_os = "linux", not(canter_embed_guest)))]
#[test]
fn the_precompiled_guest_is_run_where_it_lies() {
    let _wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let is_code = |line: &&str| line.contains(" r-xp ") && line.ends_with("/canter-guest.cwasm");
    assert!(maps.lines().any(|line| is_code(&line)), "{maps}");
}
