//! The size of the latency bench, from the environment.

use std::path::PathBuf;

use anyhow::Result;

use crate::Settings;
use crate::settings::number;

/// What the latency bench runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencySettings {
    /// The index, if it has to be built. 1,000,000 documents if `CANTER_BENCH_DOCS` is not set.
    pub index: Settings,
    /// `CANTER_BENCH_INDEX`: a folder with an index of the same corpus, or one that gets it.
    pub folder: Option<PathBuf>,
    /// `CANTER_BENCH_SEEDS`, 1,000 if it is not set: searches of each row.
    pub num_seeds: u64,
    /// `CANTER_LATENCY_HEDGING`, 0 if it is not set: so many sets of seeds, each with a host of its own, with
    /// and without hedging instead.
    pub num_hedging_sets: u64,
    /// `CANTER_LATENCY_SWEEP`, 0 if it is not set: 1 prints the sweep over gaps instead.
    pub is_sweep: bool,
}

impl LatencySettings {
    /// Reads the environment.
    pub fn from_env() -> Result<Self> {
        Ok(Self {
            index: Settings {
                num_docs: number("CANTER_BENCH_DOCS", 1_000_000)?,
                // The CPU's time adds to the network's only if nothing runs beside it.
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
