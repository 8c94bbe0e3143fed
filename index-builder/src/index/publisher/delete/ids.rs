//! Looking up documents by their ids in the live splits of a manifest.
//!
//! ```text
//!   ids ──▶ filters of all splits, in memory ──hardly any but those that are there──▶ blocks of tables ──▶ documents
//! ```
//!
//! The filters of splits that were seen before are held by the store, and most others are read from digests. A split that is in
//! none costs its head, unless the manifest carries it, and its filter.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use canter_split_format::{
    DocIdentity, Head, IDENTITIES_FILE, Identities, KEYS_FILE, Key, KeyFilter, ManifestFile,
    SplitEntry, split_object,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::changes::{IdKey, Live};
use super::digests::read_digests;
use super::mark::read_deletes;
use crate::error::BuildError;
use crate::index::publisher::pages::PageEntries;
use crate::index::storage::{HeldKeys, HeldSplit, IndexStore};

/// Number of concurrent reads.
const READS_AT_ONCE: usize = 16;
/// Maximum distance of blocks that are read together.
const MAX_GAP: u64 = 16 << 10;

/// Returns the live documents with these ids: none or one for each, unless a writer that knows no ids added more.
///
/// # Errors
/// `Data` for a damaged or missing object, `Unavailable` if storage does not answer.
pub(crate) async fn find_ids(
    store: &IndexStore,
    file: &ManifestFile,
    ids: &BTreeSet<IdKey>,
    pages: &mut PageEntries,
) -> Result<BTreeMap<IdKey, Vec<Live>>, BuildError> {
    let mut found: BTreeMap<IdKey, Vec<Live>> = BTreeMap::new();
    if ids.is_empty() {
        return Ok(found);
    }
    let entries = live_entries(store, file, pages).await?;
    read_digests(store, file, &entries).await?;
    let looked = stream::iter(entries).map(|entry| {
        let head = file.head(&entry.id);
        of_split(store, entry, head, ids)
    });
    let looked: Vec<Vec<(IdKey, Live)>> = looked.buffered(READS_AT_ONCE).try_collect().await?;
    for (id, live) in looked.into_iter().flatten() {
        found.entry(id).or_default().push(live);
    }
    Ok(found)
}

/// Returns the entries of all live splits, and holds those of pages.
pub(super) async fn live_entries(
    store: &IndexStore,
    file: &ManifestFile,
    pages: &mut PageEntries,
) -> Result<Vec<SplitEntry>, BuildError> {
    let mut entries = file.manifest.splits.clone();
    for page in &file.pages {
        let of_page = pages.of_page(store, page).await?;
        store.hold_page(&page.id, Arc::clone(&of_page));
        entries.extend(of_page.iter().cloned());
    }
    Ok(entries)
}

/// Drops what is held of splits and pages that are not live in a manifest.
///
/// # Errors
/// Same as for [`find_ids`].
pub(crate) async fn hold_live_only(
    store: &IndexStore,
    file: &ManifestFile,
) -> Result<(), BuildError> {
    let entries = live_entries(store, file, &mut PageEntries::default()).await?;
    let live = entries.iter().map(|entry| entry.id.as_str()).collect();
    let pages = file.pages.iter().map(|page| page.id.as_str()).collect();
    let digests = file.manifest.key_digests.iter();
    let digests = digests.map(|digest| digest.id.as_str()).collect();
    store.hold_only(&live, &pages, &digests);
    Ok(())
}

/// Reads what it takes to look up documents of a split, and holds it.
async fn read_split(
    store: &IndexStore,
    entry: &SplitEntry,
    head: Option<&[u8]>,
) -> Result<Arc<HeldSplit>, BuildError> {
    let object = split_object(&entry.id);
    let head = match head.filter(|head| entry.is_head(head)) {
        Some(head) => Bytes::copy_from_slice(head),
        None => read(store, &object, 0..entry.head_len).await?,
    };
    if !entry.is_head(&head) {
        return Err(damaged(store, entry, "its head is another"));
    }
    let head = Head::open(&head).map_err(|error| damaged(store, entry, &error.to_string()))?;
    let file = |name: &str| {
        let (_, file) = head.files.find(name)?;
        let start = entry.head_len.saturating_add(file.offset);
        Some(start..start.saturating_add(file.len))
    };
    let keys = match file(KEYS_FILE) {
        None => None,
        Some(file) => {
            let len = KeyFilter::max_len(entry.num_docs).min(file.end - file.start);
            let bytes = read(store, &object, file.start..file.start + len).await?;
            let filter = KeyFilter::open(&bytes);
            let filter = filter.map_err(|error| damaged(store, entry, &error.to_string()))?;
            Some(HeldKeys { filter, file })
        }
    };
    let split = Arc::new(HeldSplit {
        keys,
        identities: head.metadata.identities.zip(file(IDENTITIES_FILE)),
    });
    store.hold_split(&entry.id, Arc::clone(&split));
    Ok(split)
}

/// Returns the documents of a split with these ids that are not deleted.
async fn of_split(
    store: &IndexStore,
    entry: SplitEntry,
    head: Option<&[u8]>,
    ids: &BTreeSet<IdKey>,
) -> Result<Vec<(IdKey, Live)>, BuildError> {
    let entry = &entry;
    let split = match store.held_split(&entry.id) {
        Some(split) => split,
        None => read_split(store, entry, head).await?,
    };
    let mut found: Vec<(IdKey, u32, u64, Option<u64>)> = Vec::new();
    if let Some(keys) = &split.keys {
        for (id, key) in find_keys(store, entry, keys, ids).await? {
            found.push((id, key.doc, key.version, key.seq_no));
        }
    }
    if let Some((range, file)) = &split.identities {
        let wanted = ids.iter().filter_map(|id| Some((id.identity?, *id)));
        let wanted: BTreeMap<DocIdentity, IdKey> = wanted
            .filter(|(identity, _)| range.may_hold(identity))
            .collect();
        if !wanted.is_empty() {
            let identities = read_identities(store, entry, file).await?;
            for (identity, id) in wanted {
                let docs = identities.find(&[identity]);
                let docs = docs.map_err(|error| damaged(store, entry, &error.to_string()))?;
                found.extend(docs.into_iter().map(|doc| (id, doc, 1, None)));
            }
        }
    }
    if found.is_empty() {
        return Ok(Vec::new());
    }
    if let Some(deletes) = &entry.deletes {
        let max_doc = u32::try_from(entry.num_docs).unwrap_or(u32::MAX);
        let deleted = read_deletes(store, deletes, max_doc).await?;
        found.retain(|(_, doc, ..)| !deleted.contains(*doc));
    }
    let live = found.into_iter().map(|(id, doc, version, seq_no)| {
        let split_id = entry.id.clone();
        (
            id,
            Live {
                split_id,
                doc,
                version,
                seq_no,
            },
        )
    });
    Ok(live.collect())
}

/// Returns the keys of these ids in a split, whose documents may be deleted.
async fn find_keys(
    store: &IndexStore,
    entry: &SplitEntry,
    keys: &HeldKeys,
    ids: &BTreeSet<IdKey>,
) -> Result<Vec<(IdKey, Key)>, BuildError> {
    let mut blocks: BTreeMap<u64, BTreeSet<IdKey>> = BTreeMap::new();
    for id in ids {
        for key in keys.filter.may_be(id.hash) {
            blocks
                .entry(keys.filter.block_of(key))
                .or_default()
                .insert(*id);
        }
    }
    // Blocks that lie near each other are read together.
    let mut reads: Vec<(Range<u64>, Vec<u64>)> = Vec::new();
    for block_ord in blocks.keys() {
        let range = keys.filter.range_of(*block_ord);
        match reads.last_mut() {
            Some((last, ords)) if range.start <= last.end + MAX_GAP => {
                last.end = range.end;
                ords.push(*block_ord);
            }
            _ => reads.push((range, vec![*block_ord])),
        }
    }
    let object = split_object(&entry.id);
    let start = keys.file.start;
    let ranges: Vec<Range<u64>> = reads.iter().map(|(range, _)| range.clone()).collect();
    let read = stream::iter(ranges)
        .map(|range| read(store, &object, start + range.start..start + range.end));
    let read: Vec<Bytes> = read.buffered(READS_AT_ONCE).try_collect().await?;
    let mut found = Vec::new();
    for ((whole, ords), bytes) in reads.into_iter().zip(read) {
        for block_ord in ords {
            let range = keys.filter.range_of(block_ord);
            let at = |offset: u64| usize::try_from(offset - whole.start).unwrap_or(usize::MAX);
            let block = bytes
                .get(at(range.start)..at(range.end))
                .unwrap_or_default();
            for id in blocks.get(&block_ord).into_iter().flatten() {
                let keys = keys.filter.find(id.hash, block_ord, block);
                let keys = keys.map_err(|error| damaged(store, entry, &error.to_string()))?;
                found.extend(keys.into_iter().map(|key| (*id, key)));
            }
        }
    }
    Ok(found)
}

/// Returns all keys of a split that was uploaded a moment ago.
///
/// # Errors
/// Same as for [`find_ids`].
pub(super) async fn keys_of(
    store: &IndexStore,
    entry: &SplitEntry,
    head: &[u8],
) -> Result<Vec<Key>, BuildError> {
    let split = read_split(store, entry, Some(head)).await?;
    let Some(keys) = &split.keys else {
        return Ok(Vec::new());
    };
    let bytes = read(store, &split_object(&entry.id), keys.file.clone()).await?;
    let all = keys.filter.open_all(&bytes);
    all.map_err(|error| damaged(store, entry, &error.to_string()))
}

/// Returns the identities of these documents of a split.
///
/// # Errors
/// Same as for [`find_ids`].
pub(crate) async fn identities_of(
    store: &IndexStore,
    entry: &SplitEntry,
    head: Option<&[u8]>,
    docs: &BTreeSet<u32>,
) -> Result<BTreeMap<u32, DocIdentity>, BuildError> {
    let split = match store.held_split(&entry.id) {
        Some(split) => split,
        None => read_split(store, entry, head).await?,
    };
    let Some((_, file)) = &split.identities else {
        return Err(damaged(store, entry, "its documents have no identities"));
    };
    let identities = read_identities(store, entry, file).await?;
    let named = docs.iter().map(|doc| {
        let identity = identities.get(*doc);
        let identity = identity.map_err(|error| damaged(store, entry, &error.to_string()))?;
        Ok((*doc, identity))
    });
    named.collect()
}

async fn read_identities(
    store: &IndexStore,
    entry: &SplitEntry,
    file: &Range<u64>,
) -> Result<Identities<Bytes>, BuildError> {
    let bytes = read(store, &split_object(&entry.id), file.clone()).await?;
    Identities::open(bytes).map_err(|error| damaged(store, entry, &error.to_string()))
}

pub(super) async fn read(
    store: &IndexStore,
    object: &str,
    range: Range<u64>,
) -> Result<Bytes, BuildError> {
    let bytes = store.get_range(object, range).await?;
    bytes.ok_or_else(|| {
        BuildError::data(format!(
            "`{}` is missing, though the manifest refers to it: restore it from a copy of the index",
            store.shown(object)
        ))
    })
}

fn damaged(store: &IndexStore, entry: &SplitEntry, problem: &str) -> BuildError {
    let object = store.shown(&split_object(&entry.id));
    BuildError::data(format!(
        "`{object}`: {problem}: restore it from a copy of the index"
    ))
}
