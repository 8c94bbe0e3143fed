//! Responses of the API, and which status an error has.

use canter_names::Api;
use canter_protocol::{HttpResponse, Outcome};
use serde_json::json;

use crate::exchange::Exchange;
use crate::{ErrorKind, SearchError};

/// A response with a JSON body.
pub(super) fn json_response(status: u16, body: String) -> HttpResponse {
    response_of(Api::Quickwit, status, body)
}

/// The same of one of the two APIs.
pub(super) fn response_of(api: Api, status: u16, body: String) -> HttpResponse {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    HttpResponse {
        status,
        headers: api.headers().map(owned).collect(),
        body: body.into_bytes(),
    }
}

/// A response that says what is wrong.
pub(super) fn message_response(status: u16, message: &str) -> HttpResponse {
    json_response(status, json!({ "message": message }).to_string())
}

/// The response to an error that ended a session for `path` from outside, in the form of the API that the path belongs to.
pub fn http_error(path: &str, error: &SearchError) -> HttpResponse {
    http_refusal(path, status_of(error, false), &error.message)
}

/// What a host answers to a request for `path` that it refuses without opening a session, in the form of the API that the path
/// belongs to.
pub fn http_refusal(path: &str, status: u16, message: &str) -> HttpResponse {
    let api = Api::of(path);
    let body = api.error(status, Api::kind_of(status), message);
    response_of(api, status, body.to_string())
}

/// The response to an error. With `is_late` the time of the search was up, whether its host set the deadline or the request
/// did.
pub(super) fn error_response(error: &SearchError, is_late: bool) -> HttpResponse {
    message_response(status_of(error, is_late), &error.message)
}

/// What a client should do: correct the request (4xx), try again (503), or have the index looked after (500).
fn status_of(error: &SearchError, is_late: bool) -> u16 {
    match error.kind {
        ErrorKind::Limit if is_late => 504,
        // What is more than a limit allows is asked for by the request.
        ErrorKind::Invalid | ErrorKind::Limit => 400,
        ErrorKind::NotFound => 404,
        ErrorKind::Unavailable => 503,
        ErrorKind::Data | ErrorKind::Internal => 500,
    }
}

/// How a session ends that answers over HTTP: an error is an answer, a plan is still to be carried out.
pub(crate) fn to_http(end: Result<Outcome, SearchError>, exchange: &Exchange) -> Outcome {
    match end {
        Ok(Outcome::Response(body)) => Outcome::Http(json_response(200, body)),
        Ok(outcome) => outcome,
        Err(error) => Outcome::Http(error_response(&error, exchange.report().timed_out)),
    }
}
