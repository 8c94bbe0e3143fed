//! Guest time of each query, native and in WebAssembly, over the same splits in memory.
//!
//! Each search starts cold, in a fresh instance and one session, without waiting for a network: the
//! time is that of the guest, its instance and the host's loop. `CANTER_BENCH_DOCS` and
//! `CANTER_BENCH_SPLITS` change the size. The native engine has the bench's own profile; the
//! component always has `guest`'s.

use std::sync::Arc;

use anyhow::Result;
use canter_benches::{BenchIndex, Settings, cpu_queries};
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Engine, Limits};
use criterion::Criterion;

fn main() -> Result<()> {
    let settings = Settings::from_env()?;
    eprintln!(
        "indexing {} documents into {} splits",
        settings.num_docs, settings.num_splits
    );
    let index = BenchIndex::build(&settings)?;
    let engines: [Arc<dyn Engine>; 2] = [
        Arc::new(NativeEngine::new()),
        Arc::new(WasmEngine::embedded(WasmOptions::default())?),
    ];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let limits = Limits::default();
    let mut criterion = Criterion::default().configure_from_args();
    for query in cpu_queries() {
        let mut group = criterion.benchmark_group(query.name);
        for engine in &engines {
            let searcher = index.searcher(engine.clone())?;
            // Fails before the measurement if the query does.
            runtime.block_on(searcher.search(&query.request, &limits))?;
            group.bench_function(engine.name(), |bencher| {
                bencher.iter(|| runtime.block_on(searcher.search(&query.request, &limits)));
            });
        }
        group.finish();
    }
    criterion.final_summary();
    Ok(())
}
