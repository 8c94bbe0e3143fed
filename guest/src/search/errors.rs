//! Errors of searches as callers may see them.

use crate::exchange::Exchange;
use crate::leaf::{general_reason, kind_name};
use crate::{ErrorKind, SearchError};

/// An error as the caller may see it. Under a forced filter one that is not about the request says nothing of splits,
/// objects and bytes: what was read depends on documents that the caller may not see.
pub(super) fn shown(error: SearchError, is_filtered: bool, exchange: &Exchange) -> SearchError {
    let report = exchange.report();
    let is_of_request = match error.kind {
        ErrorKind::Invalid | ErrorKind::NotFound => true,
        ErrorKind::Limit => !report.timed_out && report.budget_exhausted.is_none(),
        ErrorKind::Data | ErrorKind::Unavailable | ErrorKind::Internal => false,
    };
    match is_filtered && !is_of_request {
        true => SearchError::new(error.kind, general_reason(kind_name(error.kind))),
        false => error,
    }
}
