//! Elasticsearch's `_bulk`, `_doc` and `_refresh`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use canter_access::matches_any;
use canter_intake::{Acknowledge, Action, Lane, Refusal, Verb, parse_bulk};
use serde_json::{Value, json};

use super::params::Params;
use super::writers::{Request, Writers, status_of};

/// Documents get no ids: nobody could look for them by one.
const NO_IDS: &str = "documents are only added here, and never replaced: leave [_id] out";

/// Why one action was not done.
pub(super) struct Problem {
    status: StatusCode,
    kind: &'static str,
    reason: String,
}

impl Problem {
    fn invalid(kind: &'static str, reason: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            kind,
            reason: reason.into(),
        }
    }

    fn no_index(name: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            kind: "index_not_found_exception",
            reason: format!("no such index [{name}]"),
        }
    }

    fn refused(refusal: &Refusal) -> Self {
        let kind = match refusal {
            Refusal::Busy { .. } => "es_rejected_execution_exception",
            Refusal::Stopping | Refusal::Unavailable(_) => "unavailable_shards_exception",
            Refusal::Invalid(_) => "illegal_argument_exception",
            Refusal::Internal(_) => "exception",
        };
        Self {
            status: status_of(refusal),
            kind,
            reason: refusal.to_string(),
        }
    }

    fn body(&self) -> Value {
        json!({"type": self.kind, "reason": self.reason})
    }
}

/// `POST /_bulk`.
pub(super) async fn bulk(
    writers: &Writers,
    request: &Request<'_>,
    of_path: Option<&str>,
    body: &[u8],
) -> Response {
    let started = Instant::now();
    let (params, acknowledge) = match read_params(request) {
        Ok(read) => read,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    let actions = match parse_bulk(body) {
        Ok(actions) => actions,
        Err(error) => {
            return request
                .api
                .refusal(StatusCode::BAD_REQUEST, &error.to_string());
        }
    };
    let index_of =
        |action: &Action<'_>| action.index.clone().or_else(|| of_path.map(str::to_owned));
    let Some(indexes) = actions
        .iter()
        .map(index_of)
        .collect::<Option<Vec<String>>>()
    else {
        let message = "an action names no index: give it an [_index], or name one in the path";
        return request.api.refusal(StatusCode::BAD_REQUEST, message);
    };
    let mut problems: Vec<Option<Problem>> = actions.iter().map(undoable).collect();
    let mut by_index: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (ord, index) in indexes.iter().enumerate() {
        if problems[ord].is_none() {
            by_index.entry(index).or_default().push(ord);
        }
    }
    let adding = by_index.into_iter().map(|(index, ords)| async {
        let documents: Vec<&[u8]> = ords
            .iter()
            .filter_map(|ord| actions[*ord].document)
            .collect();
        let added = match writers.lane(index, request.caller) {
            Some(lane) => add(lane, &documents, acknowledge).await,
            None => documents
                .iter()
                .map(|_| Some(Problem::no_index(index)))
                .collect(),
        };
        (ords, added)
    });
    for (ords, added) in futures_util::future::join_all(adding).await {
        for (ord, problem) in ords.into_iter().zip(added) {
            problems[ord] = problem;
        }
    }
    let is_busy = |problem: &Option<Problem>| {
        problem
            .as_ref()
            .is_some_and(|problem| problem.status == StatusCode::TOO_MANY_REQUESTS)
    };
    if let (true, Some(Some(problem))) = (problems.iter().all(is_busy), problems.first()) {
        // Nothing was taken: clients that look at the status alone send all of it again.
        return request
            .api
            .refusal(StatusCode::TOO_MANY_REQUESTS, &problem.reason);
    }
    let items = actions.iter().zip(&indexes).zip(&problems);
    let items: Vec<Value> = items
        .map(|((action, index), problem)| {
            let item = match problem {
                None => created(index),
                Some(problem) => json!({
                    "_index": index, "_id": action.id, "status": problem.status.as_u16(), "error": problem.body(),
                }),
            };
            json!({action.verb.as_str(): item})
        })
        .collect();
    let answer = json!({
        "took": millis(started),
        "errors": problems.iter().any(Option::is_some),
        "items": items,
    });
    respond(request, &params, StatusCode::OK, answer)
}

/// `POST /<index>/_doc`.
pub(super) async fn document(
    writers: &Writers,
    request: &Request<'_>,
    index: &str,
    id: Option<&str>,
    body: &[u8],
) -> Response {
    let (params, acknowledge) = match read_params(request) {
        Ok(read) => read,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    let problem = match (id, writers.lane(index, request.caller)) {
        (Some(_), _) => Some(Problem::invalid("illegal_argument_exception", NO_IDS)),
        (None, None) => Some(Problem::no_index(index)),
        (None, Some(lane)) => add(lane, &[body], acknowledge).await.pop().flatten(),
    };
    match problem {
        None => respond(request, &params, StatusCode::CREATED, created(index)),
        Some(problem) => fail(request, &problem),
    }
}

/// `POST /<indexes>/_refresh`.
pub(super) async fn refresh(
    writers: &Writers,
    request: &Request<'_>,
    indexes: Option<&str>,
) -> Response {
    let params = Params::of(request.query).and_then(|mut params| {
        for means_nothing in [
            "ignore_unavailable",
            "allow_no_indices",
            "force",
            "wait_if_ongoing",
        ] {
            params.flag(means_nothing)?;
        }
        params.text("expand_wildcards");
        params.finish()?;
        Ok(params)
    });
    let params = match params {
        Ok(params) => params,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    let lanes = match lanes_of(writers, request, indexes.unwrap_or("_all")) {
        Ok(lanes) => lanes,
        Err(problem) => return fail(request, &problem),
    };
    let publishing = lanes.iter().map(|(_, lane)| lane.publish_now());
    for published in futures_util::future::join_all(publishing).await {
        if let Err(refusal) = published {
            return fail(request, &Problem::refused(&refusal));
        }
    }
    let num = lanes.len();
    let answer = json!({"_shards": {"total": num, "successful": num, "failed": 0}});
    respond(request, &params, StatusCode::OK, answer)
}

/// The indexes that a list of names and patterns means, of those that the caller may know of.
pub(super) fn lanes_of<'w>(
    writers: &'w Writers,
    request: &Request<'_>,
    names: &str,
) -> Result<Vec<(&'w str, &'w Arc<Lane>)>, Problem> {
    let mut found = BTreeMap::new();
    for pattern in names.split(',') {
        let pattern = if pattern == "_all" { "*" } else { pattern };
        let patterns = [pattern.to_owned()];
        let mut is_any = pattern.contains('*');
        for name in writers
            .lanes
            .keys()
            .filter(|name| matches_any(&patterns, name))
        {
            if let Some(lane) = writers.lane(name, request.caller) {
                is_any = true;
                found.insert(name.as_str(), lane);
            }
        }
        if !is_any {
            return Err(Problem::no_index(pattern));
        }
    }
    Ok(found.into_iter().collect())
}

fn read_params(request: &Request<'_>) -> Result<(Params, Acknowledge), String> {
    let mut params = Params::of(request.query)?;
    let acknowledge = params.refresh()?;
    params.one_of("pipeline", &["", "_none"])?;
    params.one_of("op_type", &["create", "index"])?;
    params.one_of("require_alias", &["false"])?;
    params.one_of("require_data_stream", &["false"])?;
    for of_updates in [
        "_source",
        "_source_includes",
        "_source_excludes",
        "list_executed_pipelines",
    ] {
        params.text(of_updates);
    }
    // The types of old versions.
    params.one_of("type", &["_doc"])?;
    params.finish()?;
    Ok((params, acknowledge))
}

/// Why an action cannot be done whatever its document is.
fn undoable(action: &Action<'_>) -> Option<Problem> {
    let kind = "illegal_argument_exception";
    match action.verb {
        Verb::Update | Verb::Delete => {
            let verb = action.verb.as_str();
            let reason = format!(
                "documents are only added here, so that there is no [{verb}] by an id: delete them with \
                 _delete_by_query"
            );
            return Some(Problem::invalid(kind, reason));
        }
        Verb::Index | Verb::Create => {}
    }
    if action.id.is_some() {
        return Some(Problem::invalid(kind, NO_IDS));
    }
    let unknown = action.unknown.as_ref()?;
    Some(Problem::invalid(
        kind,
        format!("[{unknown}] of an action is not supported"),
    ))
}

/// Adds documents, and says of each why not.
async fn add(lane: &Lane, documents: &[&[u8]], acknowledge: Acknowledge) -> Vec<Option<Problem>> {
    // Analysis takes a core for some milliseconds, and the config may have to be read.
    let found = tokio::task::block_in_place(|| lane.problems(documents.iter().copied()));
    let all = |refusal: &Refusal| {
        documents
            .iter()
            .map(|_| Some(Problem::refused(refusal)))
            .collect()
    };
    let found = match found {
        Ok(found) => found,
        Err(refusal) => return all(&refusal),
    };
    let is_good = |(_, problem): &(&&[u8], &Option<_>)| problem.is_none();
    let good: Vec<&[u8]> = documents
        .iter()
        .zip(&found)
        .filter(is_good)
        .map(|(document, _)| *document)
        .collect();
    let added = match good.is_empty() {
        true => Ok(()),
        false => lane.add(&good, acknowledge).await,
    };
    let of_document = |problem: canter_index_builder::DocumentProblem| {
        Problem::invalid("document_parsing_exception", problem.message)
    };
    let refused = |refusal: &Refusal| Some(Problem::refused(refusal));
    found
        .into_iter()
        .map(|problem| match problem {
            Some(problem) => Some(of_document(problem)),
            None => added.as_ref().err().and_then(refused),
        })
        .collect()
}

/// What is said of a document that was taken.
fn created(index: &str) -> Value {
    json!({
        "_index": index, "_id": null, "_version": 1, "result": "created",
        "_shards": {"total": 1, "successful": 1, "failed": 0},
        "_seq_no": 0, "_primary_term": 1, "status": 201,
    })
}

pub(super) fn fail(request: &Request<'_>, problem: &Problem) -> Response {
    request
        .api
        .refusal_of(problem.status, problem.kind, &problem.reason)
}

pub(super) fn respond(
    request: &Request<'_>,
    params: &Params,
    status: StatusCode,
    answer: Value,
) -> Response {
    let answer = match &params.filter_path {
        Some(filter) => filter.apply(answer),
        None => answer,
    };
    request.api.answer(status, &answer, params.is_pretty)
}

pub(super) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
