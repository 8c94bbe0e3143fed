//! Size of a bench, from the environment.

use std::str::FromStr;

use anyhow::{Context, Result};

/// Seed of the corpus in every bench and in the test of the budgets.
pub const SEED: u64 = 42;

/// Size of an index, and settings for searching it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `CANTER_BENCH_DOCS`, by default 200,000.
    pub num_docs: u64,
    /// `CANTER_BENCH_SPLITS`, by default 8.
    pub num_splits: u64,
    /// `CANTER_BENCH_LEAVES`, by default 1: maximum number of leaves of one search that run
    /// concurrently.
    pub max_parallel_leaves: u32,
}

impl Settings {
    /// Reads the environment.
    pub fn from_env() -> Result<Self> {
        Ok(Self {
            num_docs: number("CANTER_BENCH_DOCS", 200_000)?,
            num_splits: number("CANTER_BENCH_SPLITS", 8)?,
            max_parallel_leaves: number("CANTER_BENCH_LEAVES", 1)?,
        })
    }
}

pub(crate) fn number<T: FromStr<Err: std::error::Error + Send + Sync + 'static>>(
    name: &str,
    default: T,
) -> Result<T> {
    match std::env::var(name) {
        Ok(text) => text
            .parse()
            .with_context(|| format!("{name}={text:?} is not a count")),
        Err(_) => Ok(default),
    }
}
