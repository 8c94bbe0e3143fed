//! Calls of a search API through the native engine: requests as clients send them, answers as JSON.

use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::TestIndex;
use serde_json::Value;

/// Returns a searcher that knows the index by this name.
pub(crate) fn named(index: &TestIndex, name: &str) -> Searcher {
    Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .index_from(name, Arc::new(index.fetcher()), name)
        .and_then(|builder| builder.build())
        .unwrap()
}

/// Sends a request, with `null` for none as its body; returns the status and the body of the answer.
pub(crate) fn call(
    searcher: &Searcher,
    method: &str,
    path: &str,
    query: &str,
    body: &Value,
) -> (u16, Value) {
    call_within(searcher, method, path, query, body, &Limits::default())
}

/// Does the same within limits.
pub(crate) fn call_within(
    searcher: &Searcher,
    method: &str,
    path: &str,
    query: &str,
    body: &Value,
    limits: &Limits,
) -> (u16, Value) {
    let request = HttpRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: match body.is_null() {
            true => Vec::new(),
            false => body.to_string().into_bytes(),
        },
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let answer = runtime.block_on(searcher.http(request, &Caller::default(), limits));
    let body = serde_json::from_slice(&answer.response.body).unwrap();
    (answer.response.status, body)
}
