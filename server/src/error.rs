//! Errors that keep a server from starting, or from serving an index.

use std::io;

use canter_index_builder::{BuildError, ErrorKind as BuildErrorKind};
use canter_runtime::{ErrorKind, SearchError};

/// Error that keeps a server from starting, or from serving an index.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A setting is invalid: the message says what to change.
    #[error("{0}")]
    Invalid(String),
    /// An index cannot be opened for searching.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// An index cannot be opened for writing.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The folder or bucket of the managed indexes cannot be read.
    #[error("{0}")]
    Root(String, #[source] BuildError),
    /// The operating system refuses a resource.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The certificate and its key cannot be used.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

impl ServerError {
    /// Returns whether other settings would help.
    pub fn is_invalid(&self) -> bool {
        match self {
            Self::Invalid(_) => true,
            Self::Search(error) => matches!(error.kind, ErrorKind::Invalid | ErrorKind::NotFound),
            Self::Build(error) | Self::Root(_, error) => error.kind() == BuildErrorKind::Invalid,
            Self::System(_) | Self::Tls(_) => false,
        }
    }

    /// Returns the message with those of its causes.
    pub(crate) fn with_causes(&self) -> String {
        match self {
            Self::Build(error) => error.with_causes(),
            Self::Root(message, error) => format!("{message}: {}", error.with_causes()),
            error => error.to_string(),
        }
    }
}
