//! Errors of the host's own.

use crate::SearchError;

/// Returns the error of a guest that broke down. The cause stands in the log, and not in an answer.
pub(crate) fn defect() -> SearchError {
    SearchError::internal(
        "this request made the search engine fail, which is a defect of it: please report it with the request; \
         the program's log says more",
    )
}
