//! One query in one state of the caches, over many seeds.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use canter_runtime::cache::{CacheOptions, DiskCache, MemoryCache, TieredCache};
use canter_runtime::clock::CpuTime;
use canter_runtime::fetch::HedgeOptions;
use canter_runtime::{RangeCache, SearchError};

use super::{Host, Lab, Sample, Setup};
use crate::Query;

/// Number of searches that a host performs before the measured ones, to know its store.
pub(super) const NUM_HISTORY: u64 = 200;

/// Number of runs whose median is the CPU time.
const NUM_CPU_RUNS: usize = 21;

/// First seed of searches that are not measured.
const HISTORY_SEED: u64 = 1 << 32;

/// State of the caches before a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Empty. One host, which has performed 200 searches on its store before.
    Cold,
    /// Empty, without hedging.
    ColdUnhedged,
    /// In memory, filled by the previous search. The manifest is revalidated.
    WarmMemory,
    /// In a folder, filled by another process: each search is the first of its host.
    WarmDisk,
    /// In a folder, including the partial results of the same search.
    WarmPartial,
}

impl State {
    /// All states, in the order of the table.
    pub const ALL: [Self; 5] = [
        Self::Cold,
        Self::ColdUnhedged,
        Self::WarmMemory,
        Self::WarmDisk,
        Self::WarmPartial,
    ];

    /// Returns the name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::ColdUnhedged => "cold, no hedging",
            Self::WarmMemory => "warm, memory",
            Self::WarmDisk => "warm, folder, new process",
            Self::WarmPartial => "warm, partial results, new process",
        }
    }

    fn setup(self) -> Setup {
        let hedge = match self {
            Self::ColdUnhedged => HedgeOptions::off(),
            _ => HedgeOptions::default(),
        };
        Setup {
            hedge,
            keeps_partial_results: self == Self::WarmPartial,
            ..Setup::default()
        }
    }

    /// Creates the cache of one process, if the state has any.
    fn cache(self, folder: &Path) -> Result<Option<Arc<dyn RangeCache>>, SearchError> {
        let memory = || Arc::new(MemoryCache::new(CacheOptions::memory().max_bytes() as usize));
        Ok(match self {
            Self::Cold | Self::ColdUnhedged => None,
            Self::WarmMemory => Some(memory()),
            Self::WarmDisk | Self::WarmPartial => {
                let disk = Arc::new(DiskCache::open(folder, &CacheOptions::disk())?);
                Some(Arc::new(TieredCache::new(memory(), disk)))
            }
        })
    }

    /// Returns whether each search has a host of its own.
    fn is_process_each(self) -> bool {
        matches!(self, Self::WarmDisk | Self::WarmPartial)
    }
}

/// Row of the table. Counts are means over the seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the query.
    pub query: &'static str,
    /// State of the caches.
    pub state: State,
    /// Number of requests of one search, including hedges.
    pub num_requests: f64,
    /// Hedges in percent of the other requests, including the searches before the measured ones:
    /// the budget that a host accumulates there is spent on the measured searches.
    pub extra_percent: f64,
    /// Number of bytes over the network.
    pub num_bytes: f64,
    /// Number of dependent rounds.
    pub num_waves: f64,
    /// CPU time of guest and cache, the same for all seeds.
    pub cpu: Duration,
    /// Time of each seed's search without the CPU time, shortest first.
    pub network: Vec<Duration>,
}

impl Row {
    /// Returns a quantile of the search time, including the CPU time.
    pub fn quantile(&self, share: f64) -> Duration {
        self.network_quantile(share) + self.cpu
    }

    /// Returns a quantile of the network time.
    pub fn network_quantile(&self, share: f64) -> Duration {
        let rank = (share * self.network.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.network.len().max(1)) - 1;
        self.network.get(at).copied().unwrap_or_default()
    }
}

/// Measures `query` in all states; see [`measure_row`].
pub fn measure_rows(lab: &Lab, query: &Query, num_seeds: u64, with_cpu: bool) -> Result<Vec<Row>> {
    State::ALL
        .into_iter()
        .inspect(|state| eprintln!("{}, {} ...", query.name, state.name()))
        .map(|state| measure_row(lab, query, state, 1..=num_seeds, with_cpu))
        .collect()
}

/// Measures `query` in one state, with one search for each seed. Without `with_cpu`, computation
/// takes no time.
pub fn measure_row(
    lab: &Lab,
    query: &Query,
    state: State,
    seeds: RangeInclusive<u64>,
    with_cpu: bool,
) -> Result<Row> {
    let searches = Searches::new(lab, query, state, state.setup())?;
    let samples = searches.take(seeds)?;
    let mut cpu = Duration::ZERO;
    if with_cpu {
        let setup = Setup {
            network: None,
            cpu: CpuTime::Measured,
            ..state.setup()
        };
        let mut runs: Vec<Duration> = Searches::new(lab, query, state, setup)?
            .take(1..=NUM_CPU_RUNS as u64)?
            .iter()
            .map(|sample| sample.took)
            .collect();
        runs.sort_unstable();
        cpu = runs[NUM_CPU_RUNS / 2];
    }
    ensure!(
        samples
            .iter()
            .all(|sample| sample.num_hits == samples[0].num_hits),
        "{}, {}: the number of hits depends on the network's luck",
        query.name,
        state.name()
    );
    let sum = |count: fn(&Sample) -> u64| samples.iter().map(count).sum::<u64>() as f64;
    let num_requests = sum(|sample| sample.num_requests);
    let all = || searches.history.iter().chain(&samples);
    let num_hedges: u64 = all().map(|sample| sample.num_hedges).sum();
    let num_firsts: u64 = all().map(|s| s.num_requests - s.num_hedges).sum();
    let num_samples = samples.len() as f64;
    let mut network: Vec<Duration> = samples.iter().map(|sample| sample.took).collect();
    network.sort_unstable();
    Ok(Row {
        query: query.name,
        state,
        num_requests: num_requests / num_samples,
        extra_percent: 100.0 * num_hedges as f64 / num_firsts.max(1) as f64,
        num_bytes: sum(|sample| sample.num_bytes) / num_samples,
        num_waves: sum(|sample| sample.num_waves) / num_samples,
        cpu,
        network,
    })
}

/// Consecutive searches in one state.
struct Searches<'a> {
    lab: &'a Lab,
    query: &'a Query,
    state: State,
    setup: Setup,
    folder: tempfile::TempDir,
    host: Host<'a>,
    /// Earlier searches of the host; empty if each search has a host of its own.
    history: Vec<Sample>,
}

impl<'a> Searches<'a> {
    /// Brings caches and hosts into the state.
    fn new(lab: &'a Lab, query: &'a Query, state: State, setup: Setup) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let with_cache = Setup {
            cache: state.cache(folder.path())?,
            ..setup.clone()
        };
        let host = lab.host(&with_cache)?;
        let num_before = if state.is_process_each() {
            2
        } else {
            NUM_HISTORY
        };
        let mut history = (0..num_before)
            .map(|seed| host.search(query, HISTORY_SEED + seed))
            .collect::<Result<Vec<_>>>()?;
        if state.is_process_each() {
            history.clear();
        }
        host.flush();
        Ok(Self {
            lab,
            query,
            state,
            setup,
            folder,
            host,
            history,
        })
    }

    fn take(&self, seeds: impl Iterator<Item = u64>) -> Result<Vec<Sample>> {
        seeds
            .map(|seed| {
                if !self.state.is_process_each() {
                    return self.host.search(self.query, seed);
                }
                let setup = Setup {
                    cache: self.state.cache(self.folder.path())?,
                    ..self.setup.clone()
                };
                let host = self.lab.host(&setup)?;
                host.search(self.query, seed)
            })
            .collect()
    }
}
