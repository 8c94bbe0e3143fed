//! What all requests that manage indexes have in common: the form of what they answer, and what they refuse.

use axum::http::StatusCode;
use serde_json::Value;

use crate::requests::{ChangeRequest, Params, Problem};

/// What a request asked for, with its status.
pub(super) type Answered = Result<(StatusCode, Value), Problem>;

/// Refuses parameters that nobody has asked for until now.
pub(super) fn finish(params: &Params) -> Result<(), Problem> {
    params.finish().map_err(Problem::illegal)
}

/// An error if a token does not allow indexes of that name.
pub(super) fn check_allowed(request: &ChangeRequest<'_>, name: &str) -> Result<(), Problem> {
    match request.allows(name) {
        true => Ok(()),
        false => Err(Problem {
            status: StatusCode::FORBIDDEN,
            kind: "security_exception",
            reason: format!("this token does not allow an index [{name}]"),
        }),
    }
}
