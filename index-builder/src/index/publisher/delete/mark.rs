//! Marks documents as deleted in the entries of their splits.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use canter_split_format::{
    DeletedDocs, DeletesRef, ListedSplit, ManifestFile, ObjectKind, ObjectName, PageRef, PageSplit,
    split_number,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use crate::error::BuildError;
use crate::index::publisher::pages::{PageEntries, PageId, add_pages, read_page};
use crate::index::publisher::spare::spare;
use crate::index::storage::IndexStore;

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

/// Marks listed documents as deleted in a manifest, and uploads the objects that it refers to then. Splits without any other
/// documents are removed from it. Returns `None` without any change if one of the splits is gone.
///
/// This comes after the manifest was read: a garbage collection that removes any of these objects later changes the manifest.
///
/// # Errors
/// `Data` if a page or the previous deletions cannot be read; `Unavailable` if storage does not answer.
pub(super) async fn mark(
    store: &IndexStore,
    file: &mut ManifestFile,
    listed: &[ListedSplit],
    pages: &mut PageEntries,
) -> Result<Option<Deleted>, BuildError> {
    let Some((changes, mut deleted)) = plan(store, file, listed, pages).await? else {
        return Ok(None);
    };
    if changes.is_empty() {
        return Ok(Some(deleted));
    }
    let objects = changes
        .values()
        .filter_map(|change| change.deletes.as_ref());
    let objects: Vec<(DeletesRef, Vec<u8>)> = objects.cloned().collect();
    deleted.num_bytes += upload(store, file, objects).await?;
    deleted.num_bytes += apply(store, file, &changes).await?;
    Ok(Some(deleted))
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

/// Uploads deletions to which a manifest will refer, and returns their number of bytes.
///
/// # Errors
/// `Unavailable` if storage cannot be written, or if one of them is being deleted.
pub(super) async fn upload(
    store: &IndexStore,
    file: &mut ManifestFile,
    written: Vec<(DeletesRef, Vec<u8>)>,
) -> Result<u64, BuildError> {
    let num_bytes = written.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let objects = written.iter();
    let objects = objects.map(|(deletes, _)| ObjectName::new(ObjectKind::Deletes, &deletes.id));
    spare(store, file, objects.collect())?;
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
