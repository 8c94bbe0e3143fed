//! Reasons for refusing documents.

use canter_index_builder::{BuildError, ErrorKind};

/// Reason for which documents were refused. The sender still has them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too many documents wait already: send again later.
    #[error(
        "documents of {max_bytes} bytes wait to be published already: send again later, or raise --max-pending-bytes"
    )]
    Busy {
        /// Maximum number of waiting bytes.
        max_bytes: usize,
    },
    /// The documents exceed the limit for all waiting documents: send them in several requests.
    #[error(
        "the documents have {num_bytes} bytes, and {max_bytes} may wait to be published: send fewer at once, or raise \
         --max-pending-bytes"
    )]
    TooLarge {
        /// Size of the documents in bytes.
        num_bytes: usize,
        /// Maximum number of waiting bytes.
        max_bytes: usize,
    },
    /// The server is shutting down: send to another server, or again later.
    #[error("the server is stopping: send again")]
    Stopping,
    /// The store does not answer. If it failed while documents were being published, they may have
    /// been added.
    #[error("{0}")]
    Unavailable(String),
    /// The index was deleted.
    #[error("the index was deleted")]
    Gone,
    /// The index no longer accepts these documents.
    #[error("{0}")]
    Invalid(String),
    /// An internal error, or a damaged index.
    #[error("{0}")]
    Internal(String),
}

impl From<&BuildError> for Refusal {
    fn from(error: &BuildError) -> Self {
        let message = error.to_string();
        match error.kind() {
            ErrorKind::Unavailable | ErrorKind::Conflict => Self::Unavailable(message),
            ErrorKind::Invalid | ErrorKind::Limit => Self::Invalid(message),
            _ => Self::Internal(message),
        }
    }
}
