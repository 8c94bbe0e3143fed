//! Elasticsearch's `_bulk`, `_doc` and `_refresh`.

mod answer;
mod items;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use canter_access::matches_any;
use canter_intake::{Acknowledge, Action, Lane, Refusal, Verb, parse_bulk};
use serde_json::{Value, json};

use super::adding::{Absent, add_to};
use items::Items;

use crate::http::{HeldBody, Refuse};
use crate::indexes::{Writer, Writers};
use crate::requests::{ChangeRequest, Params, Problem, fail, respond};

/// Maximum number of missing indexes that one body may name.
const MAX_NEW: usize = 64;

const TOO_MANY_NEW: &str =
    "the body names more than 64 indexes that there are not: send their documents in several";

/// Maximum length of an index's name in bytes, as in Elasticsearch.
const MAX_NAME_BYTES: usize = 255;

/// Documents have the ids of their places, and no others.
const NO_IDS: &str = "documents are only added here, and never replaced: leave [_id] out";

/// Handles `POST /_bulk`.
pub(super) async fn bulk(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    of_path: Option<&str>,
    body: HeldBody,
) -> Response {
    let started = Instant::now();
    let (params, acknowledge) = match read_params(request) {
        Ok(read) => read,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    let read = match writers.turn_to_read().await {
        Ok(_turn) => tokio::task::block_in_place(|| read(writers, request, of_path, &body.bytes)),
        Err(problem) => return fail(request, &problem),
    };
    let (items, documents) = match read {
        Ok(read) => read,
        Err((status, message)) => return request.api.refusal(status, &message),
    };
    let items = Mutex::new(items);
    let groups = documents.chunk_by(|one, other| one.index == other.index);
    let adding = groups.map(|group| add_all(writers, request, &items, group, acknowledge));
    futures_util::future::join_all(adding).await;
    drop(documents);
    let mut share = body.into_share();
    let items = items.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(problem) = items.all_busy() {
        // Nothing was accepted: clients that only look at the status send all of it again.
        return request
            .api
            .refusal(StatusCode::TOO_MANY_REQUESTS, &problem.reason);
    }
    // A client may read the answer slowly.
    share.keep(items.num_bytes());
    answer::answer(request, params, started, items, share)
}

/// A document to add.
struct Document<'b> {
    /// The number of its index.
    index: u32,
    /// The number of its action.
    ord: u32,
    bytes: &'b [u8],
}

/// Parses all actions of a body: returns the answers known so far, and the documents to add, by index.
///
/// # Errors
/// If the body is invalid, or too large: a status and a message.
fn read<'b>(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    of_path: Option<&str>,
    body: &'b [u8],
) -> Result<(Items, Vec<Document<'b>>), (StatusCode, String)> {
    let mut items = Items::default();
    let mut documents: Vec<Document<'b>> = Vec::new();
    for action in parse_bulk(body, writers.max_items) {
        let action = action.map_err(|error| {
            let status = match error.is_too_large() {
                true => StatusCode::PAYLOAD_TOO_LARGE,
                false => StatusCode::BAD_REQUEST,
            };
            (status, error.to_string())
        })?;
        let Some(name) = action.index.as_deref().or(of_path) else {
            let message = "an action names no index: give it an [_index], or name one in the path";
            return Err((StatusCode::BAD_REQUEST, message.to_owned()));
        };
        let ord = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let is_name = name.len() <= MAX_NAME_BYTES;
        let index = items.index(&name[..name.floor_char_boundary(MAX_NAME_BYTES)]);
        let problem = match is_name {
            true => undoable(&action),
            false => Some(Problem::illegal(format!(
                "an index name of {} bytes is too long, the limit is {MAX_NAME_BYTES}",
                name.len()
            ))),
        };
        items.push(action.verb, index, action.id.map(String::into_boxed_str));
        match (problem, action.document) {
            (Some(problem), _) => items.failed(ord, problem),
            (None, document) => {
                documents.extend(document.map(|bytes| Document { index, ord, bytes }))
            }
        }
    }
    documents.sort_by_key(|document| document.index);
    refuse_many_new(writers, request, &mut items, &mut documents);
    Ok((items, documents))
}

/// Refuses too many missing indexes: the catalog is read once for each, in turn.
fn refuse_many_new(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    items: &mut Items,
    documents: &mut Vec<Document<'_>>,
) {
    let is_new = |index: u32| request.writer(writers, &items.name(index)).is_none();
    let groups = documents.chunk_by(|one, other| one.index == other.index);
    let indexes = groups
        .filter_map(|group| group.first())
        .map(|first| first.index);
    let new: Vec<u32> = indexes.filter(|index| is_new(*index)).collect();
    if new.len() <= MAX_NEW {
        return;
    }
    // Both are ordered by index.
    let is_of_new = |document: &Document<'_>| new.binary_search(&document.index).is_ok();
    let refused = documents.iter().filter(|document| is_of_new(document));
    items.all_failed(
        refused.map(|document| document.ord),
        Problem::illegal(TOO_MANY_NEW),
    );
    documents.retain(|document| !is_of_new(document));
}

/// Handles `POST /<index>/_doc`.
pub(super) async fn document(
    writers: &Writers,
    request: &ChangeRequest<'_>,
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
    let mut items = Items::default();
    let place = items.index(index);
    items.push(Verb::Index, place, None);
    let items = Mutex::new(items);
    let group = [Document {
        index: place,
        ord: 0,
        bytes: body,
    }];
    add_all(writers, request, &items, &group, acknowledge).await;
    let items = items.into_inner().unwrap_or_else(PoisonError::into_inner);
    match items.outcome(0) {
        Err(problem) => fail(request, problem),
        Ok(id) => {
            let answer = created(index, &id);
            respond(request, &params, StatusCode::CREATED, answer)
        }
    }
}

/// Handles `POST /<indexes>/_refresh`.
pub(super) async fn refresh(
    writers: &Writers,
    request: &ChangeRequest<'_>,
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

/// Returns the indexes that match a list of names and patterns, among those that the caller may know of.
pub(super) fn lanes_of(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    names: &str,
) -> Result<Vec<(String, Writer)>, Problem> {
    let mut found: BTreeMap<String, Writer> = BTreeMap::new();
    let known = writers.names();
    for pattern in names.split(',') {
        let pattern = if pattern == "_all" { "*" } else { pattern };
        // As in searches, it excludes indexes found so far.
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
            if let Some(writer) = request.writer(writers, name) {
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

fn read_params(request: &ChangeRequest<'_>) -> Result<(Params, Acknowledge), String> {
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

/// Returns the reason why an action is invalid whatever its document.
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

/// Adds documents of one index, which is created if a template says so, and records the outcome of each.
async fn add_all(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    items: &Mutex<Items>,
    group: &[Document<'_>],
    acknowledge: Acknowledge,
) {
    let Some(first) = group.first() else {
        return;
    };
    let name = lock(items).name(first.index);
    let add =
        |lane: Arc<Lane>| async move { add_each(writers, &lane, items, group, acknowledge).await };
    let added = add_to(writers, request, &name, Absent::MadeForDocuments, add).await;
    if let Err(problem) = added {
        let ords = group.iter().map(|document| document.ord);
        lock(items).all_failed(ords, problem);
    }
}

/// Adds documents of one index, and records the id of each, or why it was not accepted.
///
/// # Errors
/// If none of them could be added, because the index is gone or cannot be read.
async fn add_each(
    writers: &Writers,
    lane: &Lane,
    items: &Mutex<Items>,
    group: &[Document<'_>],
    acknowledge: Acknowledge,
) -> Result<(), Problem> {
    let turn = writers.turn_to_read().await?;
    // Analysis takes a core for some milliseconds, and the config may have to be read.
    let good = tokio::task::block_in_place(|| good_of(lane, items, group))?;
    drop(turn);
    let added = match good.is_empty() {
        true => Ok(None),
        false => lane.add(&good, acknowledge).await,
    };
    match added {
        Ok(ids) => {
            if let Some(first) = group.first() {
                lock(items).has_ids(first.index, ids);
            }
        }
        Err(Refusal::Gone) => return Err(Problem::refused(&Refusal::Gone)),
        Err(refusal) => {
            let mut items = lock(items);
            let ords = group.iter().map(|document| document.ord);
            let ords: Vec<u32> = ords.filter(|ord| items.is_added(*ord)).collect();
            items.all_failed(ords, Problem::refused(&refusal));
        }
    }
    Ok(())
}

/// Returns the valid documents, in order; records the problems of the others.
fn good_of<'b>(
    lane: &Lane,
    items: &Mutex<Items>,
    group: &[Document<'b>],
) -> Result<Vec<&'b [u8]>, Problem> {
    let mut good = Vec::new();
    let mut documents = group.iter();
    let mut note = |problem: Option<canter_index_builder::DocumentProblem>| {
        let Some(document) = documents.next() else {
            return;
        };
        let mut items = lock(items);
        match problem {
            Some(problem) => {
                let problem = Problem::invalid("document_parsing_exception", problem.message);
                items.failed(document.ord, problem);
            }
            None => {
                items.added(document.ord, good.len());
                good.push(document.bytes);
            }
        }
    };
    let all = group.iter().map(|document| document.bytes);
    let checked = lane.check_each(all, &mut note);
    checked.map_err(|refusal| Problem::refused(&refusal))?;
    Ok(good)
}

fn lock(items: &Mutex<Items>) -> MutexGuard<'_, Items> {
    items.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the answer for an accepted document. Searches show the same id.
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
