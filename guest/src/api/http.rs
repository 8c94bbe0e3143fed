//! Responses of the API, and which status an error has.

use serde_json::json;

use crate::session::exchange::Exchange;
use crate::session::protocol::{HttpResponse, Outcome};
use crate::{ErrorKind, SearchError};

/// A response with a JSON body.
pub(super) fn json_response(status: u16, body: String) -> HttpResponse {
    let headers = [
        ("content-type", "application/json"),
        // An answer is true of a moment: the index may have more a second later.
        ("cache-control", "no-store"),
    ];
    HttpResponse {
        status,
        headers: headers
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        body: body.into_bytes(),
    }
}

/// A response that says what is wrong.
pub(super) fn message_response(status: u16, message: &str) -> HttpResponse {
    json_response(status, json!({ "message": message }).to_string())
}

/// The response to an error. Its status says what a client should do: correct the request (4xx), try again
/// (503), or have the index looked after (500).
pub fn http_error(error: &SearchError) -> HttpResponse {
    error_response(error, false)
}

/// With `is_late` the time of the search was up, whether its host set the deadline or the request did.
fn error_response(error: &SearchError, is_late: bool) -> HttpResponse {
    let status = match error.kind {
        ErrorKind::Limit if is_late => 504,
        // What is more than a limit allows is asked for by the request.
        ErrorKind::Invalid | ErrorKind::Limit => 400,
        ErrorKind::NotFound => 404,
        ErrorKind::Unavailable => 503,
        ErrorKind::Data | ErrorKind::Internal => 500,
    };
    message_response(status, &error.message)
}

/// How a session ends that answers over HTTP: an error is an answer, a plan is still to be carried out.
pub(crate) fn to_http(end: Result<Outcome, SearchError>, exchange: &Exchange) -> Outcome {
    match end {
        Ok(Outcome::Response(body)) => Outcome::Http(json_response(200, body)),
        Ok(outcome) => outcome,
        Err(error) => Outcome::Http(error_response(&error, exchange.report().timed_out)),
    }
}
