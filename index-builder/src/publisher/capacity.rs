//! How much more an index takes: what searches read by default is what builders write.

use super::create::{config_of, load};
use crate::blocking;
use crate::error::BuildError;
use crate::storage::IndexStore;
use canter_doc_mapper::IndexConfig;
use canter_split_format::{MAX_MANIFEST_BYTES, MAX_SPLITS};

/// What to do about an index that is full.
pub(crate) const ADVICE: &str = "make larger splits (--split-num-docs, --max-split-bytes, \
     indexing_settings.split_num_docs_target), and divide the documents among several indexes";

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
        let num_splits = loaded.file.manifest.splits.len() as u64;
        // It may be that all splits are known already: one more is refused at the end.
        if num_splits > MAX_SPLITS || loaded.len > MAX_MANIFEST_BYTES {
            check_capacity(store, num_splits, loaded.len)?;
        }
        store.ensure_conditional_writes().await?;
        Ok(config)
    })
}

/// Refuses a manifest that searches would refuse.
pub(super) fn check_capacity(
    store: &IndexStore,
    num_splits: u64,
    num_manifest_bytes: u64,
) -> Result<(), BuildError> {
    let what = if num_splits > MAX_SPLITS {
        format!("{num_splits} splits, more than the {MAX_SPLITS} that a search opens")
    } else if num_manifest_bytes > MAX_MANIFEST_BYTES {
        format!(
            "a manifest of {num_manifest_bytes} bytes, more than the {MAX_MANIFEST_BYTES} that a \
             search reads"
        )
    } else {
        return Ok(());
    };
    Err(BuildError::limit(format!(
        "the index at `{}` would have {what}: nothing was published; {ADVICE}",
        store.uri()
    )))
}

#[cfg(test)]
mod tests;
