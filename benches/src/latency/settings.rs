//! Size of the latency bench, from the environment.

use std::path::PathBuf;

use anyhow::Result;

use crate::Settings;
use crate::settings::number;

/// Settings of the latency bench.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencySettings {
    /// Index to build, if necessary. 1,000,000 documents without `CANTER_BENCH_DOCS`.
    pub index: Settings,
    /// `CANTER_BENCH_INDEX`: folder of an index of the same corpus, which is built if missing.
    pub folder: Option<PathBuf>,
    /// `CANTER_BENCH_SEEDS`, by default 1,000: number of searches for each row.
    pub num_seeds: u64,
    /// `CANTER_LATENCY_HEDGING`, by default 0: number of sets of seeds to measure with and without
    /// hedging instead, each with a host of its own.
    pub num_hedging_sets: u64,
    /// `CANTER_LATENCY_SWEEP`, by default 0: 1 prints the sweep over gaps instead.
    pub is_sweep: bool,
}

impl LatencySettings {
    /// Reads the environment.
    pub fn from_env() -> Result<Self> {
        Ok(Self {
            index: Settings {
                num_docs: number("CANTER_BENCH_DOCS", 1_000_000)?,
                // CPU time adds to network time only if leaves run one by one.
                max_parallel_leaves: 1,
                ..Settings::from_env()?
            },
            folder: std::env::var_os("CANTER_BENCH_INDEX").map(PathBuf::from),
            num_seeds: number("CANTER_BENCH_SEEDS", 1000)?,
            num_hedging_sets: number("CANTER_LATENCY_HEDGING", 0)?,
            is_sweep: number("CANTER_LATENCY_SWEEP", 0u8)? != 0,
        })
    }
}
