//! Deletion of documents from splits: the entry of each split names its deleted documents, until a
//! merge removes them.
//!
//! ```text
//!   listed ∪ already deleted ──▶ deletes/<id>.docs ──▶ entries in the manifest, or in rewritten pages ──▶ swap
//! ```
//!
//! A deletion is atomic. Splits never change, so documents that were listed from an older manifest
//! are still the same; the list only becomes invalid if one of its splits is gone (merged, or
//! emptied by another deletion).

mod changes;
mod digests;
mod ids;
mod mark;
mod replaced;

use canter_split_format::{ListedSplit, MANIFEST_OBJECT};

pub use changes::{DocNumbers, IdBatch};
pub(crate) use changes::{IdChanges, IdKey, Live};
pub(super) use digests::write_digests;
pub(crate) use ids::{find_ids, hold_live_only, identities_of};
pub(crate) use mark::{Deleted, read_deletes};
pub(super) use replaced::{NewKeys, replace_documents};

use super::capacity::check_capacity;
use super::create::{LoadedManifest, MAX_ATTEMPTS, is_outdated, load, manifest_bytes, pause};
use super::pages::{PageEntries, settle_ledger};
use super::spare::spare_what_is_referenced;
use crate::error::BuildError;
use crate::index::storage::{IndexStore, Swap};

/// Deletes these documents in one swap. Returns `None` without any change if one of the splits is
/// gone.
///
/// # Errors
/// `Data` if a page or the previous deletions cannot be read; `Unavailable` if storage does not
/// answer or conflicts persist. In each case, the old manifest stays.
pub(crate) async fn delete(
    store: &IndexStore,
    listed: &[ListedSplit],
) -> Result<Option<Deleted>, BuildError> {
    let mut pages = PageEntries::default();
    let mut attempted = Deleted::default();
    for num_attempts in 1..=MAX_ATTEMPTS {
        let loaded = load(store).await?;
        let version = loaded.version.clone();
        store.ensure_conditional_writes_of(&version).await?;
        match delete_once(store, listed, loaded, &mut pages, &mut attempted).await {
            Ok(Attempt::Done(deleted)) => return Ok(Some(deleted)),
            Ok(Attempt::Gone) => return Ok(None),
            Ok(Attempt::Conflict) => {}
            Err(error) if is_outdated(store, &error, &version).await? => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(BuildError::unavailable(format!(
        "others changed the manifest of `{}` during each of {MAX_ATTEMPTS} attempts: run the same again",
        store.name()
    )))
}

/// Result of an attempt.
enum Attempt {
    Done(Deleted),
    /// A split is no longer part of the index.
    Gone,
    /// Another writer was faster.
    Conflict,
}

/// Makes one attempt. `attempted` is the result that the attempt before would have had.
async fn delete_once(
    store: &IndexStore,
    listed: &[ListedSplit],
    loaded: LoadedManifest,
    pages: &mut PageEntries,
    attempted: &mut Deleted,
) -> Result<Attempt, BuildError> {
    let mut file = loaded.file;
    let Some(mut deleted) = mark::mark(store, &mut file, listed, pages).await? else {
        return Ok(Attempt::Gone);
    };
    if deleted.num_splits == 0 {
        // After a lost answer, a successful swap looks like a conflict: then the attempt before
        // succeeded.
        return Ok(Attempt::Done(*attempted));
    }
    settle_ledger(store, &mut file).await?;
    spare_what_is_referenced(store, &mut file, std::iter::empty())?;
    let bytes = manifest_bytes(&file)?;
    check_capacity(store, bytes.len() as u64)?;
    deleted.num_bytes += bytes.len() as u64;
    *attempted = deleted;
    let swap = store.replace(MANIFEST_OBJECT, bytes, &loaded.version);
    Ok(match swap.await? {
        Swap::Done => Attempt::Done(deleted),
        Swap::Conflict => Attempt::Conflict,
    })
}

#[cfg(test)]
mod tests;
