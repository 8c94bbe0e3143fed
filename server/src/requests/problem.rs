//! Reasons why a request was not carried out.

use axum::http::StatusCode;
use canter_index_builder::{BuildError, DocumentProblem, ErrorKind};
use canter_intake::{MappingError, Refusal};
use serde_json::{Value, json};

/// Reason why a request was not carried out.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    /// Elasticsearch's name for it.
    pub(crate) kind: &'static str,
    pub(crate) reason: String,
    /// What the answer says beside these: a script's error.
    pub(crate) detail: Option<Box<Value>>,
}

impl Problem {
    pub(crate) fn invalid(kind: &'static str, reason: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            kind,
            reason: reason.into(),
            detail: None,
        }
    }

    /// Creates the error of an invalid argument.
    pub(crate) fn illegal(reason: impl Into<String>) -> Self {
        Self::invalid("illegal_argument_exception", reason)
    }

    /// Creates the error of a body that cannot be read.
    pub(crate) fn parsing(reason: impl Into<String>) -> Self {
        Self::invalid("x_content_parse_exception", reason)
    }

    pub(crate) fn no_index(name: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            kind: "index_not_found_exception",
            reason: format!("no such index [{name}]"),
            detail: None,
        }
    }

    pub(crate) fn internal(reason: impl Into<String>) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            kind: "exception",
            reason: reason.into(),
            detail: None,
        }
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let kind = match refusal {
            Refusal::Busy { .. } => "es_rejected_execution_exception",
            Refusal::Stopping | Refusal::Unavailable(_) => "unavailable_shards_exception",
            Refusal::Gone => "index_not_found_exception",
            Refusal::Invalid(_) | Refusal::TooLarge { .. } => "illegal_argument_exception",
            Refusal::Internal(_) => "exception",
        };
        Self {
            status: status_of(refusal),
            kind,
            reason: refusal.to_string(),
            detail: None,
        }
    }

    /// Returns whether the index does not exist, or no longer exists.
    pub(crate) fn is_no_index(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"type": self.kind, "reason": self.reason});
        self.extend(&mut body);
        body
    }

    /// Adds what the answer says beside kind and reason to an error of Elasticsearch's form.
    pub(crate) fn extend(&self, error: &mut Value) {
        if let (Some(Value::Object(detail)), Some(error)) =
            (self.detail.as_deref(), error.as_object_mut())
        {
            error.extend(detail.clone());
        }
    }
}

/// Messages use the names of indexes and objects that clients know. The log has their locations.
impl From<BuildError> for Problem {
    fn from(error: BuildError) -> Self {
        if !matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Limit) {
            let error = error.with_causes();
            tracing::warn!(target: "canter::serve", error, "a request could not be answered");
        }
        let (status, kind) = match error.kind() {
            ErrorKind::Unavailable | ErrorKind::Conflict => (
                StatusCode::SERVICE_UNAVAILABLE,
                "unavailable_shards_exception",
            ),
            ErrorKind::Invalid | ErrorKind::Limit => {
                (StatusCode::BAD_REQUEST, "illegal_argument_exception")
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "exception"),
        };
        Self {
            status,
            kind,
            reason: error.to_string(),
            detail: None,
        }
    }
}

impl From<MappingError> for Problem {
    fn from(error: MappingError) -> Self {
        Self::invalid(error.kind, error.reason)
    }
}

/// Returns the error of a document that an index does not take.
pub(crate) fn refused_document(problem: DocumentProblem) -> Problem {
    let kind = match problem.reason {
        "unknown_field" => "strict_dynamic_mapping_exception",
        _ => "document_parsing_exception",
    };
    Problem::invalid(kind, problem.message)
}

/// Returns the status for documents that were refused.
pub(crate) fn status_of(refusal: &canter_intake::Refusal) -> StatusCode {
    use canter_intake::Refusal;
    match refusal {
        Refusal::Busy { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::Stopping | Refusal::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        Refusal::Gone => StatusCode::NOT_FOUND,
        Refusal::Invalid(_) => StatusCode::BAD_REQUEST,
        Refusal::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
