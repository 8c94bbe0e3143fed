//! The deleted documents of a split, as its entry refers to them.

use canter_protocol::ByteClass;
use canter_split_format::{DeletedDocs, SplitEntry};

use crate::SearchError;
use crate::exchange::Exchange;

/// Reads the deleted documents of a split: no read if its entry lists them all.
///
/// # Errors
/// If they cannot be fetched, or do not match the entry: an answer without them could show deleted
/// documents.
pub(super) async fn read_deleted(
    entry: &SplitEntry,
    exchange: &Exchange,
) -> Result<Option<DeletedDocs>, SearchError> {
    let Some(deletes) = &entry.deletes else {
        return Ok(None);
    };
    let object = deletes.object();
    let what = format!("split {}: {object}", entry.id);
    let max_doc = u32::try_from(entry.num_docs).unwrap_or(u32::MAX);
    if let Some(bytes) = &deletes.inlined
        && let Ok(docs) = deletes.open(bytes, max_doc)
    {
        return Ok(Some(docs));
    }
    let mut problem = String::new();
    for _ in 0..2 {
        let bytes = exchange
            .read(&object, 0, Some(deletes.len), ByteClass::Head)
            .await
            .map_err(|failure| failure.into_search_error(&what))?;
        // The host may have served another version from a cache: a second request bypasses that.
        match deletes.open(&bytes, max_doc) {
            Ok(docs) => return Ok(Some(docs)),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(SearchError::data(format!(
        "{what}: {problem}: restore the object from a copy of the index"
    )))
}
