//! Guest time of the engine queries, native and in WebAssembly, with their ratios and geometric
//! mean.
//!
//! `CANTER_BENCH_INDEX` names an index of the HDFS corpus in a folder or a bucket. Without it, an
//! index of `CANTER_BENCH_DOCS` documents in `CANTER_BENCH_SPLITS` splits is built. The minimum of
//! `CANTER_BENCH_RUNS` (5) runs counts; each search is one session. `CANTER_BENCH_ENGINE=native`
//! (or `wasm`) selects one engine, for profilers. An argument selects the queries whose names
//! contain it. The native engine has the bench's own profile; the component always has `guest`'s.

use std::sync::Arc;

use anyhow::{Result, bail};
use canter_benches::{
    BenchIndex, Settings, engine_queries, measure_guest, open_index, times_table,
};
use canter_runtime::Engine;
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};

fn main() -> Result<()> {
    let part = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let part = part.unwrap_or_default();
    let num_runs = match std::env::var("CANTER_BENCH_RUNS") {
        Ok(runs) => runs.parse()?,
        Err(_) => 5,
    };
    let engines = engines(&std::env::var("CANTER_BENCH_ENGINE").unwrap_or_default())?;
    let searchers = match std::env::var("CANTER_BENCH_INDEX") {
        Ok(uri) => engines
            .iter()
            .map(|engine| open_index(&uri, engine.clone()))
            .collect::<Result<Vec<_>>>()?,
        Err(_) => {
            let index = BenchIndex::build(&Settings::from_env()?)?;
            let searchers = engines.iter().map(|engine| index.searcher(engine.clone()));
            searchers.collect::<Result<_>>()?
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut times = Vec::new();
    for query in engine_queries() {
        if query.name.contains(&part) {
            times.push(runtime.block_on(measure_guest(&searchers, &query, num_runs))?);
        }
    }
    print!("{}", times_table(&engines, &times));
    Ok(())
}

fn engines(only: &str) -> Result<Vec<Arc<dyn Engine>>> {
    let native = || -> Arc<dyn Engine> { Arc::new(NativeEngine::new()) };
    let wasm = || -> Result<Arc<dyn Engine>> {
        Ok(Arc::new(WasmEngine::embedded(WasmOptions::default())?))
    };
    Ok(match only {
        "" => vec![native(), wasm()?],
        "native" => vec![native()],
        "wasm" => vec![wasm()?],
        other => bail!("CANTER_BENCH_ENGINE={other:?} is no engine: native or wasm"),
    })
}
