//! From arguments to a request, a searcher and its answer.

use anyhow::Result;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::{SearchResponse, Searcher};
use serde_json::{Map, Value};

use super::SearchArgs;
use crate::open::tokio_runtime;

/// Opens the index and searches it.
pub(super) fn search(args: &SearchArgs) -> Result<SearchResponse> {
    let mut builder = Searcher::builder()
        .engine(args.engine.start(args.limits.max_memory_bytes)?)
        .uri(&args.index, &OpenOptions::default())?;
    if let Some(threads) = args.threads {
        builder = builder.max_parallel_leaves(threads);
    }
    if let Some(max) = args.limits.max_concurrent_requests {
        builder = builder.max_concurrent_requests(usize::from(max));
    }
    let searcher = builder.build()?;
    let limits = args.limits.of_search();
    let request = request_of(args);
    Ok(tokio_runtime()?.block_on(searcher.search(&request, &limits))?)
}

fn request_of(args: &SearchArgs) -> Value {
    let mut request = Map::new();
    let mut put = |key: &str, value: Value| request.insert(key.to_owned(), value);
    put("query", args.query.as_str().into());
    put("max_hits", args.max_hits.into());
    put("start_offset", args.start_offset.into());
    // Always: the cost line and the exit code need it.
    put("profile", true.into());
    if let Some(aggs) = &args.aggs {
        put("aggs", aggs.clone());
    }
    if let Some(sort_by) = &args.sort_by {
        put("sort_by", sort_by.as_str().into());
    }
    if !args.search_field.is_empty() {
        put("search_field", args.search_field.clone().into());
    }
    if let Some(start) = args.start_timestamp {
        put("start_timestamp", start.into());
    }
    if let Some(end) = args.end_timestamp {
        put("end_timestamp", end.into());
    }
    request.into()
}
