//! What is copied, and what became of it.

use serde_json::{Map, Value};

use super::super::scripts::Scripting;

/// What became of the documents so far.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) num_read: u64,
    pub(super) num_created: u64,
    pub(super) num_updated: u64,
    pub(super) num_conflicts: u64,
    pub(super) num_deleted: u64,
    pub(super) num_unchanged: u64,
    pub(super) num_batches: u64,
}

/// What is copied.
pub(super) struct Copying {
    /// Names and patterns of the indexes that are searched.
    pub(super) from: String,
    pub(super) search: Map<String, Value>,
    pub(super) max_docs: u64,
    /// The index to write into; that of each document if absent.
    pub(super) to: Option<String>,
    /// Whether documents that are there stay as they are.
    pub(super) creates: bool,
    /// Whether conflicts are counted, and end nothing.
    pub(super) proceeds: bool,
    pub(super) script: Option<Scripting>,
    /// The pipeline that documents pass before they are written.
    pub(super) pipeline: Option<String>,
}
