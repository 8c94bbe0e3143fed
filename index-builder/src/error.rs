//! The crate's one error: a kind that says who can do something about it, and a message that says
//! what.

use std::error::Error as StdError;

use canter_stores::{redact_urls, without_xml};

/// Who can do something about a [`BuildError`], and what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is wrong: fix the URI, the config or the options.
    Invalid,
    /// The input or a stored object is damaged: repair it or write it again.
    Data,
    /// Storage or a file did not answer: try again, or look at credentials and permissions.
    Unavailable,
    /// A limit was reached: raise it, or give less.
    Limit,
    /// A mistake in Canter: report it.
    Internal,
}

/// Why building or publishing failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl BuildError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> BuildError {
        BuildError {
            kind,
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> BuildError {
        BuildError::new(ErrorKind::Invalid, message)
    }

    pub(crate) fn data(message: impl Into<String>) -> BuildError {
        BuildError::new(ErrorKind::Data, message)
    }

    pub(crate) fn unavailable(message: impl Into<String>) -> BuildError {
        BuildError::new(ErrorKind::Unavailable, message)
    }

    pub(crate) fn limit(message: impl Into<String>) -> BuildError {
        BuildError::new(ErrorKind::Limit, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> BuildError {
        BuildError::new(ErrorKind::Internal, message)
    }

    /// Keeps `source` as the cause, and adds what it says to the message.
    pub(crate) fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> BuildError {
        let said = source.to_string();
        let readable = without_xml(&said);
        self.message = format!("{}: {}", self.message, redact_urls(&readable));
        // Whoever shows all causes would show what is not for people, too.
        self.source = (readable == said).then(|| Box::new(source) as _);
        self
    }

    /// Who can do something about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// A mistake of tantivy's while a segment is built: all its input was checked before.
impl From<tantivy::TantivyError> for BuildError {
    fn from(error: tantivy::TantivyError) -> BuildError {
        BuildError::internal("cannot build a segment").caused_by(error)
    }
}
