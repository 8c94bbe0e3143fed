//! `_update`: a document is read, changed, and written if it is still the same.

use axum::http::StatusCode;
use canter_intake::{Acknowledge, Condition, Lane, LineOutcome, Operation};
use canter_runtime::session::HttpRequest;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use super::asked::{Asked, conflict, done};
use super::items::Done;
use crate::requests::{ChangeRequest, Problem};

/// Number of times that a document may be changed by others meanwhile.
const MAX_ATTEMPTS: usize = 5;

/// A change of a document.
struct Change {
    /// Fields that get other values.
    doc: Option<Map<String, Value>>,
    /// What is added if there is no document.
    upsert: Option<Map<String, Value>>,
    detects_noop: bool,
}

/// A document with its version.
struct Current {
    source: Map<String, Value>,
    version: u32,
    seq_no: u64,
}

/// Changes a document, or adds one. Returns what became of it, and the sequence number of that.
///
/// # Errors
/// The change is invalid, there is no such document, or it is changed by others all the time.
pub(super) async fn update(
    request: &ChangeRequest<'_>,
    lane: &Lane,
    (index, id_field): (&str, &str),
    asked: &Asked<'_>,
    acknowledge: Acknowledge,
) -> Result<(Done, Option<u64>), Problem> {
    let change = Change::read(asked.body.unwrap_or_default())?;
    let id = asked.id.as_deref().unwrap_or_default();
    let mut last = conflict(format!("[{id}]: version conflict"));
    for _ in 0..MAX_ATTEMPTS {
        // What was taken before counts.
        let published = lane.publish_now().await;
        published.map_err(|refusal| Problem::refused(&refusal))?;
        let current = current(request, index, id).await?;
        if let Some(Condition::SeqNo(wanted)) = asked.condition
            && current.as_ref().map(|current| current.seq_no) != Some(wanted)
        {
            let found = current.map(|current| canter_index_builder::LiveVersion {
                version: current.version,
                seq_no: Some(current.seq_no),
            });
            return done(asked, Some(&LineOutcome::Conflict(found))).map(|done| (done, None));
        }
        let (document, condition) = match &current {
            None => {
                let missing = || Problem {
                    status: StatusCode::NOT_FOUND,
                    kind: "document_missing_exception",
                    reason: format!("[{id}]: document missing"),
                };
                (
                    change.upsert.clone().ok_or_else(missing)?,
                    Condition::Absent,
                )
            }
            Some(current) => {
                let mut changed = current.source.clone();
                merge(&mut changed, change.doc.clone().unwrap_or_default());
                if change.detects_noop && changed == current.source {
                    return Ok((Done::Unchanged(current.version), Some(current.seq_no)));
                }
                (changed, Condition::SeqNo(current.seq_no))
            }
        };
        let document = Value::Object(document).to_string();
        let changed = Asked {
            index: asked.index,
            ord: asked.ord,
            verb: asked.verb,
            id: asked.id.clone(),
            body: Some(document.as_bytes()),
            condition: Some(condition),
        };
        check(lane, &changed, id_field)?;
        let operation = Operation {
            condition: Some(condition),
            ..changed.operation()
        };
        let taken = lane
            .perform(&[operation], Some(id_field), acknowledge)
            .await;
        let taken = taken.map_err(|refusal| Problem::refused(&refusal))?;
        match done(&changed, taken.outcomes.first()) {
            Ok(done) => return Ok((done, taken.ids.map(|ids| ids.seq_no(0)))),
            Err(problem) => last = problem,
        }
    }
    Err(last)
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
        Some(problem) => Err(Problem::invalid(
            "document_parsing_exception",
            problem.message,
        )),
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
        };
        let mut is_upsert = false;
        for (key, value) in body {
            match (key.as_str(), value) {
                ("doc", Value::Object(doc)) => change.doc = Some(doc),
                ("upsert", Value::Object(upsert)) => change.upsert = Some(upsert),
                ("doc_as_upsert", Value::Bool(flag)) => is_upsert = flag,
                ("detect_noop", Value::Bool(flag)) => change.detects_noop = flag,
                ("script" | "scripted_upsert", _) => {
                    return Err(Problem::illegal(format!(
                        "[{key}] is not supported: there are no scripts here, so send the changed fields as [doc]"
                    )));
                }
                (_, value) => {
                    return Err(parsing(format!("[{key}] cannot be [{value}] in an update")));
                }
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
    id: &str,
) -> Result<Option<Current>, Problem> {
    let encoded = |name: &str| utf8_percent_encode(name, NON_ALPHANUMERIC).to_string();
    let get = HttpRequest {
        method: "GET".to_owned(),
        path: format!("/{}/_doc/{}", encoded(index), encoded(id)),
        query: String::new(),
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
        (200, Value::Object(source)) => Ok(Some(Current {
            source: source.clone(),
            version: found["_version"]
                .as_u64()
                .and_then(|version| u32::try_from(version).ok())
                .unwrap_or(1),
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
