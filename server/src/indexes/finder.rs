//! Finding the documents that a query matches, for deletions. The API does not list documents, so the starter of the
//! server provides an implementation.

use canter_runtime::ErrorKind;
use canter_split_format::ListedSplit;
use serde_json::Value;

/// Finder of the documents that a query matches.
pub trait FindDocuments: Send + Sync {
    /// Returns the matching documents of live splits of the index at `uri`. Messages call the index `name`, and do not
    /// reveal its location. `search` is the request, without limits. Blocks.
    ///
    /// # Errors
    /// If any split could not be searched.
    fn find(&self, uri: &str, name: &str, search: &Value) -> Result<Vec<ListedSplit>, FindError>;
}

/// Reason why documents were not found.
#[derive(Clone, Debug)]
pub struct FindError {
    /// `NotFound` if there is no index.
    pub kind: ErrorKind,
    /// Message for the client.
    pub message: String,
}
