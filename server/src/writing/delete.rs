//! Elasticsearch's `_delete_by_query`.

use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use canter_index_builder::{BuildError, ErrorKind, delete_documents};
use canter_runtime::ErrorKind as SearchErrorKind;
use canter_split_format::ListedSplit;
use serde_json::{Map, Value, json};

use super::adding::lanes_of;
use super::bulk::millis;
use super::copying::max_docs;

use crate::http::Refuse;
use crate::indexes::{FindError, Writer, Writers};
use crate::requests::{ChangeRequest, Params, Problem, fail, json_of, respond, status_of};

/// Handles `POST /<indexes>/_delete_by_query`.
pub(super) async fn delete(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    indexes: &str,
    body: &[u8],
) -> Response {
    let started = Instant::now();
    let (params, query, max_docs) = match read(request, body) {
        Ok(read) => read,
        Err(problem) => return fail(request, &problem),
    };
    let expanded = request.expanded(indexes, &writers.names());
    let found =
        expanded.and_then(|expanded| Ok((lanes_of(writers, request, indexes)?, expanded.filters)));
    let (lanes, filters) = match found {
        Ok(found) => found,
        Err(problem) => return fail(request, &problem),
    };
    let mut num_deleted = 0;
    for (name, Writer { lane, uri }) in lanes {
        let left = max_docs.saturating_sub(num_deleted);
        if left == 0 {
            break;
        }
        // Documents accepted before this request count as present.
        if let Err(refusal) = lane.publish_now().await {
            let status = status_of(&refusal);
            return request.api.refusal(status, &refusal.to_string());
        }
        let of_alias = filters.get(&name).cloned();
        let query = of_alias.map_or_else(|| query.clone(), |filters| filtered(&query, filters));
        // Clauses on `_index` know it by the name in the request.
        let search = json!({
            "query": query, "max_hits": 0, "list_documents": true, "index_name": name,
            "forced_filter": request.caller.forced_filter.as_deref(),
        });
        let finder = Arc::clone(&writers.finder);
        let called = name.clone();
        let deleted = tokio::task::spawn_blocking(move || {
            delete_documents(lane.store(), || {
                let found = finder.find(&uri, &called, &search);
                first_of(found.map_err(DeleteError::Find)?, left)
            })
        });
        match deleted.await {
            Ok(Ok(report)) => num_deleted += report.num_deleted_docs,
            Ok(Err(error)) => {
                // The cause names the index's location, so only the log gets it.
                tracing::warn!(target: "canter::serve", index = name.as_str(), error = error.with_causes(), "documents could not be deleted");
                return request
                    .api
                    .refusal(error.status(), &format!("{name}: {}", error.told()));
            }
            Err(error) => {
                let message = format!("{name}: {error}");
                return request
                    .api
                    .refusal(StatusCode::INTERNAL_SERVER_ERROR, &message);
            }
        }
    }
    let answer = json!({
        "took": millis(started), "timed_out": false, "total": num_deleted, "deleted": num_deleted, "batches": 1,
        "version_conflicts": 0, "noops": 0, "retries": {"bulk": 0, "search": 0}, "throttled_millis": 0,
        "requests_per_second": -1.0, "throttled_until_millis": 0, "failures": [],
    });
    respond(request, &params, StatusCode::OK, answer)
}

/// Adds the filters of aliases to a query, which is text or the DSL.
fn filtered(query: &Value, filters: Vec<Value>) -> Value {
    let query = match query {
        Value::String(text) => json!({"query_string": {"query": text}}),
        query => query.clone(),
    };
    let any = json!({"bool": {"should": filters, "minimum_should_match": 1}});
    json!({"bool": {"must": [query], "filter": [any]}})
}

/// Keeps the first documents of the list.
fn first_of(listed: Vec<ListedSplit>, max_docs: u64) -> Result<Vec<ListedSplit>, DeleteError> {
    let mut left = max_docs;
    let mut kept = Vec::with_capacity(listed.len());
    for mut split in listed {
        if left == 0 {
            break;
        }
        split.truncate(left).map_err(|error| {
            DeleteError::Find(FindError {
                kind: SearchErrorKind::Internal,
                message: error.to_string(),
            })
        })?;
        left = left.saturating_sub(split.num_listed);
        kept.push(split);
    }
    Ok(kept)
}

/// Returns the parameters, the query, and the maximum number of documents.
fn read(request: &ChangeRequest<'_>, body: &[u8]) -> Result<(Params, Value, u64), Problem> {
    let mut params = Params::of(request.query).map_err(Problem::illegal)?;
    let mut body = match json_of(body)? {
        Value::Null => Map::new(),
        Value::Object(body) => body,
        _ => return Err(Problem::illegal("the body is no object")),
    };
    let max_docs = max_docs(&mut params, &mut body)?;
    let (params, of_url) = read_params(params).map_err(Problem::illegal)?;
    let of_body = query_of(body).map_err(Problem::illegal)?;
    match (of_body, of_url) {
        (Some(_), Some(_)) => Err(Problem::illegal(
            "there is a query in the body and one in the URL",
        )),
        // Elasticsearch requires one, too, so that an empty request cannot delete everything.
        (None, None) => Err(Problem::illegal("query is missing")),
        (Some(query), None) => Ok((params, query, max_docs)),
        (None, Some(query)) => Ok((params, Value::String(query), max_docs)),
    }
}

/// Parses the parameters, including the query.
fn read_params(mut params: Params) -> Result<(Params, Option<String>), String> {
    // Deletions are published at once, and cannot conflict.
    params.one_of("conflicts", &["abort", "proceed"])?;
    params.one_of("wait_for_completion", &["true", ""])?;
    params.one_of("slices", &["1", "auto"])?;
    params.one_of("requests_per_second", &["-1"])?;
    params.flag("refresh")?;
    for means_nothing in ["ignore_unavailable", "allow_no_indices", "request_cache"] {
        params.flag(means_nothing)?;
    }
    for means_nothing in [
        "expand_wildcards",
        "scroll",
        "scroll_size",
        "search_timeout",
        "search_type",
        "preference",
    ] {
        params.text(means_nothing);
    }
    let of_url = params.text("q");
    params.finish()?;
    Ok((params, of_url))
}

/// Returns the query of a body, which must not contain anything else.
fn query_of(mut body: Map<String, Value>) -> Result<Option<Value>, String> {
    let query = body.remove("query");
    if let Some(name) = body.keys().next() {
        return Err(format!(
            "unknown field [{name}] in the body: there are [query] and [max_docs]"
        ));
    }
    match query {
        Some(Value::String(_)) => Err("[query] is no object".to_owned()),
        query => Ok(query),
    }
}

/// Reason why documents were not deleted.
#[derive(Debug)]
enum DeleteError {
    /// They were not found.
    Find(FindError),
    /// They could not be removed from the index.
    Build(BuildError),
}

impl From<BuildError> for DeleteError {
    fn from(error: BuildError) -> Self {
        Self::Build(error)
    }
}

impl DeleteError {
    fn with_causes(&self) -> String {
        match self {
            Self::Find(error) => error.message.clone(),
            Self::Build(error) => error.with_causes(),
        }
    }

    /// Returns the message for the client: a store's message is safe to show, its cause is not.
    fn told(&self) -> String {
        match self {
            Self::Find(error) => error.message.clone(),
            Self::Build(error) => error.to_string(),
        }
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Find(error) => match error.kind {
                SearchErrorKind::NotFound => StatusCode::NOT_FOUND,
                SearchErrorKind::Invalid | SearchErrorKind::Limit => StatusCode::BAD_REQUEST,
                SearchErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            },
            Self::Build(error) => match error.kind() {
                ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            },
        }
    }
}
