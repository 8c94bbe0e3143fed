//! Why a server cannot start.

use std::io;

use canter_index_builder::{BuildError, ErrorKind as BuildErrorKind};
use canter_runtime::{ErrorKind, SearchError};

/// Why a server cannot start, or cannot serve an index.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A setting is wrong: the message says what to change.
    #[error("{0}")]
    Invalid(String),
    /// An index cannot be opened for searching.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// An index cannot be opened for writing.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The folder or bucket that indexes come and go in cannot be read.
    #[error("{0}")]
    Root(String, #[source] BuildError),
    /// The machine refuses what the server needs.
    #[error(transparent)]
    System(#[from] io::Error),
    /// The certificate and its key cannot be used.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
}

impl ServerError {
    /// Whether other settings would help.
    pub fn is_invalid(&self) -> bool {
        match self {
            Self::Invalid(_) => true,
            Self::Search(error) => matches!(error.kind, ErrorKind::Invalid | ErrorKind::NotFound),
            Self::Build(error) | Self::Root(_, error) => error.kind() == BuildErrorKind::Invalid,
            Self::System(_) | Self::Tls(_) => false,
        }
    }

    /// The message with those of its causes.
    pub(crate) fn with_causes(&self) -> String {
        match self {
            Self::Build(error) => error.with_causes(),
            Self::Root(message, error) => format!("{message}: {}", error.with_causes()),
            error => error.to_string(),
        }
    }
}
