//! The size of a bench, from the environment.

use std::str::FromStr;

use anyhow::{Context, Result};

/// The corpus of every bench and of the test that pins the budgets.
pub const SEED: u64 = 42;

/// How large an index is, and how it is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// `CANTER_BENCH_DOCS`, 200,000 if it is not set.
    pub num_docs: u64,
    /// `CANTER_BENCH_SPLITS`, 8 if it is not set.
    pub num_splits: u64,
    /// `CANTER_BENCH_LEAVES`, 1 if it is not set: how many parts of one search may run at once.
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
