//! The crate's error: a kind that implies who can fix it, and a message.

use std::any::Any;
use std::error::Error as StdError;
use std::io;

use canter_stores::{redact_urls, without_xml};

/// Kind of a [`BuildError`], which implies who can fix it, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid: fix the URI, the config or the options.
    Invalid,
    /// The input or a stored object is damaged: repair it or write it again.
    Data,
    /// Storage or a file did not answer: try again, or check credentials and permissions.
    Unavailable,
    /// Another writer changed the same documents in the meantime: read them again, and decide again.
    Conflict,
    /// A limit was reached: raise it, or reduce the input.
    Limit,
    /// A bug in Canter: report it.
    Internal,
}

/// The part of a store error's cause that a message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// Everything: with the path of a file, or the address of a bucket.
    All,
    /// The operating system's message, which contains no path.
    System,
    /// Nothing: errors from a network contain addresses.
    Nothing,
}

/// Error of building or publishing.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct BuildError {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
    is_of_replaced_input: bool,
}

impl BuildError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> BuildError {
        BuildError {
            kind,
            message: message.into(),
            source: None,
            is_of_replaced_input: false,
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

    /// Returns the error of a caught panic, which is a bug.
    #[must_use]
    pub fn of_panic(panic: &(dyn Any + Send)) -> BuildError {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        BuildError::internal(format!("a thread of the ingest panicked: {what}"))
    }

    /// Marks an error of an input that was replaced while it was read: it concerns no other input.
    pub(crate) fn of_replaced_input(mut self) -> BuildError {
        self.is_of_replaced_input = true;
        self
    }

    /// Returns whether an input was replaced while it was read.
    pub(crate) fn is_of_replaced_input(&self) -> bool {
        self.is_of_replaced_input
    }

    /// Stores `source` as the cause, and adds its message.
    pub(crate) fn caused_by(mut self, source: impl StdError + Send + Sync + 'static) -> BuildError {
        let said = source.to_string();
        let readable = without_xml(&said);
        self.message = format!("{}: {}", self.message, redact_urls(&readable));
        // All causes together would reveal more than the message may.
        self.source = (readable == said).then(|| Box::new(source) as _);
        self
    }

    /// Stores a store's error as the cause, as [`BuildError::caused_by`] does, and shows the given part of it in the
    /// message.
    pub(crate) fn caused_by_store(mut self, source: object_store::Error, shows: Shows) -> Self {
        match shows {
            Shows::All => return self.caused_by(source),
            Shows::System => {
                if let Some(said) = of_system(&source) {
                    self.message = format!("{}: {said}", self.message);
                }
            }
            Shows::Nothing => {}
        }
        self.source = Some(Box::new(source));
        self
    }

    /// Returns the message with all of its causes, even if the message hides locations: for logs.
    #[must_use]
    pub fn with_causes(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source();
        while let Some(error) = cause {
            let more = redact_urls(&without_xml(&error.to_string()));
            if !text.contains(&more) {
                text = format!("{text}: {more}");
            }
            cause = error.source();
        }
        text
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// Returns the operating system's message.
fn of_system(error: &(dyn StdError + 'static)) -> Option<String> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => Some(error.to_string()),
        None => of_system(error.source()?),
    }
}

/// A bug of tantivy while a segment is built: all its input was checked before.
impl From<tantivy::TantivyError> for BuildError {
    fn from(error: tantivy::TantivyError) -> BuildError {
        BuildError::internal("cannot build a segment").caused_by(error)
    }
}
