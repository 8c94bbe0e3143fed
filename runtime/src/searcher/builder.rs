//! Builder of a searcher.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::{LeafRunner, Searcher};
use crate::clock::{Clock, SystemClock};
use crate::fetch::{
    ByIndex, CoalesceOptions, HedgeOptions, HedgeState, OpenIndex, OpenIndexes, OpenOptions,
    RangeFetcher, RetryOptions, RetryState, cache_namespace, open_store,
};
use crate::io::{ManifestKeeper, Namespaces, SharedIo};
use crate::observe::{Observed, SearcherSource};
use crate::{Engine, ManifestOptions, Metrics, RangeCache, SearchError};

/// Default maximum number of concurrent requests of one searcher.
const MAX_CONCURRENT_REQUESTS: usize = 64;

/// Default maximum length of a request, in bytes: longer ranges are fetched in parts.
const MAX_PART_BYTES: u64 = 8 << 20;

/// Names that the guest refuses, because the API uses them in its paths.
const RESERVED_NAMES: [&str; 2] = ["indexes", "_elastic"];

/// The parts of a searcher.
pub(super) struct Settings {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) max_instances: usize,
    pub(super) fetcher: Arc<dyn RangeFetcher>,
    pub(super) max_parallel_leaves: u32,
    /// Runner of leaves elsewhere, and the maximum number of leaves.
    pub(super) leaf_runner: Option<(Arc<dyn LeafRunner>, u32)>,
    pub(super) supply_order: Option<u64>,
    /// True if the guest is told that partial results can be cached.
    pub(super) keeps_partial_results: bool,
    /// The indexes, if they are open by name.
    pub(super) indexes: Option<Arc<OpenIndexes>>,
}

/// Collects the parts of a [`Searcher`].
#[derive(Default)]
pub struct SearcherBuilder {
    engine: Option<Arc<dyn Engine>>,
    fetcher: Option<Arc<dyn RangeFetcher>>,
    indexes: Arc<OpenIndexes>,
    is_by_name: bool,
    cache: Option<Arc<dyn RangeCache>>,
    namespace: String,
    coalesce: CoalesceOptions,
    max_parallel_leaves: Option<u32>,
    leaf_runner: Option<(Arc<dyn LeafRunner>, u32)>,
    max_concurrent_requests: Option<usize>,
    max_part_bytes: Option<u64>,
    retry: RetryOptions,
    hedge: Option<HedgeOptions>,
    manifest: ManifestOptions,
    clock: Option<Arc<dyn Clock>>,
    metrics: Option<Arc<Metrics>>,
    no_partial_results: bool,
    supply_order: Option<u64>,
}

impl SearcherBuilder {
    /// Sets the engine. Required.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Sets the source of the index's objects. Required (or [`SearcherBuilder::uri`]).
    pub fn fetcher(mut self, fetcher: Arc<dyn RangeFetcher>) -> Self {
        self.fetcher = Some(fetcher);
        self
    }

    /// Sets the index's URI (see [`crate::fetch::open_uri`]), which also determines the namespace of
    /// its cache keys: the full path of a folder; otherwise the URI without credentials, and a hash of
    /// the whole URI and of the store's endpoint.
    pub fn uri(mut self, uri: &str, options: &OpenOptions) -> Result<Self, SearchError> {
        self.fetcher = Some(open_store(uri, options)?);
        self.retry = options.retry;
        self.namespace = cache_namespace(uri, options);
        Ok(self)
    }

    /// Adds an index by name, for the search API ([`Searcher::http`]); any number may be added. They share
    /// limits, hedges and the cache, where each has the same keys as if it were open alone.
    ///
    /// # Errors
    /// If the URI is invalid, or if the name is empty, contains a slash, or is taken.
    pub fn index(self, name: &str, uri: &str, options: &OpenOptions) -> Result<Self, SearchError> {
        let fetcher = open_store(uri, options)?;
        let namespace = cache_namespace(uri, options);
        let mut builder = self.index_from(name, fetcher, &namespace)?;
        builder.retry = options.retry;
        Ok(builder)
    }

    /// As [`SearcherBuilder::index`], from a fetcher; its cache keys begin with `namespace`.
    pub fn index_from(
        mut self,
        name: &str,
        fetcher: Arc<dyn RangeFetcher>,
        namespace: &str,
    ) -> Result<Self, SearchError> {
        let index = OpenIndex {
            fetcher,
            namespace: namespace.to_owned(),
        };
        add_index(&self.indexes, name, index)?;
        self.is_by_name = true;
        Ok(self)
    }

    /// Opens indexes by name, possibly none at first: [`Searcher::add_index`] adds them later.
    pub fn by_name(mut self) -> Self {
        self.is_by_name = true;
        self
    }

    /// Sets the cache of fetched data. Without one, every search starts cold.
    pub fn cache(mut self, cache: Arc<dyn RangeCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets whether the cache also keeps partial results of the guest, so that a search over the same
    /// splits only reads the manifest; defaults to true. Without a cache nothing is kept.
    pub fn partial_results(mut self, are_kept: bool) -> Self {
        self.no_partial_results = !are_kept;
        self
    }

    /// Sets the prefix of every key in the cache. Searchers that share a cache need one per index; it
    /// defaults to the URI if there is one.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets the conditions under which near ranges are fetched as one.
    pub fn coalesce(mut self, coalesce: CoalesceOptions) -> Self {
        self.coalesce = coalesce;
        self
    }

    /// Sets the maximum number of parallel leaf sessions of one search, each in its own instance;
    /// defaults to the number of cores. With 1, a search is a single session.
    pub fn max_parallel_leaves(mut self, max_parallel_leaves: u32) -> Self {
        self.max_parallel_leaves = Some(max_parallel_leaves);
        self
    }

    /// Sets a runner for the leaves of searches over the search API and by request: at most
    /// `max_leaves` a search, all but the first on `runner`; leaves that fail there are run here.
    pub fn leaves(mut self, runner: Arc<dyn LeafRunner>, max_leaves: u32) -> Self {
        self.leaf_runner = Some((runner, max_leaves.max(1)));
        self
    }

    /// Sets the maximum number of concurrent requests of all searches; defaults to 64.
    pub fn max_concurrent_requests(mut self, max_concurrent_requests: usize) -> Self {
        self.max_concurrent_requests = Some(max_concurrent_requests);
        self
    }

    /// Sets the maximum length of a request, in bytes; longer ranges are fetched in parallel parts. Defaults to 8 MiB.
    pub fn max_part_bytes(mut self, max_part_bytes: u64) -> Self {
        self.max_part_bytes = Some(max_part_bytes);
        self
    }

    /// Sets the options for retries of failed requests.
    pub fn retry(mut self, retry: RetryOptions) -> Self {
        self.retry = retry;
        self
    }

    /// Sets the conditions under which a second request is sent beside a slow one.
    pub fn hedge(mut self, hedge: HedgeOptions) -> Self {
        self.hedge = Some(hedge);
        self
    }

    /// Sets how long a cached manifest may be used without revalidating it.
    pub fn manifest(mut self, manifest: ManifestOptions) -> Self {
        self.manifest = manifest;
        self
    }

    /// Sets the clock for all waits; defaults to the system's.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets the metrics that count this searcher's work. Several searchers may share them; without
    /// them nothing is exported.
    pub fn metrics(mut self, metrics: Arc<Metrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// Hands supplies to the guest in an order drawn from this seed, for tests. No answer may depend
    /// on it.
    pub fn shuffle_supplies(mut self, seed: u64) -> Self {
        self.supply_order = Some(seed);
        self
    }

    /// Builds the searcher. Reads nothing yet.
    pub fn build(self) -> Result<Searcher, SearchError> {
        let missing = |what: &str| SearchError::invalid(format!("a searcher needs {what}"));
        let engine = self.engine.ok_or_else(|| missing("an engine"))?;
        let (fetcher, namespaces): (Arc<dyn RangeFetcher>, _) = match self.fetcher {
            Some(_) if self.is_by_name => {
                let what = "a searcher has one index, or several by name, and not both";
                return Err(SearchError::invalid(what));
            }
            Some(fetcher) => (fetcher, Namespaces::One(self.namespace.into())),
            None if !self.is_by_name => return Err(missing("an index")),
            None => {
                let indexes = Arc::clone(&self.indexes);
                let namespaces = Namespaces::ByIndex(Arc::clone(&indexes));
                (Arc::new(ByIndex { indexes }), namespaces)
            }
        };
        let indexes = self.is_by_name.then_some(self.indexes);
        let num_cores = std::thread::available_parallelism().map_or(1, usize::from);
        let num_cores = u32::try_from(num_cores).unwrap_or(u32::MAX);
        let max_instances = engine.max_instances().clamp(1, Semaphore::MAX_PERMITS);
        let max_requests = self
            .max_concurrent_requests
            .unwrap_or(MAX_CONCURRENT_REQUESTS)
            .clamp(1, Semaphore::MAX_PERMITS);
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock::new()));
        let metrics = self.metrics.unwrap_or_default();
        let instance_permits = Arc::new(Semaphore::new(max_instances));
        let hedges = HedgeState::new(self.hedge.unwrap_or_default());
        let hedges = Arc::new(hedges.counted_by(&metrics.hedges, &metrics.hedges_won));
        metrics.watch(SearcherSource {
            instance_permits: Arc::downgrade(&instance_permits),
            max_instances,
            hedges: Arc::downgrade(&hedges),
            engine: Some(Arc::downgrade(&engine)),
            cache: self.cache.as_ref().map(Arc::downgrade),
        });
        let fetcher = Arc::new(Observed {
            inner: fetcher,
            clock: Arc::clone(&clock),
            metrics: Arc::clone(&metrics),
        });
        let retries = RetryState::new(self.retry).counted_by(&metrics);
        let keeps_partial_results = self.cache.is_some() && !self.no_partial_results;
        let shared = SharedIo {
            coalesce: self.coalesce,
            max_part_bytes: self.max_part_bytes.unwrap_or(MAX_PART_BYTES).max(1),
            manifest: ManifestKeeper::new(self.manifest),
            metrics,
            ..SharedIo::new(clock, self.cache, namespaces, max_requests)
        };
        Ok(Searcher {
            settings: Settings {
                engine,
                max_instances,
                fetcher,
                max_parallel_leaves: self.max_parallel_leaves.unwrap_or(num_cores).max(1),
                leaf_runner: self.leaf_runner,
                supply_order: self.supply_order,
                keeps_partial_results,
                indexes,
            },
            instance_permits,
            shared: Arc::new(shared),
            retries: Arc::new(retries),
            hedges,
        })
    }
}

/// Adds an index whose name does not collide with a path of the API.
pub(super) fn add_index(
    indexes: &OpenIndexes,
    name: &str,
    index: OpenIndex,
) -> Result<(), SearchError> {
    if name.is_empty() || name.contains('/') || RESERVED_NAMES.contains(&name) {
        return Err(SearchError::invalid(format!(
            "an index cannot have the name {name:?}: it is a part of the API's paths"
        )));
    }
    match indexes.add(name, index) {
        true => Ok(()),
        false => Err(SearchError::invalid(format!(
            "two indexes have the name {name:?}: give one of them another"
        ))),
    }
}
