//! Waves, requests and bytes of a fixed list of queries, cold, as a table. Nothing is timed, so
//! this needs neither a quiet machine nor a release build: `cargo bench --profile dev --bench
//! range_budget`.
//!
//! `CANTER_BENCH_DOCS`, `CANTER_BENCH_SPLITS` and `CANTER_BENCH_LEAVES` change the size. The bench
//! fails if a query exceeds its budget.

use std::sync::Arc;

use anyhow::Result;
use canter_benches::{BenchIndex, Settings, budget_queries, measure, table};
use canter_runtime::Engine;
use canter_runtime::engine::{WasmEngine, WasmOptions};

fn main() -> Result<()> {
    let settings = Settings::from_env()?;
    eprintln!(
        "indexing {} documents into {} splits",
        settings.num_docs, settings.num_splits
    );
    let index = BenchIndex::build(&settings)?;
    let engine: Arc<dyn Engine> = Arc::new(WasmEngine::embedded(WasmOptions::default())?);
    let costs = measure(&index, &engine, &budget_queries())?;
    print!("{}", table(&costs));
    Ok(())
}
