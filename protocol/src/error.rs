//! The one public error of guest and hosts: few kinds, each of which says what to do.

use thiserror::Error;

/// What to do about an error.
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

impl ErrorKind {
    /// Returns the kind's name as it stands in JSON and in messages: `invalid`, `data`, ….
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

/// Why a search ended without an answer, or why one split is missing from it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SearchError {
    /// What to do about it.
    pub kind: ErrorKind,
    /// What happened, naming the split, field, object, range or limit concerned.
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

    /// Returns an error of a request that is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Returns an error of an index whose bytes are wrong.
    pub fn data(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Data, message)
    }

    /// Returns an error of a store that could not be read.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Returns an error of a limit that was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// Returns an error that is a defect of guest or host.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Puts the place in the request in front of the message.
    pub fn at(self, path: &str) -> Self {
        Self::new(self.kind, format!("{path}: {}", self.message))
    }
}
