//! Elasticsearch's `_bulk`, `_doc` and `_refresh`.

mod answer;
mod asked;
mod change;
mod items;
mod perform;
mod piping;
mod update;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::http::StatusCode;
use axum::response::Response;
use canter_intake::{Acknowledge, Action, Lane, Verb, parse_bulk};
use canter_names::FilterPath;
use serde_json::json;

use super::adding::{Absent, add_to, lanes_of};
use super::declaring::declare;
use asked::{Asked, condition_of};
use items::Items;
use perform::{add_each, lock};
pub(super) use piping::Piping;
use piping::{Passed, through};
pub(super) use update::{check_shows_whole, no_deleting};

use crate::http::{HeldBody, Refuse};
use crate::indexes::Writers;
use crate::requests::{ChangeRequest, Params, Problem, fail, respond};

/// Maximum number of missing indexes that one body may name.
const MAX_NEW: usize = 64;

const TOO_MANY_NEW: &str =
    "the body names more than 64 indexes that there are not: send their documents in several";

/// Maximum length of an index's name in bytes, as in Elasticsearch.
const MAX_NAME_BYTES: usize = 255;

/// Handles `POST /_bulk`.
pub(super) async fn bulk(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    of_path: Option<&str>,
    body: HeldBody,
) -> Response {
    let started = Instant::now();
    let (params, how, of_all) = match read_params(request).and_then(|(mut params, how)| {
        params.one_of("op_type", &["create", "index"])?;
        let routing = params.text("routing");
        let of_all = OfAll {
            index: of_path,
            routing: routing.as_deref().map(Box::from),
            requires_alias: params.flag("require_alias")?.unwrap_or(false),
            pipeline: params.text("pipeline"),
        };
        params.finish()?;
        Ok((params, how, of_all))
    }) {
        Ok(read) => read,
        Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
    };
    let asked = of_all.pipeline.as_deref();
    let piping = match Piping::of(request, asked, body.bytes.len()).await {
        Ok(piping) => piping,
        Err(problem) => return fail(request, &problem),
    };
    let read = match writers.turn_to_read().await {
        Ok(_turn) => {
            tokio::task::block_in_place(|| read(writers, request, (&of_all, piping), &body.bytes))
        }
        Err(problem) => return fail(request, &problem),
    };
    let (mut items, documents) = match read {
        Ok(read) => read,
        Err((status, message)) => return request.api.refusal(status, &message),
    };
    items.is_forced = how.acknowledge == Acknowledge::PublishedNow;
    let items = Mutex::new(items);
    let groups = documents.chunk_by(|one, other| one.index == other.index);
    let adding = groups.map(|group| add_all(writers, request, &items, group, &how));
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

/// What holds for all actions that do not say it themselves.
struct OfAll<'p> {
    index: Option<&'p str>,
    routing: Option<Box<str>>,
    requires_alias: bool,
    pipeline: Option<String>,
}

/// Parses all actions of a body: returns the answers known so far, and the documents to add, by index.
///
/// # Errors
/// If the body is invalid, or too large: a status and a message.
fn read<'b>(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    (of_all, mut piping): (&OfAll<'_>, Option<Piping<'_>>),
    body: &'b [u8],
) -> Result<(Items, Vec<Asked<'b>>), (StatusCode, String)> {
    let mut items = Items::default();
    let mut documents: Vec<Asked<'b>> = Vec::new();
    let target_of = |name: &str| target_of(request, name, false);
    for action in parse_bulk(body, writers.max_items) {
        let action = action.map_err(|error| {
            let status = match error.is_too_large() {
                true => StatusCode::PAYLOAD_TOO_LARGE,
                false => StatusCode::BAD_REQUEST,
            };
            (status, error.to_string())
        })?;
        let Some(name) = action.index.as_deref().or(of_all.index) else {
            let message = "an action names no index: give it an [_index], or name one in the path";
            return Err((StatusCode::BAD_REQUEST, message.to_owned()));
        };
        let requires_alias = action.require_alias.unwrap_or(of_all.requires_alias);
        let target = self::target_of(request, name, requires_alias);
        let name = target.as_deref().unwrap_or(name).to_owned();
        let checked = target.and_then(|_| condition_of(&action, request));
        let asked = of_all.pipeline.as_deref();
        let action = through(&target_of, piping.as_mut(), asked, action, name);
        let checked = checked.map(|condition| action.condition(condition));
        let name = action.index.as_str();
        let index = items.index(&name[..name.floor_char_boundary(MAX_NAME_BYTES)]);
        let ord = u32::try_from(items.len()).unwrap_or(u32::MAX);
        items.push(action.verb, index, action.id.clone());
        match (checked, action.body) {
            (Err(problem), _) | (Ok(_), Err(problem)) => items.failed(ord, problem),
            (Ok(_), Ok(Passed::Dropped)) => items.done(ord, items::Done::Dropped, None),
            (Ok(condition), Ok(Passed::Body(body))) => documents.push(Asked {
                index,
                ord,
                verb: action.verb,
                id: action.id,
                body,
                condition,
                routing: action.routing.or_else(|| of_all.routing.clone()),
                source: action.source,
            }),
        }
    }
    documents.sort_by_key(|document| document.index);
    refuse_many_new(writers, request, &mut items, &mut documents);
    Ok((items, documents))
}

/// Returns the index that is meant by a name.
///
/// # Errors
/// As [`ChangeRequest::target`]; the name is longer than a name may be.
fn target_of(
    request: &ChangeRequest<'_>,
    name: &str,
    requires_alias: bool,
) -> Result<String, Problem> {
    let target = request.target(name, requires_alias)?.into_owned();
    match target.len() <= MAX_NAME_BYTES {
        true => Ok(target),
        false => Err(Problem::illegal(format!(
            "an index name of {} bytes is too long, the limit is {MAX_NAME_BYTES}",
            target.len()
        ))),
    }
}

/// Refuses too many missing indexes: the catalog is read once for each, in turn.
fn refuse_many_new(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    items: &mut Items,
    documents: &mut Vec<Asked<'_>>,
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
    let is_of_new = |document: &Asked<'_>| new.binary_search(&document.index).is_ok();
    let refused = documents.iter().filter(|document| is_of_new(document));
    items.all_failed(
        refused.map(|document| document.ord),
        Problem::illegal(TOO_MANY_NEW),
    );
    documents.retain(|document| !is_of_new(document));
}

/// Handles `_doc`, `_create` and `_update`.
pub(super) async fn document(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    (verb, index, id): (Verb, &str, Option<&str>),
    body: &[u8],
) -> Response {
    let (params, how, action, (requires_alias, pipeline)) =
        match read_document(request, (verb, id), body) {
            Ok(read) => read,
            Err(message) => return request.api.refusal(StatusCode::BAD_REQUEST, &message),
        };
    let taken = async {
        let target = request.target(index, requires_alias)?.into_owned();
        let condition = condition_of(&action, request)?;
        let asked = pipeline.as_deref();
        let mut piping = Piping::of(request, asked, body.len()).await?;
        let target_of = |name: &str| target_of(request, name, false);
        let taken = tokio::task::block_in_place(|| {
            through(&target_of, piping.as_mut(), asked, action, target)
        });
        Ok::<_, Problem>((taken, condition))
    };
    let (taken, condition) = match taken.await {
        Ok(taken) => taken,
        Err(problem) => return fail(request, &problem),
    };
    let condition = taken.condition(condition);
    let mut items = Items::default();
    items.is_forced = how.acknowledge == Acknowledge::PublishedNow;
    let place = items.index(&taken.index);
    items.push(taken.verb, place, taken.id.clone());
    let group = match taken.body {
        Err(problem) => return fail(request, &problem),
        Ok(Passed::Dropped) => {
            items.done(0, items::Done::Dropped, None);
            Vec::new()
        }
        Ok(Passed::Body(body)) => vec![Asked {
            index: place,
            ord: 0,
            verb: taken.verb,
            id: taken.id,
            body,
            condition,
            routing: taken.routing,
            source: None,
        }],
    };
    let items = Mutex::new(items);
    add_all(writers, request, &items, &group, &how).await;
    let items = items.into_inner().unwrap_or_else(PoisonError::into_inner);
    match items.outcome(0) {
        Err(problem) => fail(request, problem),
        Ok((status, answer)) => respond(request, &params, status, answer),
    }
}

/// The parameters, how the action is performed, the action, and whether the index must be an alias and which pipeline the
/// document passes.
type OneDocument<'b> = (Params, How, Action<'b>, (bool, Option<String>));

/// Reads the parameters of a request for one document.
///
/// # Errors
/// A parameter is unknown or invalid.
fn read_document<'b>(
    request: &ChangeRequest<'_>,
    (verb, id): (Verb, Option<&str>),
    body: &'b [u8],
) -> Result<OneDocument<'b>, String> {
    let (mut params, how) = read_params(request)?;
    let verb = match (params.text("op_type").as_deref(), verb) {
        (Some("create"), Verb::Index) => Verb::Create,
        // Where the index chooses the id, the document is new.
        (None, Verb::Index) if id.is_none() => Verb::Create,
        (None | Some("index"), verb) | (Some("create"), verb @ Verb::Create) => verb,
        (Some(other), _) => return Err(format!("[op_type] cannot be [{other}] here")),
    };
    let action = Action {
        verb,
        index: None,
        id: id.map(str::to_owned),
        unknown: None,
        pipeline: None,
        if_seq_no: number(params.text("if_seq_no"), "if_seq_no")?,
        if_primary_term: number(params.text("if_primary_term"), "if_primary_term")?,
        version: number(params.text("version"), "version")?,
        version_type: params.text("version_type"),
        routing: params.text("routing"),
        source: None,
        require_alias: None,
        document: Some(body).filter(|_| verb != Verb::Delete),
    };
    number(params.text("retry_on_conflict"), "retry_on_conflict")?;
    let requires_alias = params.flag("require_alias")?.unwrap_or(false);
    let pipeline = params.text("pipeline");
    params.finish()?;
    Ok((params, how, action, (requires_alias, pipeline)))
}

/// # Errors
/// The value of a parameter is no number.
fn number(text: Option<String>, name: &str) -> Result<Option<u64>, String> {
    let number = text.as_deref().map(str::parse);
    let wrong = |_| {
        format!(
            "[{name}] is a number, and not [{}]",
            text.as_deref().unwrap_or_default()
        )
    };
    number.transpose().map_err(wrong)
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

/// How a request wants its actions performed and answered.
struct How {
    acknowledge: Acknowledge,
    /// The parts of an updated document that the answer shows.
    source: Option<FilterPath>,
}

fn read_params(request: &ChangeRequest<'_>) -> Result<(Params, How), String> {
    let mut params = Params::of(request.query)?;
    let acknowledge = params.refresh()?;
    params.one_of("require_data_stream", &["false"])?;
    params.text("list_executed_pipelines");
    let source = change::wanted_source(&mut params)?;
    // The types of old versions.
    params.one_of("type", &["_doc"])?;
    Ok((
        params,
        How {
            acknowledge,
            source,
        },
    ))
}

/// Adds documents of one index, which is created if a template says so, and records the outcome of each.
async fn add_all(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    items: &Mutex<Items>,
    group: &[Asked<'_>],
    how: &How,
) {
    let Some(first) = group.first() else {
        return;
    };
    let name = lock(items).name(first.index);
    if let Some(problem) = request.root.and_then(|root| root.block_on_writes(&name)) {
        let ords = group.iter().map(|document| document.ord);
        return lock(items).all_failed(ords, problem);
    }
    // Whether a condition holds is known when it is published.
    let acknowledge = match group.iter().any(Asked::is_conditional) {
        true if how.acknowledge == Acknowledge::Durable => Acknowledge::Published,
        _ => how.acknowledge,
    };
    let how = (acknowledge, how.source.as_ref());
    let group = match declared(writers, request, items, &name, group).await {
        Ok(group) => group,
        Err(problem) => {
            let ords = group.iter().map(|document| document.ord);
            return lock(items).all_failed(ords, problem);
        }
    };
    let group = &*streamed(request, items, &name, &group);
    let add =
        |lane: Arc<Lane>| async move { add_each(writers, request, &lane, items, group, how).await };
    let added = add_to(writers, request, &name, Absent::MadeForDocuments, add).await;
    if let Err(problem) = added {
        let ords = group.iter().map(|document| document.ord);
        lock(items).all_failed(ords, problem);
    }
}

/// Adds the fields of documents to the mapping that names them by patterns. Returns the actions that remain, and records
/// what is wrong with the others.
async fn declared<'g, 'b>(
    writers: &Writers,
    request: &ChangeRequest<'_>,
    items: &Mutex<Items>,
    name: &str,
    group: &'g [Asked<'b>],
) -> Result<Cow<'g, [Asked<'b>]>, Problem> {
    let documents = || group.iter().map(Asked::fields).collect();
    let target = (name, Absent::MadeForDocuments);
    let problems = declare(writers, request, target, &documents).await?;
    if problems.iter().all(Option::is_none) {
        return Ok(Cow::Borrowed(group));
    }
    let mut remaining = Vec::new();
    let mut items = lock(items);
    for (asked, problem) in group.iter().zip(problems) {
        match problem {
            Some(problem) => items.failed(asked.ord, problem),
            None => remaining.push(asked.clone()),
        }
    }
    Ok(Cow::Owned(remaining))
}

/// Returns the actions that a data stream takes, and records what is wrong with the others. Another index takes all.
fn streamed<'g, 'b>(
    request: &ChangeRequest<'_>,
    items: &Mutex<Items>,
    name: &str,
    group: &'g [Asked<'b>],
) -> Cow<'g, [Asked<'b>]> {
    let entry = request.root.and_then(|root| root.entry(name));
    if !entry.is_some_and(|entry| entry.is_data_stream) {
        return Cow::Borrowed(group);
    }
    let mut items = lock(items);
    let mut remaining = Vec::new();
    for asked in group {
        match asked.problem_of_stream() {
            Some(problem) => items.failed(asked.ord, problem),
            None => remaining.push(asked.clone()),
        }
    }
    Cow::Owned(remaining)
}

pub(super) fn millis(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX)
}
