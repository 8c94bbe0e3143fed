//! The API that a path belongs to, and the format of its errors: clients of the two APIs expect
//! errors in different forms. Used for requests that a host refuses without asking the guest, and
//! for failures without a session. Answers of sessions are elsewhere.
//!
//! `edge-adapters/js/src/api.ts` implements the same in TypeScript; the tests of both run the cases
//! in `api/cases.json`.

use serde_json::{Value, json};

/// API that a path belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Below `/api/v1/`, and paths that are no search.
    Quickwit,
    /// At the root, and below `/api/v1/_elastic`.
    Elasticsearch,
}

impl Api {
    /// Returns the API of a path.
    pub fn of(path: &str) -> Self {
        let mut segments = path.split('/').filter(|segment| !segment.is_empty());
        match [segments.next(), segments.next(), segments.next()] {
            [Some("api"), Some("v1"), Some("_elastic")] => Self::Elasticsearch,
            [Some("api"), Some("v1"), _]
            | [Some("health"), Some("livez" | "readyz"), _]
            | [Some("openapi.json"), ..] => Self::Quickwit,
            // An index may have the name of any other first part, and words that begin with `_` follow it.
            [Some("v1"), Some(second), _] if !second.starts_with('_') => Self::Quickwit,
            _ => Self::Elasticsearch,
        }
    }

    /// Returns Elasticsearch's name of an error with this status.
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

    /// Returns the body of an error. `kind` is Elasticsearch's name of it.
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

    /// Returns the headers of an answer in JSON.
    pub fn headers(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let own = [
            ("content-type", "application/json"),
            // The index may have new documents a second later.
            ("cache-control", "no-store"),
        ];
        // Clients refuse servers without this header.
        let product = match self {
            Self::Quickwit => None,
            Self::Elasticsearch => Some(("x-elastic-product", "Elasticsearch")),
        };
        own.into_iter().chain(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases() -> Value {
        serde_json::from_str(include_str!("api/cases.json")).unwrap()
    }

    #[test]
    fn a_path_is_of_the_api_that_the_table_says() {
        let cases = cases();
        for (name, expect) in [
            ("elasticsearch", Api::Elasticsearch),
            ("quickwit", Api::Quickwit),
        ] {
            let paths = cases["paths"][name].as_array().unwrap();
            assert!(paths.len() > 5, "{name}");
            for path in paths {
                let path = path.as_str().unwrap();
                assert_eq!(Api::of(path), expect, "{path}");
            }
        }
    }

    #[test]
    fn an_error_has_the_form_of_its_api_and_the_name_that_the_table_says() {
        let cases = cases();
        let kinds = cases["kinds"].as_object().unwrap();
        assert!(kinds.len() > 5);
        for (status, kind) in kinds {
            let status = status.parse().unwrap();
            assert_eq!(Api::kind_of(status), kind.as_str().unwrap(), "{status}");
        }
        let error = Api::Quickwit.error(403, "security_exception", "no");
        assert_eq!(error, json!({"message": "no"}));
        let cause = json!({"type": "security_exception", "reason": "no"});
        let expect = json!({
            "error": {"root_cause": [cause], "type": "security_exception", "reason": "no"},
            "status": 403,
        });
        let error = Api::Elasticsearch.error(403, "security_exception", "no");
        assert_eq!(error, expect);
        let headers: Vec<_> = Api::Elasticsearch.headers().collect();
        assert!(headers.contains(&("x-elastic-product", "Elasticsearch")));
        assert_eq!(Api::Quickwit.headers().count(), 2);
    }
}
