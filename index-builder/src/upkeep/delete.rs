//! Deleting what a query matches. Who can answer queries says which documents those are: nothing here can.

use canter_split_format::ListedSplit;
use serde::Serialize;

use crate::blocking;
use crate::error::BuildError;
use crate::publisher::delete;
use crate::storage::IndexStore;

/// How often documents are listed anew because others merged their splits: a merge takes longer than a list.
const MAX_LISTS: u64 = 5;

/// What a deletion did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeleteReport {
    /// Documents that are deleted now and were not before.
    pub num_deleted_docs: u64,
    /// Splits that these are in.
    pub num_splits: u64,
    /// Those of them that are no part of the index any more, because nothing is left of them.
    pub num_emptied_splits: u64,
    /// Bytes that were written, the manifest's among them.
    pub num_bytes_written: u64,
    /// How often the documents were listed: more than once if others merged splits at the same time.
    pub num_lists: u64,
}

/// Deletes the documents that `list` gives: those of live splits that a query matches, each split once. It is asked
/// again if others have merged one of these splits meanwhile. All of them are deleted, or none.
///
/// What is published while this goes on stays, unless it was merged with what was there before.
///
/// # Errors
/// What `list` says; `Data` if a page or what is deleted already cannot be read; `Unavailable` if storage does not
/// answer, or others kept changing the index.
pub fn delete_documents<E: From<BuildError>>(
    store: &IndexStore,
    mut list: impl FnMut() -> Result<Vec<ListedSplit>, E>,
) -> Result<DeleteReport, E> {
    for num_lists in 1..=MAX_LISTS {
        let listed = list()?;
        let deleted = match listed.is_empty() {
            true => Some(crate::publisher::Deleted::default()),
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
