//! Deletion of the documents that a query matches. The caller runs the query, which is not possible
//! here.

use canter_split_format::ListedSplit;
use serde::Serialize;

use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::delete;
use crate::index::storage::IndexStore;

/// Maximum number of times that documents are listed because others merged their splits. A merge
/// takes longer than a list.
const MAX_LISTS: u64 = 5;

/// Result of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeleteReport {
    /// Number of documents that had not been deleted before.
    pub num_deleted_docs: u64,
    /// Number of splits with these documents.
    pub num_splits: u64,
    /// Number of these splits that were removed from the index because no documents are left.
    pub num_emptied_splits: u64,
    /// Number of written bytes, including the manifest.
    pub num_bytes_written: u64,
    /// Number of times that the documents were listed, more than one if others merged splits at the
    /// same time.
    pub num_lists: u64,
}

/// Deletes the documents that `list` returns: those of live splits that a query matches, with each
/// split at most once. Calls `list` again if others have merged one of these splits in the
/// meantime. The deletion is atomic.
///
/// Documents that are published meanwhile stay, unless they were merged with existing ones.
///
/// # Errors
/// Errors of `list`; `Data` if a page or previous deletions cannot be read; `Unavailable` if
/// storage does not answer or conflicts persist.
pub fn delete_documents<E: From<BuildError>>(
    store: &IndexStore,
    mut list: impl FnMut() -> Result<Vec<ListedSplit>, E>,
) -> Result<DeleteReport, E> {
    for num_lists in 1..=MAX_LISTS {
        let listed = list()?;
        let deleted = match listed.is_empty() {
            true => Some(crate::index::publisher::Deleted::default()),
            false => blocking::run(delete(store, &listed))?,
        };
        if let Some(deleted) = deleted {
            return Ok(DeleteReport {
                num_deleted_docs: deleted.num_docs,
                num_splits: deleted.num_splits,
                num_emptied_splits: deleted.num_emptied_splits,
                num_bytes_written: deleted.num_bytes,
                num_lists,
            });
        }
    }
    Err(E::from(BuildError::unavailable(format!(
        "others merged splits of `{}` while their documents were listed, {MAX_LISTS} times: nothing is deleted; run \
         the same again",
        store.name()
    ))))
}
