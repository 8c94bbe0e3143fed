//! Common parts of requests that manage indexes: the form of their answers, and their refusals.

use axum::http::StatusCode;
use serde_json::Value;

use crate::requests::{ChangeRequest, Params, Problem};

/// The answer to a request, with its status.
pub(super) type Answered = Result<(StatusCode, Value), Problem>;

/// Refuses parameters that were not used.
pub(super) fn finish(params: &Params) -> Result<(), Problem> {
    params.finish().map_err(Problem::illegal)
}

/// Returns an error if a token does not allow indexes with that name.
pub(super) fn check_allowed(request: &ChangeRequest<'_>, name: &str) -> Result<(), Problem> {
    match request.allows(name) {
        true => Ok(()),
        false => Err(Problem {
            detail: None,
            status: StatusCode::FORBIDDEN,
            kind: "security_exception",
            reason: format!("this token does not allow an index [{name}]"),
        }),
    }
}
