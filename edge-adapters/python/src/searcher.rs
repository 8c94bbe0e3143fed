//! Index that is open for searching.

use std::sync::{Arc, OnceLock};

use canter_index_builder::IndexStore;
use canter_runtime::cache::{CacheOptions, DiskCache, MemoryCache};
use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::OpenOptions;
use canter_runtime::{Engine, Limits, SearchError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::errors::{InternalError, of_build, of_search};

/// Returns the threads that wait for stores, shared by all searchers of the process.
fn runtime() -> PyResult<&'static Runtime> {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = RUNTIME.get() {
        return Ok(runtime);
    }
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let made = builder.enable_all().build().map_err(|error| {
        InternalError::new_err(format!(
            "cannot start the threads that talk to storage: {error}"
        ))
    })?;
    Ok(RUNTIME.get_or_init(|| made))
}

/// Index that is open for searching, by any number of threads at once.
#[pyclass(frozen)]
pub(crate) struct Searcher {
    searcher: canter_runtime::Searcher,
    limits: Limits,
}

#[pymethods]
impl Searcher {
    #[new]
    #[pyo3(signature = (uri, engine, cache, cache_bytes, threads, deadline_ms))]
    pub(crate) fn new(
        py: Python<'_>,
        uri: &str,
        engine: &str,
        cache: Option<&str>,
        cache_bytes: u64,
        threads: Option<u32>,
        deadline_ms: Option<u64>,
    ) -> PyResult<Self> {
        let engine = match engine {
            "native" | "wasm" => engine,
            other => {
                let what = format!("engine is \"native\" or \"wasm\", and not {other:?}");
                return Err(PyValueError::new_err(what));
            }
        };
        let opened = py.detach(|| open(uri, engine, cache, cache_bytes, threads));
        let mut limits = Limits::default();
        if let Some(deadline_ms) = deadline_ms {
            limits.budget.deadline_ms = Some(deadline_ms);
        }
        Ok(Self {
            searcher: opened.map_err(of_search)?,
            limits,
        })
    }

    /// Returns the answer to a search request. Both are JSON objects.
    fn search(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let runtime = runtime()?;
        let answer = py.detach(|| {
            let request = canter_names::read_json(request.as_bytes())
                .map_err(|error| SearchError::invalid(error.of("the search request")))?;
            let answer = runtime.block_on(self.searcher.search_text(&request, &self.limits))?;
            serde_json::to_string(&answer)
                .map_err(|error| SearchError::internal(format!("the answer: {error}")))
        });
        answer.map_err(of_search)
    }

    /// Waits until the cache contains the data that searches have fetched.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        let runtime = runtime()?;
        py.detach(|| runtime.block_on(self.searcher.settle()));
        Ok(())
    }
}

impl Searcher {
    /// Returns the answer to a search request as a value.
    pub(crate) fn answer(&self, py: Python<'_>, request: &Value) -> PyResult<Value> {
        let runtime = runtime()?;
        let answer = py.detach(|| runtime.block_on(self.searcher.search(request, &self.limits)));
        Ok(answer.map_err(of_search)?.json)
    }
}

fn open(
    uri: &str,
    engine: &str,
    cache: Option<&str>,
    cache_bytes: u64,
    threads: Option<u32>,
) -> Result<canter_runtime::Searcher, SearchError> {
    let engine: Arc<dyn Engine> = match engine {
        "wasm" => Arc::new(WasmEngine::embedded(
            WasmOptions::default().with_default_cache_dir(),
        )?),
        _ => Arc::new(NativeEngine::new()),
    };
    let options = CacheOptions::with_max_bytes(cache_bytes);
    let builder = canter_runtime::Searcher::builder()
        .engine(engine)
        .uri(uri, &OpenOptions::default())?;
    let builder = match cache {
        Some(folder) => builder.cache(Arc::new(DiskCache::open(folder, &options)?)),
        None => builder.cache(Arc::new(MemoryCache::with_options(&options)?)),
    };
    let builder = match threads {
        Some(threads) => builder.max_parallel_leaves(threads),
        None => builder,
    };
    builder.build()
}

/// Returns the output of `canter index describe` as a JSON object.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>, uri: &str) -> PyResult<String> {
    let described = py.detach(|| IndexStore::open(uri).and_then(|store| store.describe()));
    let described = described.map_err(|error| of_build(&error))?;
    serde_json::to_string(&described).map_err(|error| InternalError::new_err(error.to_string()))
}
