//! The runtime's one public error: few kinds, each saying what the reader should do.

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

impl ErrorKind {
    /// The kind's name as it stands in JSON and in messages: `invalid`, `data`, ….
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

/// Why a search ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct SearchError {
    /// What to do about it.
    pub kind: ErrorKind,
    /// What happened, naming the object, range or limit concerned.
    pub message: String,
}

impl From<canter_stores::cache::InvalidOptions> for SearchError {
    fn from(options: canter_stores::cache::InvalidOptions) -> Self {
        Self::invalid(options.0)
    }
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

    /// The store could not be read.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// A limit was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// The guest broke down. What happened stands in the log, and not in an answer.
    pub(crate) fn defect() -> Self {
        Self::internal(
            "this request made the search engine fail, which is a defect of it: please report it with the request; \
             the program's log says more",
        )
    }

    /// A defect of the host or the guest.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }
}
