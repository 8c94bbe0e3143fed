//! Answers of the server itself, without the guest: refusals, in the form of the requested API.

use axum::body::Body;
use axum::http::header::{CONNECTION, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

pub(crate) use canter_runtime::Api;

/// Time after which a client that was refused for lack of capacity may retry. Searches take less.
pub(crate) const RETRY_AFTER_SECONDS: &str = "1";

/// Answers of this server, in the form of one of the two APIs.
pub(crate) trait Refuse: Sized {
    /// Returns an answer whose body is already written, or a stream.
    fn answer_with(self, status: StatusCode, body: Body) -> Response;

    /// Returns an answer with the value as JSON; caches may not store it.
    fn answer(self, status: StatusCode, body: &Value, is_pretty: bool) -> Response;

    /// Returns an answer with only a message, and Elasticsearch's name for that kind of error.
    fn refusal_of(self, status: StatusCode, kind: &str, message: &str) -> Response;

    /// Returns an answer with a message and the kind that goes with the status.
    fn refusal(self, status: StatusCode, message: &str) -> Response {
        self.refusal_of(status, Api::kind_of(status.as_u16()), message)
    }

    /// Returns the same where the rest of the request is not read: the connection cannot carry further
    /// requests, unless it multiplexes them.
    fn last_refusal(self, status: StatusCode, message: &str) -> Response {
        let mut response = self.refusal(status, message);
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

impl Refuse for Api {
    fn answer(self, status: StatusCode, body: &Value, is_pretty: bool) -> Response {
        let body = match is_pretty {
            true => format!("{body:#}\n"),
            false => body.to_string(),
        };
        self.answer_with(status, Body::from(body))
    }

    fn answer_with(self, status: StatusCode, body: Body) -> Response {
        let mut response = (status, body).into_response();
        let headers = response.headers_mut();
        for (name, value) in self.headers() {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        response
    }

    fn refusal_of(self, status: StatusCode, kind: &str, message: &str) -> Response {
        self.answer(status, &self.error(status.as_u16(), kind, message), false)
    }
}
