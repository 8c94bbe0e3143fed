//! The guest's one public error: few kinds, each saying what the reader should do.

use thiserror::Error;

/// What the person who meets the error should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is wrong: fix it.
    Invalid,
    /// There is no such index: check its name and where it is said to be.
    NotFound,
    /// The index's bytes are wrong: rebuild or restore them.
    Data,
    /// The store could not be read: try again.
    Unavailable,
    /// A limit was reached: raise it or narrow the query.
    Limit,
    /// A defect: report it.
    Internal,
}

/// Why a session ended without an answer, or why one split is missing from it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SearchError {
    /// What to do about it.
    pub kind: ErrorKind,
    /// What happened, naming the split, field or range concerned.
    pub message: String,
}

impl SearchError {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// The same, with the place in the request in front.
    pub(crate) fn at(self, path: &str) -> Self {
        Self::new(self.kind, format!("{path}: {}", self.message))
    }

    /// The index's bytes are wrong.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// A defect of the guest.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }
}

impl From<canter_aggregations::Error> for SearchError {
    fn from(error: canter_aggregations::Error) -> Self {
        use canter_aggregations::Error;
        match error {
            Error::Invalid(message) => Self::invalid(message),
            Error::Limit(message) => Self::new(ErrorKind::Limit, message),
            Error::Columns(error) => Self::internal(error.to_string()),
        }
    }
}
