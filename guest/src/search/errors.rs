//! Errors of searches in the form that callers may see.

use crate::exchange::Exchange;
use crate::leaf::{general_reason, kind_name};
use crate::{ErrorKind, SearchError};

/// Returns an error in the form that the caller may see. Under a forced filter, an error that does not concern the
/// request names no splits, objects or bytes: the reads depend on documents that the caller may not see.
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
