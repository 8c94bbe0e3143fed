//! Index, and hosts that search it behind a simulated network.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use canter_lab::{LatencyModel, SimulatedStore};
use canter_runtime::clock::{Clock, CpuTime, VirtualClock};
use canter_runtime::fetch::{CoalesceOptions, HedgeOptions, OpenOptions, open_uri};
use canter_runtime::{Engine, Limits, RangeCache, RangeFetcher, Searcher};
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::cache::TimedCache;
use crate::index::build_index;
use crate::{Query, Settings};

/// Index in a folder, and the engine that searches it.
pub struct Lab {
    engine: Arc<dyn Engine>,
    objects: Arc<dyn RangeFetcher>,
    runtime: Runtime,
    /// Number of documents in the index.
    pub num_docs: u64,
    /// Number of splits in the index.
    pub num_splits: u64,
    _folder: Option<TempDir>,
}

/// Settings of one host.
#[derive(Clone)]
pub struct Setup {
    /// Network model; `None` takes no time.
    pub network: Option<LatencyModel>,
    /// True if computation takes time.
    pub cpu: CpuTime,
    /// Settings of hedging.
    pub hedge: HedgeOptions,
    /// Settings of coalescing.
    pub coalesce: CoalesceOptions,
    /// Cache with earlier reads.
    pub cache: Option<Arc<dyn RangeCache>>,
    /// True if partial results are cached.
    pub keeps_partial_results: bool,
}

impl Default for Setup {
    /// Returns S3 without a cache, where computation takes no time.
    fn default() -> Self {
        Self {
            network: Some(LatencyModel::s3()),
            cpu: CpuTime::Ignored,
            hedge: HedgeOptions::default(),
            coalesce: CoalesceOptions::default(),
            cache: None,
            keeps_partial_results: false,
        }
    }
}

/// Measurement of one search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Virtual time from the request to the answer.
    pub took: Duration,
    /// Number of requests to the store, including hedges.
    pub num_requests: u64,
    /// Number of hedges among them.
    pub num_hedges: u64,
    /// Number of bytes over the network, including those of abandoned requests.
    pub num_bytes: u64,
    /// Number of dependent rounds to the store.
    pub num_waves: u64,
    /// Total number of hits.
    pub num_hits: u64,
}

impl Lab {
    /// Opens the index in `folder`, and builds it if it is missing. Without a folder, uses a
    /// temporary one.
    pub fn open(
        settings: &Settings,
        folder: Option<PathBuf>,
        engine: Arc<dyn Engine>,
    ) -> Result<Self> {
        let mut temporary = None;
        let path = match folder {
            Some(folder) => folder,
            None => temporary.insert(tempfile::tempdir()?).path().to_owned(),
        };
        if !path.join("manifest.canter").exists() {
            std::fs::create_dir_all(&path)?;
            build_index(&path, settings)?;
        }
        let uri = path.to_str().context("the folder's name is not UTF-8")?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let mut lab = Self {
            engine,
            objects: open_uri(uri, &OpenOptions::default())?,
            runtime,
            num_docs: 0,
            num_splits: 0,
            _folder: temporary,
        };
        lab.look_around()?;
        Ok(lab)
    }

    /// Counts documents and splits.
    fn look_around(&mut self) -> Result<()> {
        let request = json!({"query": "*", "max_hits": 0, "profile": true});
        let searcher = Searcher::builder()
            .engine(self.engine.clone())
            .fetcher(self.objects.clone())
            .max_parallel_leaves(1)
            .build()?;
        let answer = self
            .runtime
            .block_on(searcher.search(&request, &Limits::default()))?
            .json;
        self.num_docs = answer["num_hits"].as_u64().context("num_hits")?;
        self.num_splits = answer["profile"]["num_splits"]
            .as_u64()
            .context("num_splits")?;
        Ok(())
    }

    /// Creates a host of the index without knowledge of its store.
    pub fn host(&self, setup: &Setup) -> Result<Host<'_>> {
        let clock = Arc::new(VirtualClock::new(setup.cpu));
        let network = setup.network.clone().unwrap_or_else(|| LatencyModel {
            base: Duration::ZERO,
            median: Duration::ZERO,
            cap: Duration::ZERO,
            bytes_per_second: u64::MAX,
            ..LatencyModel::s3()
        });
        let store = Arc::new(SimulatedStore::new(
            self.objects.clone(),
            network,
            clock.clone(),
        ));
        let mut builder = Searcher::builder()
            .engine(self.engine.clone())
            .fetcher(store.clone())
            .clock(clock.clone())
            .hedge(setup.hedge)
            .coalesce(setup.coalesce)
            .partial_results(setup.keeps_partial_results)
            .max_parallel_leaves(1);
        let spent_ns = Arc::new(AtomicU64::new(0));
        if let Some(inner) = setup.cache.clone() {
            builder = builder.cache(Arc::new(TimedCache {
                inner,
                clock: clock.clone(),
                spent_ns: spent_ns.clone(),
            }));
        }
        Ok(Host {
            lab: self,
            searcher: builder.build()?,
            store,
            clock,
            cpu: setup.cpu,
            cache: setup.cache.clone(),
            spent_ns,
        })
    }
}

/// Searcher that serves many searches, like a server.
pub struct Host<'a> {
    lab: &'a Lab,
    searcher: Searcher,
    store: Arc<SimulatedStore>,
    clock: Arc<VirtualClock>,
    cpu: CpuTime,
    cache: Option<Arc<dyn RangeCache>>,
    /// Time spent by the cache on look-ups.
    spent_ns: Arc<AtomicU64>,
}

impl Host<'_> {
    /// Searches once, with the network drawn from `seed`. Fails if a split fails or a warmup is
    /// incomplete.
    pub fn search(&self, query: &Query, seed: u64) -> Result<Sample> {
        let mut request = query.request.clone();
        request["profile"] = json!(true);
        self.store.reseed(seed);
        self.spent_ns.store(0, Ordering::Relaxed);
        let (started, before) = (self.clock.now(), self.store.traffic());
        let limits = Limits::default();
        let search = self.searcher.search(&request, &limits);
        let response = self
            .lab
            .runtime
            .block_on(self.clock.run(search))
            .with_context(|| query.name)?;
        let after = self.store.traffic();
        let json = &response.json;
        let gaps = &json["profile"]["warmup_gaps"];
        ensure!(
            json["failed_splits"] == json!([]) && *gaps == json!(0),
            "{}: failed splits {}, {gaps} warmup gaps",
            query.name,
            json["failed_splits"],
        );
        // The profile omits a hedge of a revalidation that brought nothing.
        let num_requests = after.num_requests - before.num_requests;
        let num_firsts = response.profile.num_requests - response.profile.num_hedges;
        let in_cache = match self.cpu {
            CpuTime::Measured => Duration::from_nanos(self.spent_ns.load(Ordering::Relaxed)),
            CpuTime::Ignored => Duration::ZERO,
        };
        Ok(Sample {
            took: self.clock.now() - started + in_cache,
            num_requests,
            num_hedges: num_requests - num_firsts,
            num_bytes: after.num_bytes - before.num_bytes,
            num_waves: response.profile.num_waves,
            num_hits: json["num_hits"].as_u64().context("num_hits")?,
        })
    }

    /// Waits until the cached data is where another process finds it.
    pub fn flush(&self) {
        if let Some(cache) = &self.cache {
            self.lab.runtime.block_on(cache.flush());
        }
    }
}
