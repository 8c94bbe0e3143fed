//! Maintenance of an index: merges splits, removes objects without references, and verifies the
//! others. Also reads and deletes documents that a search has listed.

mod delete;
mod documents;
mod gc;
mod merge;
mod references;
mod remains;
mod verify;

pub use delete::{DeleteReport, delete_documents};
pub use documents::{Documents, DocumentsPart, locate_documents};
pub use gc::{GcOptions, GcReport, collect_garbage};
pub use merge::{MergeDone, MergeIndexOptions, MergeReport, merge_index};
pub use remains::{StoredSplits, stored_splits};
pub use verify::{Problem, VerifyOptions, VerifyReport, verify_index};

#[cfg(test)]
mod schedules;
#[cfg(test)]
mod tests;
