//! Replacement of documents by newer ones with the same ids, in the swap that publishes these.
//!
//! ```text
//!   new splits ──keys──▶ live documents with these ids ──▶ marked as deleted
//!                  └───▶ all but the last of those with equal ids ──▶ marked as deleted from the beginning
//! ```

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::{DeletedDocs, ListedSplit, ManifestFile, SourceId, SplitEntry};

use super::changes::{IdChanges, IdKey, Live};
use super::ids::{find_ids, identities_of, keys_of};
use super::mark::{mark, upload};
use crate::error::{BuildError, ErrorKind};
use crate::index::publisher::pages::PageEntries;
use crate::index::storage::IndexStore;

/// New split with its head.
pub(crate) type NewKeys<'a> = (SplitEntry, &'a [u8]);

/// Marks the documents in a manifest that new ones replace, or that are removed. In the entries of the new splits, marks all
/// but the last of the documents with equal ids. `order` lists the sources in the order of their arrival.
///
/// # Errors
/// `Conflict` if the live documents are others than `changes` says; otherwise the same as for `find_ids`.
pub(crate) async fn replace_documents(
    store: &IndexStore,
    file: &mut ManifestFile,
    new: &mut [NewKeys<'_>],
    order: &[SourceId],
    changes: Option<&IdChanges>,
) -> Result<(), BuildError> {
    let mut places: BTreeMap<IdKey, Vec<(usize, u32)>> = BTreeMap::new();
    for (ord, (entry, head)) in new.iter().enumerate() {
        for key in keys_of(store, entry, head).await? {
            let id = IdKey {
                hash: key.hash,
                identity: None,
            };
            places.entry(id).or_default().push((ord, key.doc));
        }
    }
    let seen = changes.map(|changes| &changes.seen);
    // What was seen names all ids; of others only the hashes are known.
    let mut ids: BTreeSet<IdKey> = seen.into_iter().flatten().map(|(id, _)| *id).collect();
    if seen.is_none() {
        ids.extend(places.keys());
    }
    let mut pages = PageEntries::default();
    let found = find_ids(store, file, &ids, &mut pages).await?;
    if let Some(seen) = seen
        && ids.iter().any(|id| {
            found.get(id).map(Vec::as_slice).unwrap_or_default()
                != seen.get(id).map(Vec::as_slice).unwrap_or_default()
        })
    {
        return Err(BuildError::new(
            ErrorKind::Conflict,
            format!(
                "another writer changed documents of `{}` with the same ids: nothing was published",
                store.name()
            ),
        ));
    }
    let is_new = |id: &IdKey| {
        let hash = id.hash;
        places.contains_key(&IdKey {
            hash,
            identity: None,
        })
    };
    // Another writer may have used the same numbers for other ids meanwhile, and more of them.
    let next_seq_no = changes.map_or(0, |changes| changes.next_seq_no);
    file.manifest.next_seq_no = file.manifest.next_seq_no.max(next_seq_no);
    let removed = changes.map(|changes| &changes.removed);
    let is_gone = |id: &IdKey| is_new(id) || removed.is_some_and(|removed| removed.contains(id));
    let gone = found.iter().filter(|(id, _)| is_gone(id));
    let listed = listed(store, file, &mut pages, gone.flat_map(|(_, live)| live)).await?;
    if !listed.is_empty() && mark(store, file, &listed, &mut pages).await?.is_none() {
        return Err(BuildError::internal("a split is gone that was there"));
    }
    let twice: BTreeMap<IdKey, Vec<(usize, u32)>> = places
        .into_iter()
        .filter(|(_, places)| places.len() > 1)
        .collect();
    mark_superseded(store, file, new, order, &twice).await
}

/// Lists documents by their splits.
async fn listed(
    store: &IndexStore,
    file: &ManifestFile,
    pages: &mut PageEntries,
    live: impl Iterator<Item = &Live>,
) -> Result<Vec<ListedSplit>, BuildError> {
    let mut by_split: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for Live { split_id, doc, .. } in live {
        by_split.entry(split_id).or_default().insert(*doc);
    }
    let mut listed = Vec::new();
    for (split_id, docs) in by_split {
        let entry = entry_of(store, file, pages, split_id).await?;
        listed.push(ListedSplit::new(&entry, &DeletedDocs::of_sorted(docs)));
    }
    Ok(listed)
}

/// Returns the entry of a live split.
async fn entry_of(
    store: &IndexStore,
    file: &ManifestFile,
    pages: &mut PageEntries,
    split_id: &str,
) -> Result<SplitEntry, BuildError> {
    let is_it = |entry: &&SplitEntry| entry.id == split_id;
    if let Some(entry) = file.manifest.splits.iter().find(is_it) {
        return Ok(entry.clone());
    }
    for page in &file.pages {
        let entries = pages.of_page(store, page).await?;
        if let Some(entry) = entries.iter().find(is_it) {
            return Ok(entry.clone());
        }
    }
    Err(BuildError::internal(format!(
        "split {split_id} is gone that was there"
    )))
}

/// Marks all but the last of the documents with equal ids in the entries of new splits.
async fn mark_superseded(
    store: &IndexStore,
    file: &mut ManifestFile,
    new: &mut [NewKeys<'_>],
    order: &[SourceId],
    twice: &BTreeMap<IdKey, Vec<(usize, u32)>>,
) -> Result<(), BuildError> {
    let mut docs_of: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for (ord, doc) in twice.values().flatten() {
        docs_of.entry(*ord).or_default().insert(*doc);
    }
    let mut identities = BTreeMap::new();
    for (ord, docs) in &docs_of {
        if let Some((entry, head)) = new.get(*ord) {
            let found = identities_of(store, entry, Some(head), docs).await?;
            identities.insert(*ord, found);
        }
    }
    let ranks: BTreeMap<SourceId, usize> = order.iter().copied().zip(0..).collect();
    // Splits are in the order of the input, documents of a split in that of their times.
    let arrival = |(ord, doc): &(usize, u32)| {
        let identity = identities.get(ord).and_then(|docs| docs.get(doc));
        let rank = identity.map(|identity| ranks.get(&identity.source).copied());
        (
            *ord,
            rank.flatten(),
            identity.map(|identity| identity.position),
        )
    };
    let mut superseded: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for places in twice.values() {
        let last = places.iter().max_by_key(|place| arrival(place));
        for (ord, doc) in places.iter().filter(|place| Some(*place) != last) {
            superseded.entry(*ord).or_default().insert(*doc);
        }
    }
    let mut written = Vec::new();
    for (ord, docs) in superseded {
        if let Some((entry, _)) = new.get_mut(ord) {
            let (deletes, bytes) = DeletedDocs::of_sorted(docs).write();
            entry.deletes = Some(deletes.clone());
            written.push((deletes, bytes));
        }
    }
    upload(store, file, written).await?;
    Ok(())
}

#[cfg(test)]
mod tests;
