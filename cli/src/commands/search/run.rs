//! Opening an index from arguments, and running a request.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use canter_runtime::cache::CacheStats;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::session::HttpRequest;
use canter_runtime::{
    Caller, Engine, Explanation, Limits, Metrics, RangeCache, SearchText, Searcher,
};
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

use super::args::SearchArgs;
use crate::args::InstanceCaps;
use crate::open::{about_index, tokio_runtime};
use crate::render::Attempts;
use crate::simulate::Simulation;

/// An index that is open for searching, and the limits of a search.
pub(super) struct OpenIndex {
    uri: String,
    engine: Arc<dyn Engine>,
    searcher: Searcher,
    cache: Option<Arc<dyn RangeCache>>,
    limits: Limits,
    simulation: Option<Simulation>,
    metrics: Arc<Metrics>,
    runtime: Runtime,
}

impl OpenIndex {
    /// Starts the engine and opens the store and the cache. Reads nothing of the index yet.
    pub(super) fn open(args: &SearchArgs, uri: &str) -> Result<Self> {
        let metrics = Arc::new(Metrics::new());
        let engine = args.searcher.start_engine(InstanceCaps::default())?;
        let mut builder = Searcher::builder()
            .metrics(Arc::clone(&metrics))
            .engine(Arc::clone(&engine))
            .uri(uri, &OpenOptions::default())
            .map_err(about_index(uri))?;
        let simulation = args.simulate.start(uri)?;
        if let Some(simulation) = &simulation {
            builder = simulation.attach(builder);
        }
        let caching = &args.searcher.cache;
        let cache = caching.open_once()?;
        builder = args
            .searcher
            .apply(builder, caching.manifest(), cache.as_ref());
        Ok(Self {
            uri: uri.to_owned(),
            engine,
            searcher: builder.build()?,
            cache,
            limits: args.searcher.limits.of_search(),
            simulation,
            metrics,
            runtime: tokio_runtime()?,
        })
    }

    pub(super) fn search(&self, request: &Value) -> Result<(SearchText, Attempts)> {
        let answer = self.searcher.search_text(request, &self.limits);
        let answer = match &self.simulation {
            Some(simulation) => self.runtime.block_on(simulation.search(answer)),
            None => {
                let answer = self.runtime.block_on(answer);
                answer.map(|answer| (answer, Attempts::default()))
            }
        };
        answer.map_err(about_index(&self.uri))
    }

    /// Returns the config of the index. Only the API gives it, where an index has a name.
    pub(super) fn config(&self) -> Result<Value> {
        let searcher = Searcher::builder()
            .engine(Arc::clone(&self.engine))
            .index("index", &self.uri, &OpenOptions::default())
            .map_err(about_index(&self.uri))?
            .build()?;
        let request = HttpRequest {
            method: "GET".to_owned(),
            path: "/api/v1/indexes/index".to_owned(),
            query: String::new(),
            body: Vec::new(),
        };
        let caller = Caller::default();
        let answer = searcher.http(request, &caller, &self.limits);
        let answer = self.runtime.block_on(answer);
        let answer: Value = serde_json::from_slice(&answer.response.body)?;
        match &answer["index_config"] {
            Value::Null => bail!("{}: {}", self.uri, answer["message"]),
            config => Ok(config.clone()),
        }
    }

    pub(super) fn explain(&self, request: &Value) -> Result<(Explanation, Attempts)> {
        let caller = Caller::default();
        let explanation = self.searcher.explain(request, &caller, &self.limits);
        let (explanation, attempts) = self.runtime.block_on(self.in_time(explanation));
        Ok((explanation.map_err(about_index(&self.uri))?, attempts))
    }

    /// Runs a future on the searcher's clock.
    async fn in_time<T>(&self, future: impl Future<Output = T>) -> (T, Attempts) {
        match &self.simulation {
            Some(simulation) => simulation.run(future).await,
            None => (future.await, Attempts::default()),
        }
    }

    /// Returns the simulation, if there is one.
    pub(super) fn simulation(&self) -> Option<&Simulation> {
        self.simulation.as_ref()
    }

    /// Returns the statistics of the cache, if there is one.
    pub(super) fn cache_stats(&self) -> Option<CacheStats> {
        self.cache.as_ref().map(|cache| cache.stats())
    }

    /// Returns the metrics of all of this.
    pub(super) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Waits until the next search can use the data that this one fetched, but not longer than a
    /// search may take.
    pub(super) fn settle(&self) {
        let patience = Duration::from_millis(self.limits.budget.deadline_ms.unwrap_or(u64::MAX));
        self.runtime.block_on(async {
            let settled = self.in_time(self.searcher.settle());
            let _ = tokio::time::timeout(patience, settled).await;
        });
    }
}

/// Returns the search request for the guest.
pub(super) fn request_of(args: &SearchArgs) -> Value {
    let mut request = Map::new();
    let mut put = |key: &str, value: Value| request.insert(key.to_owned(), value);
    match &args.knn {
        None => put("query", args.query().into()),
        Some(knn) => {
            let mut knn = knn.clone();
            knn["k"] = args.k.unwrap_or(10).into();
            // The nearest first, unless another order is asked for.
            put("sort_by", "_score".into());
            put("query", serde_json::json!({ "knn": knn }))
        }
    };
    if let Some(language) = &args.language {
        put("language", language.as_str().into());
    }
    put("max_hits", args.max_hits.into());
    put("start_offset", args.start_offset.into());
    // Always requested: the cost line and the exit code need it.
    put("profile", true.into());
    if let Some(aggs) = &args.aggs {
        put("aggs", aggs.clone());
    }
    if let Some(sort_by) = &args.sort_by {
        put("sort_by", sort_by.as_str().into());
    }
    if let Some(most) = args.count_up_to {
        put("track_total_hits", most.into());
    }
    args.scope.add_to(&mut request);
    request.into()
}
