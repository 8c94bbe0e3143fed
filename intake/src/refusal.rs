//! Why documents were not taken.

use canter_index_builder::{BuildError, ErrorKind};

/// Why documents were not taken. None of them is lost: they are still the sender's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too much waits already: send again later.
    #[error(
        "documents of {max_bytes} bytes wait to be published already: send again later, or raise --max-pending-bytes"
    )]
    Busy {
        /// How much may wait.
        max_bytes: usize,
    },
    /// More than may wait at all: send it in parts.
    #[error(
        "the documents have {num_bytes} bytes, and {max_bytes} may wait to be published: send fewer at once, or raise \
         --max-pending-bytes"
    )]
    TooLarge {
        /// How much they are.
        num_bytes: usize,
        /// How much may wait.
        max_bytes: usize,
    },
    /// The server is about to end: send to another, or again.
    #[error("the server is stopping: send again")]
    Stopping,
    /// The store does not answer. Whether the documents came in is not known if that happened while they were published.
    #[error("{0}")]
    Unavailable(String),
    /// The index was deleted.
    #[error("the index was deleted")]
    Gone,
    /// The index does not take them any more.
    #[error("{0}")]
    Invalid(String),
    /// A mistake of ours, or a damaged index.
    #[error("{0}")]
    Internal(String),
}

impl From<&BuildError> for Refusal {
    fn from(error: &BuildError) -> Self {
        let message = error.to_string();
        match error.kind() {
            ErrorKind::Unavailable => Self::Unavailable(message),
            ErrorKind::Invalid | ErrorKind::Limit => Self::Invalid(message),
            _ => Self::Internal(message),
        }
    }
}
