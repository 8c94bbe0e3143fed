//! Errors in Elasticsearch's form, and the headers that its clients expect.

use canter_names::Api;
use canter_protocol::{HttpResponse, Outcome};
use serde_json::{Value, json};

use crate::api::http::response_of;
use crate::exchange::Exchange;
use crate::root::put;
use crate::search::Searched;
use crate::{ErrorKind, SearchError};

/// The stage of a request at which an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Parsing the request.
    Reading,
    /// Running it.
    Searching,
}

/// Beginning of the messages about requests that lack something.
pub(super) const VALIDATION: &str = "Validation Failed: ";

/// Beginning of the message about a number that no integer of Elasticsearch's holds.
const OUT_OF_RANGE: &str = "Numeric value (";

/// Beginning of the message about hits beyond the last page.
const WINDOW: &str = "Result window is too large";

/// Returns a response with a JSON body.
pub(super) fn elastic_response(status: u16, body: &Value) -> HttpResponse {
    elastic_text(status, body.to_string())
}

/// Returns a response with a JSON body that is already text.
pub(super) fn elastic_text(status: u16, body: String) -> HttpResponse {
    response_of(Api::Elasticsearch, status, body)
}

/// Returns an error as a response.
pub(super) fn error_response(error: &SearchError, stage: Stage, is_late: bool) -> HttpResponse {
    let (status, body) = error_body(error, stage, is_late);
    elastic_response(status, &body)
}

/// Returns the status and the body of an error.
pub(super) fn error_body(error: &SearchError, stage: Stage, is_late: bool) -> (u16, Value) {
    let (status, kind) = match (error.kind, stage) {
        (ErrorKind::Limit, Stage::Searching) if is_late => (504, "timeout_exception"),
        (ErrorKind::Limit, _) if error.message.contains("buckets") => {
            (400, "too_many_buckets_exception")
        }
        (ErrorKind::Invalid, Stage::Reading) if error.message.starts_with(VALIDATION) => {
            (400, "action_request_validation_exception")
        }
        (ErrorKind::Invalid, Stage::Reading) if error.message.starts_with(OUT_OF_RANGE) => {
            (400, "input_coercion_exception")
        }
        (ErrorKind::Invalid, Stage::Reading) if error.message.starts_with("collapse: ") => {
            (400, "x_content_parse_exception")
        }
        (ErrorKind::Invalid, Stage::Reading) => (400, "parsing_exception"),
        (ErrorKind::Invalid, Stage::Searching) => (400, "query_shard_exception"),
        (ErrorKind::Limit, _) => (400, "illegal_argument_exception"),
        (ErrorKind::NotFound, _) if is_context(&error.message) => {
            (404, "search_context_missing_exception")
        }
        (ErrorKind::NotFound, _) => (404, "index_not_found_exception"),
        (ErrorKind::Unavailable, _) => (503, "no_shard_available_action_exception"),
        (ErrorKind::Data | ErrorKind::Internal, _) => (500, "exception"),
    };
    let mut cause = json!({"type": kind, "reason": error.message});
    if let Some(index) = missing_index(&error.message).filter(|_| status == 404) {
        put(&mut cause, "resource.type", "index_or_alias".into());
        put(&mut cause, "resource.id", index.into());
        put(&mut cause, "index_uuid", "_na_".into());
        put(&mut cause, "index", index.into());
    }
    let is_of_shards = match kind {
        "query_shard_exception" | "too_many_buckets_exception" => stage == Stage::Searching,
        _ => error.message.starts_with(WINDOW),
    };
    let mut whole = match is_of_shards {
        true => json!({
            "type": "search_phase_execution_exception",
            "reason": "all shards failed",
            "phase": "query",
            "grouped": true,
            "failed_shards": [{"shard": 0, "reason": cause}],
            "caused_by": cause,
        }),
        false => cause.clone(),
    };
    put(&mut whole, "root_cause", json!([cause]));
    (status, json!({"error": whole, "status": status}))
}

/// Returns the index that is missing according to an error.
fn missing_index(message: &str) -> Option<&str> {
    message.strip_prefix("no such index [")?.strip_suffix(']')
}

/// Returns whether an error concerns a missing scroll or point in time.
fn is_context(message: &str) -> bool {
    message.starts_with("the scroll") || message.starts_with("this point in time")
}

/// Converts the end of a session that answers in this form: an error becomes an answer, a plan is still to be carried
/// out.
pub(crate) fn to_elastic<T: Into<Searched>>(
    end: Result<T, SearchError>,
    exchange: &Exchange,
) -> Outcome {
    match end.map(T::into) {
        Ok(Searched::Answer(body)) => Outcome::Http(elastic_text(200, body)),
        Ok(Searched::Plan(plan)) => Outcome::Plan(plan),
        Err(error) => {
            let is_late = exchange.report().timed_out;
            Outcome::Http(error_response(&error, Stage::Searching, is_late))
        }
    }
}
