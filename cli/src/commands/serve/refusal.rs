//! What the server answers itself, without asking the guest: refusals, in the API's form.

use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// When a client may ask again that was refused for want of room. Searches take less.
pub(super) const RETRY_AFTER_SECONDS: &str = "1";

/// An answer with a message and nothing else.
pub(super) fn refusal(status: StatusCode, message: &str) -> Response {
    let headers: [(HeaderName, &str); 2] = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    let body = json!({ "message": message }).to_string();
    let mut response = (status, headers, body).into_response();
    if status == StatusCode::SERVICE_UNAVAILABLE {
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
    }
    response
}

/// The same where the rest of the request is not read: nothing can follow it on its connection.
pub(super) fn last_refusal(status: StatusCode, message: &str) -> Response {
    let mut response = refusal(status, message);
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    response
}
