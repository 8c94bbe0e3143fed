//! Finding the documents that a query matches, for deletions. The API does not list documents, so whoever starts the server
//! brings what does.

use canter_runtime::ErrorKind;
use canter_split_format::ListedSplit;
use serde_json::Value;

/// Finds the documents that a query matches.
pub trait FindDocuments: Send + Sync {
    /// The documents of live splits of the index at `uri` that match. Messages call the index `name`, and say nothing of where
    /// it is. `search` is the request, without limits. Blocks.
    ///
    /// # Errors
    /// If any split could not be searched.
    fn find(&self, uri: &str, name: &str, search: &Value) -> Result<Vec<ListedSplit>, FindError>;
}

/// Why documents were not found.
#[derive(Clone, Debug)]
pub struct FindError {
    /// `NotFound` if there is no index.
    pub kind: ErrorKind,
    /// For the client.
    pub message: String,
}
