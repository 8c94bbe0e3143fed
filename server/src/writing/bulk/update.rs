//! `_update`: a document is read, changed, and written if it is still the same.

use axum::http::StatusCode;
use canter_intake::{Acknowledge, Condition, Lane, LineOutcome};
use canter_names::FilterPath;
use canter_runtime::session::HttpRequest;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::asked::{Asked, conflict, done};
use super::items::Done;
use crate::requests::{ChangeRequest, Params, Problem, refused_document};

/// Number of times that a document may be changed by others meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// A change of a document.
struct Change {
    /// Fields that get other values.
    doc: Option<Map<String, Value>>,
    /// What is added if there is no document.
    upsert: Option<Map<String, Value>>,
    detects_noop: bool,
    /// What the answer shows of the document.
    source: Option<FilterPath>,
}

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

/// Takes the parameters that say which parts of an updated document are shown.
///
/// # Errors
/// There are too many paths.
pub(super) fn wanted_source(params: &mut Params) -> Result<Option<FilterPath>, String> {
    let given = ["_source", "_source_includes", "_source_excludes"].map(|name| params.text(name));
    let [source, includes, excludes] = given;
    let excludes = excludes.map(|list| excluding(list.split(',')));
    let paths = match source.as_deref() {
        Some("false") => return Ok(None),
        Some("true" | "") => Some(String::new()),
        _ => source,
    };
    let paths = [paths, includes, excludes]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>();
    match paths.is_empty() {
        true => Ok(None),
        false => FilterPath::parse(&paths.join(",")).map(Some),
    }
}

fn excluding<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    paths
        .map(|path| format!("-{path}"))
        .collect::<Vec<_>>()
        .join(",")
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
    let change = Change::read(asked.body.unwrap_or_default())?;
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
        let (document, condition) = match &current {
            None => {
                let is_other = matches!(asked.condition, Some(Condition::SeqNo(_)));
                let upsert = change.upsert.clone().filter(|_| !is_other);
                (upsert.ok_or_else(|| missing(id))?, Condition::Absent)
            }
            Some(current) => {
                let before = current.source.as_ref().ok_or_else(|| hides_values(index))?;
                let mut changed = before.clone();
                merge(&mut changed, change.doc.clone().unwrap_or_default());
                if change.detects_noop && changed == *before {
                    return Ok(Updated {
                        done: Done::Unchanged(current.version),
                        seq_no: Some(current.seq_no),
                        source: shown(before),
                    });
                }
                (changed, Condition::SeqNo(current.seq_no))
            }
        };
        let source = shown(&document);
        let document = Value::Object(document).to_string();
        let changed = Asked {
            index: asked.index,
            ord: asked.ord,
            verb: asked.verb,
            id: asked.id.clone(),
            body: Some(document.as_bytes()),
            condition: Some(condition),
            routing: asked.routing.clone(),
            source: None,
        };
        check(lane, &changed, id_field)?;
        match perform(lane, &changed, id_field, acknowledge).await? {
            Ok((done, seq_no)) => {
                return Ok(Updated {
                    done,
                    seq_no,
                    source,
                });
            }
            Err(problem) => last = problem,
        }
    }
    Err(last)
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
        let updated = |done, seq_no| Updated {
            done,
            seq_no,
            source: None,
        };
        let Some(current) = current else {
            return Ok(updated(Done::NotFound(1), None));
        };
        let deleted = Asked {
            index: asked.index,
            ord: asked.ord,
            verb: asked.verb,
            id: asked.id.clone(),
            body: None,
            condition: asked.condition.or(Some(Condition::SeqNo(current.seq_no))),
            routing: None,
            source: None,
        };
        match perform(lane, &deleted, id_field, acknowledge).await? {
            Ok((done, seq_no)) => return Ok(updated(done, seq_no)),
            Err(problem) if asked.condition.is_some() => return Err(problem),
            Err(problem) => last = problem,
        }
    }
    Err(last)
}

/// Returns the parts of a document that the line of its action asks for.
fn source_of_action(asked: &Asked<'_>) -> Result<Option<FilterPath>, Problem> {
    let Some(text) = &asked.source else {
        return Ok(None);
    };
    let value = serde_json::from_str(text).unwrap_or(Value::Bool(false));
    let shown = (value != Value::Bool(false)).then(|| source_of(&value));
    shown.transpose().map_err(Problem::illegal)
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
    let told =
        tokio::task::block_in_place(|| lane.check_each(asked.body, &mut |problem| found = problem));
    told.map_err(|refusal| Problem::refused(&refusal))?;
    match found {
        None => Ok(()),
        Some(problem) => Err(refused_document(problem)),
    }
}

impl Change {
    fn read(body: &[u8]) -> Result<Self, Problem> {
        let parsing = |reason: String| Problem::invalid("x_content_parse_exception", reason);
        let body: Map<String, Value> = serde_json::from_slice(body)
            .map_err(|error| parsing(format!("the body is no object: {error}")))?;
        let mut change = Self {
            doc: None,
            upsert: None,
            detects_noop: true,
            source: None,
        };
        let mut is_upsert = false;
        for (key, value) in body {
            match (key.as_str(), value) {
                ("doc", Value::Object(doc)) => change.doc = Some(doc),
                ("upsert", Value::Object(upsert)) => change.upsert = Some(upsert),
                ("doc_as_upsert", Value::Bool(flag)) => is_upsert = flag,
                ("_source", Value::Bool(false)) => {}
                ("_source", value) => {
                    change.source = Some(source_of(&value).map_err(Problem::illegal)?);
                }
                ("detect_noop", Value::Bool(flag)) => change.detects_noop = flag,
                ("script" | "scripted_upsert", _) => {
                    return Err(Problem::illegal(format!(
                        "[{key}] is not supported: there are no scripts here, so send the changed fields as [doc]"
                    )));
                }
                (known @ ("doc" | "upsert" | "doc_as_upsert" | "detect_noop"), value) => {
                    return Err(parsing(format!(
                        "[{known}] cannot be [{value}] in an update"
                    )));
                }
                (unknown, _) => return Err(parsing(unknown_field(unknown))),
            }
        }
        if change.doc.is_none() && change.upsert.is_none() {
            return Err(Problem::invalid(
                "action_request_validation_exception",
                "Validation Failed: 1: script or doc is missing;",
            ));
        }
        if is_upsert {
            change.upsert.clone_from(&change.doc);
        }
        Ok(change)
    }
}

/// Returns the parts of a document that a value of `_source` names.
fn source_of(value: &Value) -> Result<FilterPath, String> {
    let list = |value: &Value| match value {
        Value::String(path) => path.clone(),
        Value::Array(paths) => {
            let paths = paths.iter().filter_map(Value::as_str);
            paths.collect::<Vec<_>>().join(",")
        }
        _ => String::new(),
    };
    let excludes = list(&value["excludes"]);
    let excludes = excludes.split(',').filter(|path| !path.is_empty());
    let paths = match value {
        Value::Object(_) => [list(&value["includes"]), excluding(excludes)].join(","),
        _ => list(value),
    };
    FilterPath::parse(&paths)
}

/// Returns the message about an unknown field of a body, with the field that may be meant.
fn unknown_field(name: &str) -> String {
    let known = ["doc", "upsert", "doc_as_upsert", "detect_noop", "_source"];
    let is_near = |own: &&str| {
        let num_other = own
            .chars()
            .zip(name.chars())
            .filter(|(a, b)| a != b)
            .count();
        num_other + own.len().abs_diff(name.len()) <= own.len() / 3
    };
    let near = known.into_iter().find(is_near);
    let near = near.map_or_else(String::new, |own| format!(" did you mean [{own}]?"));
    format!("[UpdateRequest] unknown field [{name}]{near}")
}

/// Sets the values of `changes` in a document: objects key by key, everything else as a whole.
fn merge(into: &mut Map<String, Value>, changes: Map<String, Value>) {
    for (key, value) in changes {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(into)), Value::Object(changes)) => merge(into, changes),
            (_, value) => drop(into.insert(key, value)),
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn changes_go_into_objects_and_replace_everything_else() {
        let mut document = object(json!({"a": {"b": 1, "c": [1, 2]}, "d": 1}));
        merge(
            &mut document,
            object(json!({"a": {"c": [3], "e": null}, "d": {"f": 1}})),
        );
        let wanted = json!({"a": {"b": 1, "c": [3], "e": null}, "d": {"f": 1}});
        assert_eq!(Value::Object(document), wanted);
    }

    #[test]
    fn what_an_update_cannot_do_is_refused_by_name() {
        for (body, why) in [
            ("{\"script\":\"ctx\"}", "no scripts"),
            ("{\"doc\":{},\"lang\":\"x\"}", "[lang]"),
            ("{\"doc\":7}", "[doc] cannot be [7]"),
            ("{}", "script or doc is missing"),
            ("[]", "no object"),
        ] {
            let problem = Change::read(body.as_bytes()).err().unwrap();
            assert!(problem.reason.contains(why), "{body}: {}", problem.reason);
        }
        let upsert = Change::read(b"{\"doc\":{\"a\":1},\"doc_as_upsert\":true}").unwrap();
        assert_eq!(upsert.upsert, Some(object(json!({"a": 1}))));
    }
}
