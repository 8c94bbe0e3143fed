//! What the server answers itself, without asking the guest: refusals, in the form of the API that was asked.

use axum::http::header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// When a client may ask again that was refused for want of room. Searches take less.
pub(super) const RETRY_AFTER_SECONDS: &str = "1";

/// Which of the two APIs a path belongs to. Their clients read errors in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    /// Under `/api/v1/`, and what is no search at all.
    Quickwit,
    /// At the root, and under `/api/v1/_elastic`.
    Elasticsearch,
}

impl Api {
    pub(super) fn of(path: &str) -> Self {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        match [segments.next(), segments.next(), segments.next()] {
            [Some("api"), Some("v1"), Some("_elastic")] => Self::Elasticsearch,
            [
                Some("api" | "health" | "metrics" | "openapi.json" | "v1"),
                ..,
            ] => Self::Quickwit,
            _ => Self::Elasticsearch,
        }
    }

    /// An answer with a message and nothing else.
    pub(super) fn refusal(self, status: StatusCode, message: &str) -> Response {
        self.refusal_of(status, kind_of(status), message)
    }

    /// The same with what Elasticsearch calls that kind of error.
    pub(super) fn refusal_of(self, status: StatusCode, kind: &str, message: &str) -> Response {
        self.answer(status, &self.body(status, kind, message), false)
    }

    /// An answer that is nobody else's.
    pub(super) fn answer(self, status: StatusCode, body: &Value, is_pretty: bool) -> Response {
        let headers: [(HeaderName, &str); 2] = [
            (CONTENT_TYPE, "application/json"),
            (CACHE_CONTROL, "no-store"),
        ];
        let body = match is_pretty {
            true => format!("{body:#}\n"),
            false => body.to_string(),
        };
        let mut response = (status, headers, body).into_response();
        let headers = response.headers_mut();
        if self == Self::Elasticsearch {
            // Clients believe nobody else.
            let product = HeaderName::from_static("x-elastic-product");
            headers.insert(product, HeaderValue::from_static("Elasticsearch"));
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        response
    }

    /// The same where the rest of the request is not read: nothing can follow it on its connection, if that
    /// carries one request after another.
    pub(super) fn last_refusal(self, status: StatusCode, message: &str) -> Response {
        let mut response = self.refusal(status, message);
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }

    fn body(self, status: StatusCode, kind: &str, message: &str) -> Value {
        if self == Self::Quickwit {
            return json!({ "message": message });
        }
        let cause = json!({ "type": kind, "reason": message });
        json!({
            "error": { "root_cause": [cause.clone()], "type": kind, "reason": message },
            "status": status.as_u16(),
        })
    }
}

/// What Elasticsearch calls an error.
fn kind_of(status: StatusCode) -> &'static str {
    match status {
        StatusCode::TOO_MANY_REQUESTS => "es_rejected_execution_exception",
        StatusCode::PAYLOAD_TOO_LARGE => "content_too_long_exception",
        StatusCode::REQUEST_TIMEOUT => "receive_timeout_transport_exception",
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "security_exception",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable_shards_exception",
        StatusCode::INTERNAL_SERVER_ERROR => "exception",
        _ => "illegal_argument_exception",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_one_api() {
        for path in [
            "/",
            "/_search",
            "/logs/_search",
            "/api/v1/_elastic/_search",
            "//api//v1/_elastic",
            "/apis",
        ] {
            assert_eq!(Api::of(path), Api::Elasticsearch, "{path}");
        }
        for path in [
            "/api/v1/logs/search",
            "/api/v1/indexes",
            "/health/livez",
            "/metrics",
            "/openapi.json",
            "/v1/logs",
        ] {
            assert_eq!(Api::of(path), Api::Quickwit, "{path}");
        }
    }
}
