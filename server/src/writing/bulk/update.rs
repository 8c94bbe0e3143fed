//! `_update`: a document is read, changed, and written if it is still the same.

use axum::http::StatusCode;
use canter_intake::{Acknowledge, Condition, Lane, LineOutcome, Verb};
use canter_names::FilterPath;
use canter_runtime::session::HttpRequest;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::super::scripts::{Scripting, Seen, Use, Wanted, stored_scripts};
use super::asked::{Asked, conflict, done};
use super::change::{Change, merge, source_of_action};
use super::items::Done;
use crate::requests::{ChangeRequest, Problem, refused_document};

/// Number of times that a document may be changed by others meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// A document with its version.
struct Current {
    /// `None` if the index shows nothing of its documents.
    source: Option<Map<String, Value>>,
    version: u64,
    seq_no: u64,
}

/// What became of a document.
pub(super) struct Updated {
    pub(super) done: Done,
    pub(super) seq_no: Option<u64>,
    /// What the answer shows of it.
    pub(super) source: Option<Value>,
}

/// Changes a document, or adds one.
///
/// # Errors
/// The change is invalid, there is no such document, or it is changed by others all the time.
pub(super) async fn update(
    request: &ChangeRequest<'_>,
    lane: &Lane,
    (index, id_field): (&str, &str),
    asked: &Asked<'_>,
    (acknowledge, wanted): (Acknowledge, Option<&FilterPath>),
) -> Result<Updated, Problem> {
    let stored = stored_scripts(request, asked.body()).await?;
    let change = Change::read(asked.body().unwrap_or_default(), stored.as_deref())?;
    let of_action = source_of_action(asked)?;
    let wanted = change.source.as_ref().or(of_action.as_ref()).or(wanted);
    let shown = |source: &Map<String, Value>| Some(wanted?.apply(source.clone().into()));
    let id = asked.id.as_deref().unwrap_or_default();
    check_shows_whole(lane, index)?;
    let mut last = conflict(format!("[{id}]: version conflict"));
    for _ in 0..MAX_ATTEMPTS {
        // What was taken before counts.
        let published = lane.publish_now().await;
        published.map_err(|refusal| Problem::refused(&refusal))?;
        let current = current(request, index, (id, asked.routing.as_deref())).await?;
        if let Some(problem) = conflict_with(asked, current.as_ref()) {
            return Err(problem);
        }
        let (made, condition) = made_of(&change, (index, asked), current.as_ref())?;
        let document = match (made, &current) {
            (Made::Document(document), _) => document,
            (Made::Nothing | Made::Deletion, None) => return Ok(unchanged(0, None, None)),
            (Made::Nothing, Some(current)) => {
                let source = current.source.as_ref().and_then(shown);
                return Ok(unchanged(current.version, Some(current.seq_no), source));
            }
            (Made::Deletion, Some(_)) if !request.may_delete => return Err(no_deleting()),
            (Made::Deletion, Some(current)) => {
                let deleted = deletion(asked, Condition::SeqNo(current.seq_no));
                match perform(lane, &deleted, id_field, acknowledge).await? {
                    Ok(performed) => return Ok(updated(performed, None)),
                    Err(problem) => last = problem,
                }
                continue;
            }
        };
        let source = shown(&document);
        let document = Value::Object(document).to_string();
        let changed = Asked {
            verb: asked.verb,
            body: Some(document.as_bytes().into()),
            routing: asked.routing.clone(),
            ..deletion(asked, condition)
        };
        check(lane, &changed, id_field)?;
        match perform(lane, &changed, id_field, acknowledge).await? {
            Ok(performed) => return Ok(updated(performed, source)),
            Err(problem) => last = problem,
        }
    }
    Err(last)
}

fn unchanged(version: u64, seq_no: Option<u64>, source: Option<Value>) -> Updated {
    updated((Done::Unchanged(version), seq_no), source)
}

fn updated((done, seq_no): (Done, Option<u64>), source: Option<Value>) -> Updated {
    Updated {
        done,
        seq_no,
        source,
    }
}

/// What a change makes of a document.
enum Made {
    Document(Map<String, Value>),
    Nothing,
    Deletion,
}

/// Returns what a change makes of a document, and the condition under which that is written.
///
/// # Errors
/// There is no such document, or a script fails.
fn made_of(
    change: &Change,
    (index, asked): (&str, &Asked<'_>),
    current: Option<&Current>,
) -> Result<(Made, Condition), Problem> {
    let id = asked.id.as_deref().unwrap_or_default();
    let seen = Seen {
        index: index.to_owned(),
        id: id.to_owned(),
        routing: asked.routing.as_deref().map(str::to_owned),
        version: current.map(|current| current.version),
    };
    let scripted = |script: &Scripting, source, of| {
        let scripted = script.run(source, &seen, of)?;
        Ok::<_, Problem>(match scripted.wanted {
            Wanted::Written => Made::Document(scripted.source),
            Wanted::Unchanged => Made::Nothing,
            Wanted::Deleted => Made::Deletion,
        })
    };
    let Some(current) = current else {
        let is_other = matches!(asked.condition, Some(Condition::SeqNo(_)));
        let upsert = change.upsert.clone().filter(|_| !is_other);
        let upsert = upsert.ok_or_else(|| missing(id))?;
        let made = match change.script.as_ref().filter(|_| change.scripts_upsert) {
            Some(script) => scripted(script, upsert, Use::Upsert)?,
            None => Made::Document(upsert),
        };
        return Ok((made, Condition::Absent));
    };
    let before = current.source.as_ref().ok_or_else(|| hides_values(index))?;
    let made = match &change.script {
        Some(script) => scripted(script, before.clone(), Use::Update)?,
        None => {
            let mut changed = before.clone();
            merge(&mut changed, change.doc.clone().unwrap_or_default());
            match change.detects_noop && changed == *before {
                true => Made::Nothing,
                false => Made::Document(changed),
            }
        }
    };
    Ok((made, Condition::SeqNo(current.seq_no)))
}

/// Returns the deletion of the document that an action is about.
fn deletion<'b>(asked: &Asked<'b>, condition: Condition) -> Asked<'b> {
    Asked {
        index: asked.index,
        ord: asked.ord,
        verb: Verb::Delete,
        id: asked.id.clone(),
        body: None,
        condition: Some(condition),
        routing: None,
        source: None,
    }
}

/// Returns the error of a sender that may not delete.
pub(in crate::writing) fn no_deleting() -> Problem {
    Problem {
        detail: None,
        status: StatusCode::FORBIDDEN,
        kind: "security_exception",
        reason: "deleting needs the right delete".to_owned(),
    }
}

/// Performs one operation: returns what became of it, or the condition that did not hold.
///
/// # Errors
/// It could not be performed.
async fn perform(
    lane: &Lane,
    asked: &Asked<'_>,
    id_field: &str,
    acknowledge: Acknowledge,
) -> Result<Result<(Done, Option<u64>), Problem>, Problem> {
    let operation = [asked.operation()];
    let taken = lane.perform(&operation, Some(id_field), acknowledge);
    let taken = taken.await.map_err(|refusal| Problem::refused(&refusal))?;
    Ok(done(asked, taken.outcomes.first()))
}

/// Deletes a document with a routing: one with another routing is not found.
///
/// # Errors
/// The condition does not hold, or the document is changed by others all the time.
pub(super) async fn delete(
    request: &ChangeRequest<'_>,
    lane: &Lane,
    (index, id_field): (&str, &str),
    asked: &Asked<'_>,
    acknowledge: Acknowledge,
) -> Result<Updated, Problem> {
    let id = asked.id.as_deref().unwrap_or_default();
    let mut last = conflict(format!("[{id}]: version conflict"));
    for _ in 0..MAX_ATTEMPTS {
        // What was taken before counts.
        let published = lane.publish_now().await;
        published.map_err(|refusal| Problem::refused(&refusal))?;
        let current = current(request, index, (id, asked.routing.as_deref())).await?;
        let Some(current) = current else {
            return Ok(updated((Done::NotFound(1), None), None));
        };
        let condition = asked.condition.unwrap_or(Condition::SeqNo(current.seq_no));
        let deleted = deletion(asked, condition);
        match perform(lane, &deleted, id_field, acknowledge).await? {
            Ok(performed) => return Ok(updated(performed, None)),
            Err(problem) if asked.condition.is_some() => return Err(problem),
            Err(problem) => last = problem,
        }
    }
    Err(last)
}

/// Checks that documents of an index are read with all of their values: one that is written again keeps no others.
/// Blocks: the index config may have to be read.
///
/// # Errors
/// The index hides values, or its config cannot be read.
pub(in crate::writing) fn check_shows_whole(lane: &Lane, index: &str) -> Result<(), Problem> {
    let shows = tokio::task::block_in_place(|| lane.shows_whole_documents());
    match shows.map_err(|refusal| Problem::refused(&refusal))? {
        true => Ok(()),
        false => Err(hides_values(index)),
    }
}

fn hides_values(index: &str) -> Problem {
    Problem::illegal(format!(
        "the mapping of [{index}] hides values of its documents with [_source], and a document that is read and \
         written again would lose them: send whole documents"
    ))
}

fn missing(id: &str) -> Problem {
    Problem {
        detail: None,
        status: StatusCode::NOT_FOUND,
        kind: "document_missing_exception",
        reason: format!("[{id}]: document missing"),
    }
}

/// Returns the problem of a document that is another version than the one that is asked for.
fn conflict_with(asked: &Asked<'_>, current: Option<&Current>) -> Option<Problem> {
    let current = current?;
    match asked.condition {
        Some(Condition::SeqNo(wanted)) if current.seq_no != wanted => {
            let found = canter_index_builder::LiveVersion {
                version: current.version,
                seq_no: Some(current.seq_no),
            };
            done(asked, Some(&LineOutcome::Conflict(Some(found)))).err()
        }
        _ => None,
    }
}

/// # Errors
/// The index does not allow what the change makes of the document.
fn check(lane: &Lane, asked: &Asked<'_>, id_field: &str) -> Result<(), Problem> {
    if let Some(problem) = asked.problem(id_field) {
        return Err(problem);
    }
    let mut found = None;
    let told = tokio::task::block_in_place(|| {
        lane.check_each(asked.body(), &mut |problem| found = problem)
    });
    told.map_err(|refusal| Problem::refused(&refusal))?;
    match found {
        None => Ok(()),
        Some(problem) => Err(refused_document(problem)),
    }
}

/// Returns the document with an id, as searches find it.
async fn current(
    request: &ChangeRequest<'_>,
    index: &str,
    (id, routing): (&str, Option<&str>),
) -> Result<Option<Current>, Problem> {
    let encoded = |name: &str| utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    let get = HttpRequest {
        method: "GET".to_owned(),
        path: format!("/{}/_doc/{}", encoded(index), encoded(id)),
        query: routing.map_or_else(String::new, |routing| {
            format!("routing={}", encoded(routing))
        }),
        body: Vec::new(),
    };
    let found = request
        .searcher
        .http(get, request.caller, request.limits)
        .await;
    let (status, body) = (found.response.status, found.response.body);
    let unread = || Problem {
        detail: None,
        status: StatusCode::SERVICE_UNAVAILABLE,
        kind: "unavailable_shards_exception",
        reason: format!(
            "[{id}]: the document cannot be read: {}",
            String::from_utf8_lossy(&body)
        ),
    };
    let found: Value = serde_json::from_slice(&body).map_err(|_| unread())?;
    match (status, &found["_source"]) {
        (404, _) if found["found"] == Value::Bool(false) => Ok(None),
        (200, source @ (Value::Object(_) | Value::Null)) => Ok(Some(Current {
            source: source.as_object().cloned(),
            version: found["_version"].as_u64().unwrap_or(1),
            seq_no: found["_seq_no"].as_u64().ok_or_else(unread)?,
        })),
        _ => Err(unread()),
    }
}
