//! Errors of the host itself.

use crate::SearchError;

/// Returns the error of a guest that broke down. The log has the cause, the answer does not.
pub(crate) fn defect() -> SearchError {
    SearchError::internal(
        "this request made the search engine fail, which is a defect of it: please report it with the request; \
         the program's log says more",
    )
}
