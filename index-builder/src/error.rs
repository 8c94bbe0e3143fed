//! The crate's one error: a kind that says who can do something about it, and a message that says
//! what.

use std::any::Any;
use std::error::Error as StdError;
use std::io;

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

/// What a message shows of the cause of a store's error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// All that was said: with the path of a file, or the address of a bucket.
    All,
    /// What the operating system said, which has no path in it.
    System,
    /// Nothing: what comes over a network says where from.
    Nothing,
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

    /// A mistake that showed as a panic, which was caught.
    #[must_use]
    pub fn of_panic(panic: &(dyn Any + Send)) -> BuildError {
        let what = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        BuildError::internal(format!("a thread of the ingest panicked: {what}"))
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

    /// Keeps what a store said as the cause, as [`BuildError::caused_by`] does, and shows that much of it in the message.
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

    /// The message with all that caused it, also where the message says nothing of the place: for logs.
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

    /// Who can do something about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// What the operating system said.
fn of_system(error: &(dyn StdError + 'static)) -> Option<String> {
    match error.downcast_ref::<io::Error>() {
        Some(error) => Some(error.to_string()),
        None => of_system(error.source()?),
    }
}

/// A mistake of tantivy's while a segment is built: all its input was checked before.
impl From<tantivy::TantivyError> for BuildError {
    fn from(error: tantivy::TantivyError) -> BuildError {
        BuildError::internal("cannot build a segment").caused_by(error)
    }
}
