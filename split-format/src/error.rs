//! The error type of this crate: invalid bytes.

use thiserror::Error;

/// Bytes that cannot be read as the structure that they claim to be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{component}: {problem}")]
pub struct FormatError {
    /// Name of the structure, for example `split head` or `time index`.
    pub component: &'static str,
    /// Description of the problem, with advice if possible.
    pub problem: String,
}

impl FormatError {
    pub(crate) fn new(component: &'static str, problem: impl Into<String>) -> Self {
        Self {
            component,
            problem: problem.into(),
        }
    }
}
