//! The one error of this crate: bytes that are not what they should be.

use thiserror::Error;

/// Bytes that cannot be read as the structure they claim to be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{component}: {problem}")]
pub struct FormatError {
    /// Which structure, for example `split head` or `time index`.
    pub component: &'static str,
    /// What is wrong with it, and what to do where that is known.
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
