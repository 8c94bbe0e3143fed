//! Errors of aggregations.

use canter_protocol::SearchError;
use tantivy::TantivyError;
use thiserror::Error;

/// Reason for which aggregations have no answer.
#[derive(Debug, Error)]
pub enum Error {
    /// The request is invalid: fix it.
    #[error("{0}")]
    Invalid(String),
    /// A limit was reached: raise it, or ask for less.
    #[error("{0}")]
    Limit(String),
    /// Reading the columns failed, for example because of missing bytes.
    #[error(transparent)]
    Columns(#[from] TantivyError),
}

impl Error {
    pub(crate) fn invalid(path: &str, what: &str) -> Self {
        Self::Invalid(format!("{path}: {what}"))
    }

    pub(crate) fn limit(path: &str, what: &str) -> Self {
        Self::Limit(format!("{path}: {what}"))
    }
}

impl From<Error> for SearchError {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid(message) => Self::invalid(message),
            Error::Limit(message) => Self::limit(message),
            Error::Columns(error) => Self::internal(error.to_string()),
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Columns(error.into())
    }
}

/// Result with an [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
