//! Elasticsearch's `_bulk`, `_doc` and `_refresh`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use canter_access::matches_any;
use canter_intake::{Acknowledge, Action, Lane, Refusal, Verb, parse_bulk};
use serde_json::{Value, json};

use super::super::refusal::Refuse;
use super::adding::{Absent, add_to};
use super::params::Params;
use super::problem::{Problem, fail, respond};
use super::writers::{Request, Writer, Writers};

/// Most indexes that there are not and that one body may name.
const MAX_NEW: usize = 64;

const TOO_MANY_NEW: &str =
    "the body names more than 64 indexes that there are not: send their documents in several";

/// What became of a document: its id, or why it was not taken.
type Added = Result<String, Problem>;

/// Documents get the ids that their places give them, and no others.
const NO_IDS: &str = "documents are only added here, and never replaced: leave [_id] out";

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
    let undoable = actions.iter().map(undoable);
    let mut outcomes: Vec<Added> = undoable
        .map(|problem| problem.map_or(Ok(String::new()), Err))
        .collect();
    let mut by_index: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (ord, index) in indexes.iter().enumerate() {
        if outcomes[ord].is_ok() {
            by_index.entry(index).or_default().push(ord);
        }
    }
    // For each of these the catalog is read, one after the other.
    let new = by_index.keys();
    let new = new.filter(|index| writers.writer(index, request).is_none());
    let is_too_many = new.count() > MAX_NEW;
    let adding = by_index.into_iter().map(|(index, ords)| async {
        let documents: Vec<&[u8]> = ords
            .iter()
            .filter_map(|ord| actions[*ord].document)
            .collect();
        if is_too_many && writers.writer(index, request).is_none() {
            let problem = Problem::illegal(TOO_MANY_NEW);
            return (ords, vec![Err(problem); documents.len()]);
        }
        let added = add_all(writers, request, index, &documents, acknowledge).await;
        (ords, added)
    });
    for (ords, added) in futures_util::future::join_all(adding).await {
        for (ord, outcome) in ords.into_iter().zip(added) {
            outcomes[ord] = outcome;
        }
    }
    let is_busy = |outcome: &Added| {
        let problem = outcome.as_ref().err();
        problem.is_some_and(|problem| problem.status == StatusCode::TOO_MANY_REQUESTS)
    };
    if let (true, Some(Err(problem))) = (outcomes.iter().all(is_busy), outcomes.first()) {
        // Nothing was taken: clients that look at the status alone send all of it again.
        return request
            .api
            .refusal(StatusCode::TOO_MANY_REQUESTS, &problem.reason);
    }
    let items = actions.iter().zip(&indexes).zip(&outcomes);
    let items: Vec<Value> = items
        .map(|((action, index), outcome)| {
            let item = match outcome {
                Ok(id) => created(index, id),
                Err(problem) => json!({
                    "_index": index, "_id": action.id, "status": problem.status.as_u16(), "error": problem.body(),
                }),
            };
            json!({action.verb.as_str(): item})
        })
        .collect();
    let answer = json!({
        "took": millis(started),
        "errors": outcomes.iter().any(Result::is_err),
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
    if id.is_some() {
        return fail(request, &Problem::illegal(NO_IDS));
    }
    let added = add_all(writers, request, index, &[body], acknowledge).await;
    match added.into_iter().next() {
        Some(Err(problem)) => fail(request, &problem),
        outcome => {
            let id = outcome.and_then(Result::ok).unwrap_or_default();
            let answer = created(index, &id);
            respond(request, &params, StatusCode::CREATED, answer)
        }
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
    let publishing = lanes.iter().map(|(_, writer)| writer.lane.publish_now());
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
pub(super) fn lanes_of(
    writers: &Writers,
    request: &Request<'_>,
    names: &str,
) -> Result<Vec<(String, Writer)>, Problem> {
    let mut found: BTreeMap<String, Writer> = BTreeMap::new();
    let known = writers.names();
    for pattern in names.split(',') {
        let pattern = if pattern == "_all" { "*" } else { pattern };
        // As in searches, what is found by then is left out again.
        if let Some(excluded) = pattern.strip_prefix('-')
            && !found.is_empty()
        {
            let excluded = [excluded.to_owned()];
            found.retain(|name, _| !matches_any(&excluded, name));
            continue;
        }
        let patterns = [pattern.to_owned()];
        let mut is_any = pattern.contains('*');
        for name in known.iter().filter(|name| matches_any(&patterns, name)) {
            if let Some(writer) = writers.writer(name, request) {
                is_any = true;
                found.insert(name.clone(), writer);
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
    match action.verb {
        Verb::Update | Verb::Delete => {
            let verb = action.verb.as_str();
            let reason = format!(
                "documents are only added here, so that there is no [{verb}] by an id: delete them with \
                 _delete_by_query"
            );
            return Some(Problem::illegal(reason));
        }
        Verb::Index | Verb::Create => {}
    }
    if action.id.is_some() {
        return Some(Problem::illegal(NO_IDS));
    }
    let unknown = action.unknown.as_ref()?;
    Some(Problem::illegal(format!(
        "[{unknown}] of an action is not supported"
    )))
}

/// Adds documents to an index, which is made if a template says so, and says of each what became of it.
async fn add_all(
    writers: &Writers,
    request: &Request<'_>,
    index: &str,
    documents: &[&[u8]],
    acknowledge: Acknowledge,
) -> Vec<Added> {
    let add = |lane: Arc<Lane>| async move { add_each(&lane, documents, acknowledge).await };
    let added = add_to(writers, request, index, Absent::MadeForDocuments, add).await;
    added.unwrap_or_else(|problem| vec![Err(problem); documents.len()])
}

/// Adds documents, and says of each who it is, or why it was not taken.
///
/// # Errors
/// If none of them could be, because the index is gone or cannot be read.
async fn add_each(
    lane: &Lane,
    documents: &[&[u8]],
    acknowledge: Acknowledge,
) -> Result<Vec<Added>, Problem> {
    // Analysis takes a core for some milliseconds, and the config may have to be read.
    let found = tokio::task::block_in_place(|| lane.problems(documents.iter().copied()));
    let found = found.map_err(|refusal| Problem::refused(&refusal))?;
    let is_good = |(_, problem): &(&&[u8], &Option<_>)| problem.is_none();
    let good: Vec<&[u8]> = documents
        .iter()
        .zip(&found)
        .filter(is_good)
        .map(|(document, _)| *document)
        .collect();
    let added = match good.is_empty() {
        true => Ok(None),
        false => lane.add(&good, acknowledge).await,
    };
    if let Err(Refusal::Gone) = added {
        return Err(Problem::refused(&Refusal::Gone));
    }
    let mut places = 0..;
    let mut outcome_of_good = || match &added {
        Ok(ids) => {
            let place = places.next().unwrap_or_default();
            Ok(ids.map_or_else(String::new, |ids| ids.nth(place)))
        }
        Err(refusal) => Err(Problem::refused(refusal)),
    };
    let outcomes = found.into_iter().map(|problem| match problem {
        Some(problem) => Err(Problem::invalid(
            "document_parsing_exception",
            problem.message,
        )),
        None => outcome_of_good(),
    });
    Ok(outcomes.collect())
}

/// What is said of a document that was taken. Its id is the one that searches show.
fn created(index: &str, id: &str) -> Value {
    json!({
        "_index": index, "_id": id, "_version": 1, "result": "created",
        "_shards": {"total": 1, "successful": 1, "failed": 0},
        "_seq_no": 0, "_primary_term": 1, "status": 201,
    })
}

pub(super) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
