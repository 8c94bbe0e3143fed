//! Lists the documents that match a query, through the search engine.

use std::pin::Pin;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use canter_runtime::engine::Engine;
use canter_runtime::fetch::{
    ByteRange, FetchError, FetchedRange, MemoryFetcher, OpenOptions, RangeFetcher, open_uri,
};
use canter_runtime::{Limits, Searcher};
use canter_split_format::{ListedSplit, MANIFEST_OBJECT};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::args::{EngineArgs, InstanceCaps};
use crate::open::{about_index, tokio_runtime};

/// Maximum number of splits that an error names.
const MAX_NAMED: usize = 3;

/// Lists the matches of a query.
pub(crate) struct Lister {
    /// The index's name in messages.
    called: String,
    request: Value,
    limits: Limits,
    engine: Arc<dyn Engine>,
    fetcher: Arc<dyn RangeFetcher>,
    runtime: Runtime,
}

impl Lister {
    /// Starts the engine; reads nothing of the index yet. `request` is the search whose matches are listed.
    pub(in crate::commands::index) fn start(
        uri: &str,
        request: Value,
        deadline_ms: u64,
        engine: &EngineArgs,
    ) -> Result<Self> {
        Self::new(
            (uri, uri),
            request,
            deadline_ms,
            engine.start(InstanceCaps::default())?,
        )
    }

    /// Creates a lister with a running engine. Messages call the index `called`; if that is not its URI, they do not
    /// reveal its location.
    pub(crate) fn new(
        (uri, called): (&str, &str),
        request: Value,
        deadline_ms: u64,
        engine: Arc<dyn Engine>,
    ) -> Result<Self> {
        let options = OpenOptions::default();
        let fetcher = open_uri(uri, &options).map_err(|mut error| {
            if called != uri {
                tracing::warn!(target: "canter::serve", index = called, %error, "an index cannot be opened");
                "its store cannot be opened".clone_into(&mut error.message);
            }
            about_index(called)(error)
        })?;
        Ok(Self {
            called: called.to_owned(),
            request,
            limits: Limits::within_ms(deadline_ms),
            engine,
            fetcher,
            runtime: tokio_runtime()?,
        })
    }

    /// Lists the matching documents of live splits.
    ///
    /// # Errors
    /// If any split could not be searched.
    pub(crate) fn list(&self) -> Result<Vec<ListedSplit>> {
        self.list_from(Arc::clone(&self.fetcher))
    }

    /// Lists the matching documents of the splits in another manifest.
    ///
    /// # Errors
    /// As [`Lister::list`].
    pub(super) fn list_with(&self, manifest: Vec<u8>) -> Result<Vec<ListedSplit>> {
        self.list_from(Arc::new(WithManifest {
            manifest: [(MANIFEST_OBJECT, manifest)].into_iter().collect(),
            others: Arc::clone(&self.fetcher),
        }))
    }

    /// Nothing is cached between two lists: the current manifest counts.
    fn list_from(&self, fetcher: Arc<dyn RangeFetcher>) -> Result<Vec<ListedSplit>> {
        let searcher = Searcher::builder()
            .engine(Arc::clone(&self.engine))
            .fetcher(fetcher)
            .build()?;
        let answer = searcher.search(&self.request, &self.limits);
        let answer = self.runtime.block_on(answer);
        let mut answer = answer.map_err(about_index(&self.called))?.json;
        check_whole(&answer)?;
        serde_json::from_value(answer["listed_splits"].take())
            .context("the search engine gave no list of documents")
    }
}

/// Refuses an answer that lacks a split.
fn check_whole(answer: &Value) -> Result<()> {
    let mut missing: Vec<String> = Vec::new();
    for key in ["failed_splits", "skipped_splits"] {
        for split in answer[key].as_array().into_iter().flatten() {
            let text = |key: &str| split[key].as_str().unwrap_or("?");
            missing.push(format!("{} ({})", text("split_id"), text("message")));
        }
    }
    let is_cut_short = answer["timed_out"] == true || !answer["budget_exhausted"].is_null();
    if missing.is_empty() && !is_cut_short {
        return Ok(());
    }
    if missing.is_empty() {
        bail!("the search took too long, and nothing is deleted: raise --deadline-ms");
    }
    let num_missing = missing.len();
    missing.truncate(MAX_NAMED);
    bail!(
        "{num_missing} of the index's splits or pages could not be searched, and nothing is deleted, since they may \
         hold matching documents: {}{}",
        missing.join("; "),
        if num_missing > MAX_NAMED { "; …" } else { "" }
    )
}

/// An index with a replaced manifest.
struct WithManifest {
    manifest: MemoryFetcher,
    others: Arc<dyn RangeFetcher>,
}

type Fetching<'a> = Pin<Box<dyn Future<Output = Result<FetchedRange, FetchError>> + Send + 'a>>;

impl RangeFetcher for WithManifest {
    fn fetch<'a>(&'a self, object: &'a str, range: ByteRange) -> Fetching<'a> {
        match object {
            MANIFEST_OBJECT => self.manifest.fetch(object, range),
            _ => self.others.fetch(object, range),
        }
    }
}
