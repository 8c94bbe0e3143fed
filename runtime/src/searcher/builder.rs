//! Puts a searcher together from its parts.

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

/// Default number of requests in flight at once, over all searches of one searcher.
const MAX_CONCURRENT_REQUESTS: usize = 64;

/// Default length of the parts in which a long range is fetched.
const MAX_PART_BYTES: u64 = 8 << 20;

/// Names that the guest refuses, because the API has paths of theirs.
const RESERVED_NAMES: [&str; 2] = ["indexes", "_elastic"];

/// The parts of a searcher.
pub(super) struct Settings {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) max_instances: usize,
    pub(super) fetcher: Arc<dyn RangeFetcher>,
    pub(super) max_parallel_leaves: u32,
    /// Who runs leaves elsewhere, and how many at most.
    pub(super) leaf_runner: Option<(Arc<dyn LeafRunner>, u32)>,
    pub(super) supply_order: Option<u64>,
    /// Whether the guest is told that there is a cache for what it computes.
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
    /// The engine that searches. Required.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Where the index's objects come from. Required (or [`SearcherBuilder::uri`]).
    pub fn fetcher(mut self, fetcher: Arc<dyn RangeFetcher>) -> Self {
        self.fetcher = Some(fetcher);
        self
    }

    /// The index's URI (see [`crate::fetch::open_uri`]). It also gives the namespace of its cache keys:
    /// the full path of a folder; otherwise the URI without credentials, and a hash of the whole and of
    /// the store's endpoint.
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
    /// If the URI cannot be used, or if the name is empty, holds a slash, or is another index's already.
    pub fn index(self, name: &str, uri: &str, options: &OpenOptions) -> Result<Self, SearchError> {
        let fetcher = open_store(uri, options)?;
        let namespace = cache_namespace(uri, options);
        let mut builder = self.index_from(name, fetcher, &namespace)?;
        builder.retry = options.retry;
        Ok(builder)
    }

    /// As [`SearcherBuilder::index`], from a fetcher; `namespace` begins its keys in the cache.
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

    /// Indexes are open by name, and there may be none yet: [`Searcher::add_index`] adds them later.
    pub fn by_name(mut self) -> Self {
        self.is_by_name = true;
        self
    }

    /// Keeps what was fetched for later searches. Without one, every search starts cold.
    pub fn cache(mut self, cache: Arc<dyn RangeCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Whether the cache also keeps what the guest computes, so that a search over the same splits reads
    /// nothing but the manifest; yes by default. Without a cache nothing is kept.
    pub fn partial_results(mut self, are_kept: bool) -> Self {
        self.no_partial_results = !are_kept;
        self
    }

    /// Begins every key in the cache. Searchers that share a cache need one per index; it defaults to
    /// the URI if there is one.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// When near ranges are fetched as one.
    pub fn coalesce(mut self, coalesce: CoalesceOptions) -> Self {
        self.coalesce = coalesce;
        self
    }

    /// How many leaf sessions of one search run at once, each in an instance of its own; the number
    /// of cores by default. With 1, a search is a single session.
    pub fn max_parallel_leaves(mut self, max_parallel_leaves: u32) -> Self {
        self.max_parallel_leaves = Some(max_parallel_leaves);
        self
    }

    /// Has `runner` run the leaves of searches over the search API and by request, at most `max_leaves`
    /// a search, all but the first of them; what fails there is run here.
    pub fn leaves(mut self, runner: Arc<dyn LeafRunner>, max_leaves: u32) -> Self {
        self.leaf_runner = Some((runner, max_leaves.max(1)));
        self
    }

    /// How many requests are in flight at once, over all searches; 64 by default.
    pub fn max_concurrent_requests(mut self, max_concurrent_requests: usize) -> Self {
        self.max_concurrent_requests = Some(max_concurrent_requests);
        self
    }

    /// A range longer than this is fetched in parts, side by side; 8 MiB by default.
    pub fn max_part_bytes(mut self, max_part_bytes: u64) -> Self {
        self.max_part_bytes = Some(max_part_bytes);
        self
    }

    /// How failed requests are repeated.
    pub fn retry(mut self, retry: RetryOptions) -> Self {
        self.retry = retry;
        self
    }

    /// When a second request is sent beside a slow one.
    pub fn hedge(mut self, hedge: HedgeOptions) -> Self {
        self.hedge = Some(hedge);
        self
    }

    /// How long a cached manifest may be used without asking whether it has changed.
    pub fn manifest(mut self, manifest: ManifestOptions) -> Self {
        self.manifest = manifest;
        self
    }

    /// The clock that everything waits on; the system's by default.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Where this searcher's work is counted. Several searchers may share one; without it nobody sees
    /// the counts.
    pub fn metrics(mut self, metrics: Arc<Metrics>) -> Self {
        self.metrics = Some(metrics);
        self
    }

    /// For tests: hands supplies to the guest in an order drawn from this seed. No answer may depend
    /// on it.
    pub fn shuffle_supplies(mut self, seed: u64) -> Self {
        self.supply_order = Some(seed);
        self
    }

    /// Puts the searcher together. Reads nothing yet.
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
        let hedges = HedgeState::new(self.hedge.unwrap_or_default()).counted_by(&metrics);
        let hedges = Arc::new(hedges);
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

/// Adds an index under a name that the API has no path of.
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
