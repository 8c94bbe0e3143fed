//! p50, p90 and p99 of the two classic queries from a simulated S3, cold and warm, compared with
//! the targets: `cargo bench --bench latency` (or with `--profile dev`, which compiles nothing
//! twice; the searching component is the same).
//!
//! | variable | meaning |
//! |---|---|
//! | `CANTER_BENCH_DOCS`, `CANTER_BENCH_SPLITS` | size of the index; 1,000,000 documents in 8 splits |
//! | `CANTER_BENCH_INDEX` | folder of the index, which is built if missing; otherwise it is built each time |
//! | `CANTER_BENCH_SEEDS` | number of searches for each row; 1,000 |
//! | `CANTER_LATENCY_HEDGING=10` | p99 of the first query with and without hedging instead, over 10 sets of seeds |
//! | `CANTER_LATENCY_SWEEP=1` | requests, bytes and time by the gap that coalescing closes instead |

use std::sync::Arc;

use anyhow::Result;
use canter_benches::latency::{
    Lab, LatencySettings, hedging_table, latency_table, measure_hedging, measure_rows, sweep,
    sweep_table, verdicts,
};
use canter_benches::{budget_queries, classic_queries};
use canter_runtime::Engine;
use canter_runtime::engine::{WasmEngine, WasmOptions};

fn main() -> Result<()> {
    let settings = LatencySettings::from_env()?;
    let engine: Arc<dyn Engine> = Arc::new(WasmEngine::embedded(WasmOptions::default())?);
    let lab = Lab::open(&settings.index, settings.folder.clone(), engine)?;
    println!(
        "{} documents in {} splits, {} seeds; S3 model: first byte after 15 ms + lognormal (median 15 ms, \
         sigma 1.797), at most 300 ms; 80 MB/s shared",
        lab.num_docs, lab.num_splits, settings.num_seeds
    );
    if settings.is_sweep {
        print!(
            "{}",
            sweep_table(&sweep(&lab, &budget_queries(), settings.num_seeds)?)
        );
        return Ok(());
    }
    if settings.num_hedging_sets > 0 {
        let [query, _] = classic_queries();
        let sets = measure_hedging(&lab, &query, settings.num_hedging_sets, settings.num_seeds)?;
        print!("{}", hedging_table(&sets));
        return Ok(());
    }
    println!(
        "network: exact, by seed; CPU: median of 21 runs on this machine, added to each search; hosts of \
         the rows without \"new process\" have answered 200 such searches before"
    );
    let [term, histogram] = classic_queries();
    let term = measure_rows(&lab, &term, settings.num_seeds, true)?;
    let histogram = measure_rows(&lab, &histogram, settings.num_seeds, true)?;
    let rows: Vec<_> = term.iter().chain(&histogram).cloned().collect();
    print!("{}", latency_table(&rows));
    for verdict in verdicts(&term, &histogram) {
        let is_met = if verdict.is_met { "met    " } else { "NOT MET" };
        println!("{is_met}  {}: {}", verdict.target, verdict.measured);
    }
    Ok(())
}
