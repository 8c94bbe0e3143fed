//! The public error of guest and hosts: few kinds, each of which implies what to do.

use thiserror::Error;

/// Kind of an error, which implies what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The request is invalid: fix it.
    Invalid,
    /// The index does not exist: check its name and location.
    NotFound,
    /// The index's bytes are damaged: rebuild or restore them.
    Data,
    /// The store could not be read: try again.
    Unavailable,
    /// A limit was reached: raise it or narrow the query.
    Limit,
    /// A bug: report it.
    Internal,
}

impl ErrorKind {
    /// Returns the kind's name in JSON and in messages: `invalid`, `data`, ….
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorKind::Invalid => "invalid",
            ErrorKind::NotFound => "not_found",
            ErrorKind::Data => "data",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Limit => "limit",
            ErrorKind::Internal => "internal",
        }
    }
}

/// Reason why a search ended without an answer, or why one split is missing from it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SearchError {
    /// Kind, which implies what to do.
    pub kind: ErrorKind,
    /// Description, naming the split, field, object, range or limit concerned.
    pub message: String,
}

impl SearchError {
    /// Returns an error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// Returns the error of an invalid request.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Returns the error of a damaged index.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// Returns the error of a store that could not be read.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Returns the error of a reached limit.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// Returns the error of a bug in guest or host.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Puts the place in the request before the message.
    pub fn at(self, path: &str) -> Self {
        Self::new(self.kind, format!("{path}: {}", self.message))
    }
}
