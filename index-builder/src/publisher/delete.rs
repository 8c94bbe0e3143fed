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

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use canter_split_format::{
    DeletedDocs, DeletesRef, ListedSplit, MANIFEST_OBJECT, ManifestFile, ObjectKind, ObjectName,
    PageRef, PageSplit, split_number,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::capacity::check_capacity;
use super::create::{LoadedManifest, load, manifest_bytes};
use super::pages::{add_pages, read_page, settle_ledger};
use super::publish::{MAX_ATTEMPTS, is_outdated, pause};
use super::replace::{PageEntries, PageId};
use super::spare::{spare, spare_what_is_referenced};
use crate::error::BuildError;
use crate::storage::{IndexStore, Swap};

/// Number of concurrent writes.
const WRITES_AT_ONCE: usize = 8;

/// Result of a deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Deleted {
    /// Number of documents that had not been deleted before.
    pub(crate) num_docs: u64,
    /// Number of splits with these documents.
    pub(crate) num_splits: u64,
    /// Number of these splits that have no documents left and were removed from the index.
    pub(crate) num_emptied_splits: u64,
    /// Number of written bytes, including the manifest.
    pub(crate) num_bytes: u64,
}

/// Change of a split.
struct Change {
    place: PageId,
    /// `None` if no document is left.
    deletes: Option<(DeletesRef, Vec<u8>)>,
}

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
    let Some((changes, mut deleted)) = plan(store, &file, listed, pages).await? else {
        return Ok(Attempt::Gone);
    };
    if changes.is_empty() {
        // After a lost answer, a successful swap looks like a conflict: then the attempt before
        // succeeded.
        return Ok(Attempt::Done(*attempted));
    }
    // This comes after the manifest was read: a garbage collection that has removed any of these
    // objects since would have changed the manifest.
    deleted.num_bytes += upload(store, &changes).await?;
    deleted.num_bytes += apply(store, &mut file, &changes).await?;
    settle_ledger(store, &mut file).await?;
    let objects = changes
        .values()
        .filter_map(|change| change.deletes.as_ref());
    let objects: Vec<ObjectName> = objects
        .map(|(deletes, _)| ObjectName::new(ObjectKind::Deletes, &deletes.id))
        .collect();
    spare(store, &mut file, objects)?;
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

/// Returns the changes of the listed splits, keyed by id, or `None` if one of the splits is gone.
async fn plan(
    store: &IndexStore,
    file: &ManifestFile,
    listed: &[ListedSplit],
    pages: &mut PageEntries,
) -> Result<Option<(BTreeMap<String, Change>, Deleted)>, BuildError> {
    let mut changes = BTreeMap::new();
    let mut deleted = Deleted::default();
    for split in listed {
        let is_it = |id: &str| id == split.split_id;
        let found = pages.find_where(store, file, split.time_range, |entry| is_it(&entry.id));
        let Some((place, entry)) = found.await? else {
            return Ok(None);
        };
        let wrong =
            |message: String| BuildError::internal(format!("split {}: {message}", entry.id));
        let max_doc = u32::try_from(entry.num_docs)
            .map_err(|_| wrong("it has too many documents".to_owned()))?;
        if entry.num_docs != split.num_docs {
            return Err(wrong("documents of another split are listed".to_owned()));
        }
        let more = split.docs().map_err(|error| wrong(error.to_string()))?;
        let before = match &entry.deletes {
            None => DeletedDocs::default(),
            Some(deletes) => read_deletes(store, deletes, max_doc).await?,
        };
        let after = before.union(&more);
        if after == before {
            continue;
        }
        deleted.num_docs += after.num_docs().saturating_sub(before.num_docs());
        deleted.num_splits += 1;
        let is_empty = after.num_docs() == entry.num_docs;
        deleted.num_emptied_splits += u64::from(is_empty);
        let deletes = (!is_empty).then(|| after.write());
        changes.insert(entry.id, Change { place, deletes });
    }
    Ok(Some((changes, deleted)))
}

/// Uploads the deletions, and returns their number of bytes.
async fn upload(store: &IndexStore, changes: &BTreeMap<String, Change>) -> Result<u64, BuildError> {
    let written = changes.values().filter_map(|change| change.deletes.clone());
    let written: Vec<(DeletesRef, Vec<u8>)> = written.collect();
    let num_bytes = written.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    stream::iter(written)
        .map(async |(deletes, bytes)| {
            let object = deletes.object();
            store.put_immutable(&object, Bytes::from(bytes)).await
        })
        .buffer_unordered(WRITES_AT_ONCE)
        .try_collect::<Vec<bool>>()
        .await?;
    Ok(num_bytes)
}

/// Applies the changes to a manifest, and rewrites pages with changed splits. Returns the number of
/// bytes of these pages.
async fn apply(
    store: &IndexStore,
    file: &mut ManifestFile,
    changes: &BTreeMap<String, Change>,
) -> Result<u64, BuildError> {
    let is_emptied = |id: &str| {
        changes
            .get(id)
            .is_some_and(|change| change.deletes.is_none())
    };
    let deletes_of = |id: &str| {
        let deletes = changes.get(id).and_then(|change| change.deletes.as_ref());
        deletes.map(|(reference, _)| reference.clone())
    };
    let emptied = file.take_splits(|entry| is_emptied(&entry.id));
    // The ledger keeps their ids. For splits in pages, it already has them.
    let numbers = emptied
        .iter()
        .filter_map(|(entry, _)| split_number(&entry.id));
    file.ledger.recent.extend(numbers);
    for entry in &mut file.manifest.splits {
        entry.deletes = deletes_of(&entry.id).or(entry.deletes.take());
    }

    let places: BTreeSet<&String> = changes.values().flat_map(|change| &change.place).collect();
    let pages = std::mem::take(&mut file.pages);
    let (changed, kept): (Vec<PageRef>, Vec<PageRef>) = pages
        .into_iter()
        .partition(|page| places.contains(&page.id));
    file.pages = kept;
    let num_kept = file.pages.len();
    for page in changed {
        let num_splits = page.num_splits;
        let (splits, summary) = read_page(store, page).await?;
        let mut left: Vec<PageSplit> = splits;
        left.retain(|split| !is_emptied(&split.entry.id));
        for PageSplit { entry, .. } in &mut left {
            entry.deletes = deletes_of(&entry.id).or(entry.deletes.take());
        }
        if left.is_empty() {
            continue;
        }
        // Sums of a page with deleted documents are not used; without the split they would stay
        // wrong.
        let summary = summary.filter(|_| left.len() as u64 == num_splits);
        add_pages(store, file, left, vec![summary]).await?;
    }
    let written = file.pages.get(num_kept..).unwrap_or_default();
    Ok(written.iter().map(PageRef::object_len).sum())
}

/// Returns the deleted documents of a split.
///
/// # Errors
/// `Data` if they are missing or damaged.
pub(crate) async fn read_deletes(
    store: &IndexStore,
    deletes: &DeletesRef,
    max_doc: u32,
) -> Result<DeletedDocs, BuildError> {
    let object = deletes.object();
    let bytes = match &deletes.inlined {
        Some(bytes) => Bytes::from(bytes.clone()),
        None => match store.get(&object).await? {
            Some((bytes, _)) => bytes,
            None => {
                return Err(BuildError::data(format!(
                    "`{}/{object}` is missing, though the manifest refers to it: restore it from a copy of the index",
                    store.name()
                )));
            }
        },
    };
    deletes.open(&bytes, max_doc).map_err(|error| {
        BuildError::data(format!("`{}/{object}` cannot be read", store.name())).caused_by(error)
    })
}

#[cfg(test)]
mod tests;
