//! Responses of the API, and the status of each error.

use canter_names::Api;
use canter_protocol::{HttpResponse, Outcome};
use serde_json::json;

use crate::exchange::Exchange;
use crate::search::Searched;
use crate::{ErrorKind, SearchError};

/// Returns a response with a JSON body.
pub(super) fn json_response(status: u16, body: String) -> HttpResponse {
    response_of(Api::Quickwit, status, body)
}

/// Returns a JSON response in the form of one of the two APIs.
pub(super) fn response_of(api: Api, status: u16, body: String) -> HttpResponse {
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    HttpResponse {
        status,
        headers: api.headers().map(owned).collect(),
        body: body.into_bytes(),
    }
}

/// Returns a response with an error message.
pub(super) fn message_response(status: u16, message: &str) -> HttpResponse {
    json_response(status, json!({ "message": message }).to_string())
}

/// Returns the response to an error that ended a session for `path` from outside, in the form of the API of that path.
pub fn http_error(path: &str, error: &SearchError) -> HttpResponse {
    http_refusal(path, status_of(error, false), &error.message)
}

/// Returns the response to a request for `path` that a host refuses without opening a session, in the form of the API
/// of that path.
pub fn http_refusal(path: &str, status: u16, message: &str) -> HttpResponse {
    let api = Api::of(path);
    let body = api.error(status, Api::kind_of(status), message);
    response_of(api, status, body.to_string())
}

/// Returns the response to an error. `is_late` is true if the time of the search was up, whether the host or the
/// request set the deadline.
pub(super) fn error_response(error: &SearchError, is_late: bool) -> HttpResponse {
    message_response(status_of(error, is_late), &error.message)
}

/// Returns the status of an error: the client should correct the request (4xx), try again (503), or have the index
/// repaired (500).
fn status_of(error: &SearchError, is_late: bool) -> u16 {
    match error.kind {
        ErrorKind::Limit if is_late => 504,
        // A request that exceeds a limit must be changed.
        ErrorKind::Invalid | ErrorKind::Limit => 400,
        ErrorKind::NotFound => 404,
        ErrorKind::Unavailable => 503,
        ErrorKind::Data | ErrorKind::Internal => 500,
    }
}

/// Converts the end of a session that answers over HTTP: an error becomes an answer, a plan is still to be carried out.
pub(crate) fn to_http<T: Into<Searched>>(
    end: Result<T, SearchError>,
    exchange: &Exchange,
) -> Outcome {
    match end.map(T::into) {
        Ok(Searched::Answer(body)) => Outcome::Http(json_response(200, body)),
        Ok(Searched::Plan(plan)) => Outcome::Plan(plan),
        Err(error) => Outcome::Http(error_response(&error, exchange.report().timed_out)),
    }
}

/// Converts the end of a session whose request its host made: an error ends the session.
///
/// # Errors
/// The search failed.
pub(crate) fn to_host<T: Into<Searched>>(
    end: Result<T, SearchError>,
    exchange: &Exchange,
) -> Result<Outcome, SearchError> {
    Ok(to_http(Ok(end?), exchange))
}
