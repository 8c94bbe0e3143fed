//! What a host refuses without asking the guest: in the form of the API that was asked, whose clients read errors in different
//! places. What was searched for and could not be found is answered elsewhere.

use serde_json::{Value, json};

use crate::session::HttpResponse;

/// Which of the two APIs a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Under `/api/v1/`, and what is no search at all.
    Quickwit,
    /// At the root, and under `/api/v1/_elastic`.
    Elasticsearch,
}

impl Api {
    /// That of a path.
    pub fn of(path: &str) -> Self {
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

    /// What Elasticsearch calls an error with this status.
    pub fn kind_of(status: u16) -> &'static str {
        match status {
            429 => "es_rejected_execution_exception",
            413 => "content_too_long_exception",
            408 => "receive_timeout_transport_exception",
            401 | 403 => "security_exception",
            503 => "unavailable_shards_exception",
            504 => "timeout_exception",
            500 => "exception",
            _ => "illegal_argument_exception",
        }
    }

    /// The body of an error. `kind` is what Elasticsearch calls it.
    pub fn error(self, status: u16, kind: &str, message: &str) -> Value {
        match self {
            Self::Quickwit => json!({ "message": message }),
            Self::Elasticsearch => json!({
                "error": {
                    "root_cause": [{ "type": kind, "reason": message }],
                    "type": kind,
                    "reason": message,
                },
                "status": status,
            }),
        }
    }

    /// The headers of an answer that a host makes itself.
    pub fn headers(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let own = [
            ("content-type", "application/json"),
            ("cache-control", "no-store"),
        ];
        // Clients believe nobody else.
        let product = match self {
            Self::Quickwit => None,
            Self::Elasticsearch => Some(("x-elastic-product", "Elasticsearch")),
        };
        own.into_iter().chain(product)
    }

    /// An answer with a message and nothing else.
    pub fn response(self, status: u16, message: &str) -> HttpResponse {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let body = self.error(status, Self::kind_of(status), message);
        HttpResponse {
            status,
            headers: self.headers().map(owned).collect(),
            body: body.to_string().into_bytes(),
        }
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

    #[test]
    fn a_refusal_is_of_its_api() {
        let body = |api: Api| -> Value {
            let response = api.response(403, "no");
            assert_eq!(response.status, 403);
            serde_json::from_slice(&response.body).unwrap()
        };
        assert_eq!(body(Api::Quickwit), json!({"message": "no"}));
        let elastic = body(Api::Elasticsearch);
        assert_eq!(elastic["status"], 403);
        assert_eq!(elastic["error"]["type"], "security_exception");
        assert_eq!(Api::kind_of(504), "timeout_exception");
        let headers: Vec<_> = Api::Elasticsearch.headers().collect();
        assert!(headers.contains(&("x-elastic-product", "Elasticsearch")));
        assert_eq!(Api::Quickwit.headers().count(), 2);
    }
}
