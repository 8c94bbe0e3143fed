//! How much more an index takes: what searches read by default is what builders write.

use super::create::{config_of, load};
use crate::blocking;
use crate::error::BuildError;
use crate::storage::IndexStore;
use canter_doc_mapper::IndexConfig;
use canter_split_format::MAX_MANIFEST_BYTES;

/// What to do about an index that is full.
pub(crate) const ADVICE: &str =
    "list fewer tag_fields, or divide the documents among several indexes";

/// What an ingest looks at before it reads any input: whether the store can be written to safely and
/// the index takes another split. Returns the index's config.
///
/// # Errors
/// `Invalid` for a store or an index that cannot be written to, `Limit` for one that is full, and as
/// [`IndexStore::load_config`].
pub(crate) fn prepare(store: &IndexStore) -> Result<IndexConfig, BuildError> {
    blocking::run(async {
        let loaded = load(store).await?;
        let config = config_of(store, &loaded.file)?;
        check_capacity(store, loaded.len)?;
        store.ensure_conditional_writes().await?;
        Ok(config)
    })
}

/// Refuses a manifest that searches would refuse.
pub(super) fn check_capacity(
    store: &IndexStore,
    num_manifest_bytes: u64,
) -> Result<(), BuildError> {
    if num_manifest_bytes <= MAX_MANIFEST_BYTES {
        return Ok(());
    }
    Err(BuildError::limit(format!(
        "the index at `{}` would have a manifest of {num_manifest_bytes} bytes, more than the \
         {MAX_MANIFEST_BYTES} that a search reads: nothing was published; {ADVICE}",
        store.uri()
    )))
}

#[cfg(test)]
mod tests;
