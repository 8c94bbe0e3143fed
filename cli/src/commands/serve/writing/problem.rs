//! Why something was not done, in the form of the API that was asked; and the answer to what was.

use axum::http::StatusCode;
use axum::response::Response;
use canter_index_builder::{BuildError, ErrorKind};
use canter_intake::{MappingError, Refusal};
use serde_json::{Value, json};

use super::super::refusal::Refuse;
use super::params::Params;
use super::writers::{Request, status_of};

/// Why something was not done.
#[derive(Clone, Debug)]
pub(in crate::commands::serve) struct Problem {
    pub(in crate::commands::serve) status: StatusCode,
    /// What Elasticsearch calls it.
    pub(in crate::commands::serve) kind: &'static str,
    pub(in crate::commands::serve) reason: String,
}

impl Problem {
    pub(in crate::commands::serve) fn invalid(
        kind: &'static str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            kind,
            reason: reason.into(),
        }
    }

    /// An argument is wrong.
    pub(in crate::commands::serve) fn illegal(reason: impl Into<String>) -> Self {
        Self::invalid("illegal_argument_exception", reason)
    }

    pub(in crate::commands::serve) fn no_index(name: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            kind: "index_not_found_exception",
            reason: format!("no such index [{name}]"),
        }
    }

    pub(in crate::commands::serve) fn internal(reason: impl Into<String>) -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            kind: "exception",
            reason: reason.into(),
        }
    }

    pub(super) fn refused(refusal: &Refusal) -> Self {
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
        }
    }

    /// Whether there is no such index, or not any more.
    pub(super) fn is_no_index(&self) -> bool {
        self.status == StatusCode::NOT_FOUND
    }

    pub(super) fn body(&self) -> Value {
        json!({"type": self.kind, "reason": self.reason})
    }
}

/// Messages call indexes and objects by the names that clients know. What they leave out of where these are, the log has.
impl From<BuildError> for Problem {
    fn from(error: BuildError) -> Self {
        if !matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Limit) {
            let error = error.with_causes();
            tracing::warn!(target: "canter::serve", error, "a request could not be answered");
        }
        let (status, kind) = match error.kind() {
            ErrorKind::Unavailable => (
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
        }
    }
}

impl From<MappingError> for Problem {
    fn from(error: MappingError) -> Self {
        Self::invalid(error.kind, error.reason)
    }
}

pub(in crate::commands::serve) fn fail(request: &Request<'_>, problem: &Problem) -> Response {
    request
        .api
        .refusal_of(problem.status, problem.kind, &problem.reason)
}

pub(in crate::commands::serve) fn respond(
    request: &Request<'_>,
    params: &Params,
    status: StatusCode,
    answer: Value,
) -> Response {
    let answer = match &params.filter_path {
        Some(filter) => filter.apply(answer),
        None => answer,
    };
    request.api.answer(status, &answer, params.is_pretty)
}
