//! Pages of the manifest, which list the splits that it does not list itself.
//!
//! ```text
//!   newest splits ──too many──▶ page ─┐
//!                               page ─┼─four of a size─▶ page ─┐
//!                               page ─┤                  page ─┼─four─▶ pages of up to 640
//!                               page ─┘                  ...
//! ```
//!
//! Pages are immutable objects. They are uploaded before the manifest that refers to them is
//! swapped in: a crash or a failed swap leaves pages that no manifest refers to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use canter_split_format::{
    FiltersRef, ManifestFile, PageRef, PageSplit, Rollup, SplitEntry, SplitFilter, SplitNumber,
    TimeRange, split_number, split_object, write_page,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use super::sources::settle_sources;
use crate::error::BuildError;
use crate::index::storage::IndexStore;

/// Maximum number of splits in a page: sixteen times the number that a manifest with too many
/// splits moves into a page, and some more. The references to 100,000 splits then take less than 64
/// KiB in a manifest.
const MAX_SPLITS_OF_PAGE: usize = 640;
/// Bounds of the tiers: pages with fewer splits than the first bound are merged with each other,
/// and so are those below each of the others. Pages beyond the last bound are full, or halves of an
/// oversized merge.
const TIERS: [u64; 3] = [32, 128, 256];
/// Number of pages of a tier that are merged.
const MERGE_FACTOR: usize = 4;
/// Number of concurrent reads.
const READS_AT_ONCE: usize = 8;

/// Moves splits that exceed the limits of the manifest into pages, merges pages if there are many,
/// and writes the ledger if it is due. All objects are uploaded on return, except for the manifest.
///
/// # Errors
/// `Data` for a damaged page or part of the ledger, `Unavailable` if storage does not answer.
pub(super) async fn move_overflow(
    store: &IndexStore,
    file: &mut ManifestFile,
) -> Result<(), BuildError> {
    let taken = file.take_overflow();
    if !taken.is_empty() {
        page_out(store, file, taken).await?;
    }
    settle_sources(store, file).await?;
    // Merges and deletions also add ids to the ledger.
    settle_ledger(store, file).await
}

/// Moves splits that were removed from the manifest into pages.
async fn page_out(
    store: &IndexStore,
    file: &mut ManifestFile,
    taken: Vec<(SplitEntry, Option<Vec<u8>>)>,
) -> Result<(), BuildError> {
    let ids = taken
        .iter()
        .filter_map(|(entry, _)| split_number(&entry.id));
    file.ledger.recent.extend(ids);
    let read = stream::iter(taken).map(|(entry, head)| with_head(store, entry, head));
    let read: Vec<(PageSplit, Option<Rollup>)> = read.buffered(READS_AT_ONCE).try_collect().await?;
    let (splits, rollups): (Vec<PageSplit>, Vec<Option<Rollup>>) = read.into_iter().unzip();
    let splits = stream::iter(splits).map(|split| with_filter(store, split));
    let splits = splits.buffered(READS_AT_ONCE).try_collect().await?;
    add_pages(store, file, splits, rollups).await?;
    for tier in 0..TIERS.len() {
        merge_tier(store, file, tier).await?;
    }
    Ok(())
}

/// Returns a split with its head, from the manifest or else from its object, and the rollup in the
/// head. Returns the split without them if they cannot be read: searches will report that.
async fn with_head(
    store: &IndexStore,
    entry: SplitEntry,
    head: Option<Vec<u8>>,
) -> Result<(PageSplit, Option<Rollup>), BuildError> {
    let head = match head {
        Some(head) => Some(head),
        None => {
            let object = split_object(&entry.id);
            let found = store.get_range(&object, 0..entry.head_len).await?;
            found.map(Vec::from)
        }
    };
    let opened = head.and_then(|head| PageSplit::of_head(entry.clone(), head).ok());
    Ok(opened.unwrap_or_else(|| {
        let split = PageSplit {
            entry,
            head: None,
            totals: BTreeMap::new(),
            filter: None,
        };
        (split, None)
    }))
}

/// Returns a split with its filter from its object, if there is a readable one. Without it,
/// searches read the split.
async fn with_filter(store: &IndexStore, mut split: PageSplit) -> Result<PageSplit, BuildError> {
    if let Some(range) = split.filter_range() {
        let object = split_object(&split.entry.id);
        let bytes = store.get_range(&object, range).await?;
        split.filter = bytes.and_then(|bytes| SplitFilter::open(&bytes).ok());
    }
    Ok(split)
}

/// Adds splits to a manifest as pages of similar size. `rollups` are combined into the summaries of
/// the pages: one for each split, or for any sets of splits that together contain all of them.
pub(super) async fn add_pages(
    store: &IndexStore,
    file: &mut ManifestFile,
    mut splits: Vec<PageSplit>,
    rollups: Vec<Option<Rollup>>,
) -> Result<(), BuildError> {
    splits.sort_by(|left, right| left.entry.order().cmp(&right.entry.order()));
    let num_pages = splits.len().div_ceil(MAX_SPLITS_OF_PAGE).max(1);
    let summary = match num_pages {
        1 => sum_of(&rollups),
        _ => None,
    };
    let len = splits.len().div_ceil(num_pages).max(1);
    while !splits.is_empty() {
        let rest = splits.split_off(len.min(splits.len()));
        let of_page = std::mem::replace(&mut splits, rest);
        let summary = match &summary {
            Some(summary) => Some(summary.clone()),
            None => summary_of(store, &of_page).await?,
        };
        let page = write_page(of_page, summary.as_ref())
            .map_err(|error| BuildError::internal("a page cannot be encoded").caused_by(error))?;
        let filters = page.page.filters.as_ref().map(FiltersRef::object);
        for (object, bytes) in filters.into_iter().zip(page.filters) {
            store.put_immutable(&object, Bytes::from(bytes)).await?;
        }
        let object = page.page.object();
        store
            .put_immutable(&object, Bytes::from(page.bytes))
            .await?;
        file.pages.push(page.page);
    }
    Ok(())
}

fn sum_of(rollups: &[Option<Rollup>]) -> Option<Rollup> {
    let rollups: Option<Vec<&Rollup>> = rollups.iter().map(Option::as_ref).collect();
    Rollup::sum(rollups?)
}

/// Returns the combined rollup of these splits, and reads missing heads for it.
async fn summary_of(
    store: &IndexStore,
    splits: &[PageSplit],
) -> Result<Option<Rollup>, BuildError> {
    let splits = splits
        .iter()
        .map(|split| (split.entry.clone(), split.head.clone()));
    let splits: Vec<_> = splits.collect();
    let read: Vec<_> = stream::iter(splits)
        .map(|(entry, head)| with_head(store, entry, head))
        .buffered(READS_AT_ONCE)
        .try_collect()
        .await?;
    let rollups: Vec<Option<Rollup>> = read.into_iter().map(|(_, rollup)| rollup).collect();
    Ok(sum_of(&rollups))
}

/// Merges the pages of a tier if there are enough of them.
async fn merge_tier(
    store: &IndexStore,
    file: &mut ManifestFile,
    tier: usize,
) -> Result<(), BuildError> {
    let tier_of = |page: &PageRef| TIERS.iter().position(|below| page.num_splits < *below);
    let is_of_tier = |page: &PageRef| tier_of(page) == Some(tier);
    if file.pages.iter().filter(|page| is_of_tier(page)).count() < MERGE_FACTOR {
        return Ok(());
    }
    let pages = std::mem::take(&mut file.pages);
    let (merged, kept) = pages.into_iter().partition(is_of_tier);
    file.pages = kept;
    let merged: Vec<PageRef> = merged;
    let read: Vec<_> = stream::iter(merged)
        .map(|page| read_page(store, page))
        .buffered(READS_AT_ONCE)
        .try_collect()
        .await?;
    let (splits, summaries): (Vec<Vec<PageSplit>>, Vec<Option<Rollup>>) = read.into_iter().unzip();
    add_pages(store, file, splits.concat(), summaries).await
}

/// Returns a whole page, with the filters of its splits as far as they can be read.
///
/// # Errors
/// `Data` if the page is missing or damaged.
pub(super) async fn read_page(
    store: &IndexStore,
    page: PageRef,
) -> Result<(Vec<PageSplit>, Option<Rollup>), BuildError> {
    let name = page.object();
    let bytes = read_whole(store, &name).await?;
    let filters = match &page.filters {
        Some(filters) => store.get(&filters.object()).await?,
        None => None,
    };
    let filters = filters.map(|(bytes, _)| bytes);
    page.open(&bytes, filters.as_deref())
        .map_err(|error| damaged(store, &name).caused_by(error))
}

/// Returns the entries of all splits in pages.
///
/// # Errors
/// Same as for [`read_page`].
pub(crate) async fn read_paged_entries(
    store: &IndexStore,
    file: &ManifestFile,
) -> Result<Vec<SplitEntry>, BuildError> {
    let read: Vec<Vec<SplitEntry>> = stream::iter(file.pages.clone())
        .map(async |page| read_page_entries(store, &page).await)
        .buffered(READS_AT_ONCE)
        .try_collect()
        .await?;
    Ok(read.concat())
}

/// Returns the entries of a page.
///
/// # Errors
/// Same as for [`read_page`].
pub(super) async fn read_page_entries(
    store: &IndexStore,
    page: &PageRef,
) -> Result<Vec<SplitEntry>, BuildError> {
    let name = page.object();
    let range = page.entries.start..page.entries.end();
    let bytes = store.get_range(&name, range).await?;
    let bytes = bytes.ok_or_else(|| missing(store, &name))?;
    let splits = page
        .open_entries(&bytes)
        .map_err(|error| damaged(store, &name).caused_by(error))?;
    Ok(splits.into_iter().map(|split| split.entry).collect())
}

/// Location of a split: `None` for the manifest itself, or the name of a page.
pub(super) type PageId = Option<String>;

/// Cache of the entries of pages, which never change.
#[derive(Default)]
pub(crate) struct PageEntries {
    read: BTreeMap<String, Arc<Vec<SplitEntry>>>,
}

impl PageEntries {
    /// Returns the entries of a page.
    ///
    /// # Errors
    /// Same as for [`read_page`].
    pub(super) async fn of_page(
        &mut self,
        store: &IndexStore,
        page: &PageRef,
    ) -> Result<Arc<Vec<SplitEntry>>, BuildError> {
        let held = self.read.get(&page.id).cloned();
        if let Some(entries) = held.or_else(|| store.held_page(&page.id)) {
            return Ok(entries);
        }
        let entries = Arc::new(read_page_entries(store, page).await?);
        self.read.insert(page.id.clone(), Arc::clone(&entries));
        Ok(entries)
    }

    /// Finds a split of this time range for which `is_it` holds. Returns its location and entry.
    pub(super) async fn find_where(
        &mut self,
        store: &IndexStore,
        file: &ManifestFile,
        time_range: Option<TimeRange>,
        is_it: impl Fn(&SplitEntry) -> bool,
    ) -> Result<Option<(PageId, SplitEntry)>, BuildError> {
        let mut newest = file.manifest.splits.iter();
        if let Some(entry) = newest.find(|entry| is_it(entry)) {
            return Ok(Some((None, entry.clone())));
        }
        for page in &file.pages {
            if !may_hold(page, time_range) {
                continue;
            }
            let entries = self.of_page(store, page).await?;
            if let Some(entry) = entries.iter().find(|entry| is_it(entry)) {
                return Ok(Some((Some(page.id.clone()), entry.clone())));
            }
        }
        Ok(None)
    }
}

fn may_hold(page: &PageRef, time_range: Option<TimeRange>) -> bool {
    match (page.time_range, time_range) {
        (Some(page), Some(split)) => page.start_ns <= split.start_ns && split.end_ns <= page.end_ns,
        (page, split) => page.is_none() || split.is_some(),
    }
}

/// Cache of the ledger's objects, which never change.
#[derive(Default)]
pub(super) struct LedgerReader {
    read: BTreeMap<String, BTreeSet<SplitNumber>>,
}

impl LedgerReader {
    /// Returns which of these splits are or were live.
    ///
    /// # Errors
    /// `Data` for a missing or damaged part of the ledger, `Unavailable` if storage does not
    /// answer.
    pub(super) async fn known(
        &mut self,
        store: &IndexStore,
        file: &ManifestFile,
        ids: &BTreeSet<SplitNumber>,
    ) -> Result<BTreeSet<SplitNumber>, BuildError> {
        let live = file.manifest.splits.iter();
        let mut known: BTreeSet<SplitNumber> = live
            .filter_map(|split| split_number(&split.id))
            .chain(file.ledger.recent.iter().copied())
            .filter(|id| ids.contains(id))
            .collect();
        for object in file.ledger.objects_for(ids) {
            if !self.read.contains_key(&object.id) {
                let name = object.object();
                let bytes = read_whole(store, &name).await?;
                let found = object
                    .open(&bytes)
                    .map_err(|error| damaged(store, &name).caused_by(error))?;
                self.read.insert(object.id.clone(), found);
            }
            let found = self.read.get(&object.id);
            known.extend(found.into_iter().flatten().filter(|id| ids.contains(id)));
        }
        Ok(known)
    }
}

/// Writes the ledger's recent ids into objects if there are many.
///
/// # Errors
/// Same as for [`move_overflow`].
pub(super) async fn settle_ledger(
    store: &IndexStore,
    file: &mut ManifestFile,
) -> Result<(), BuildError> {
    if !file.ledger.is_due() {
        return Ok(());
    }
    let mut merged = BTreeSet::new();
    for object in file.ledger.objects_to_merge() {
        let name = object.object();
        let bytes = read_whole(store, &name).await?;
        let found = object
            .open(&bytes)
            .map_err(|error| damaged(store, &name).caused_by(error))?;
        merged.extend(found);
    }
    for written in file.ledger.settle(merged) {
        let name = written.object.object();
        store
            .put_immutable(&name, Bytes::from(written.bytes))
            .await?;
    }
    Ok(())
}

pub(super) async fn read_whole(store: &IndexStore, name: &str) -> Result<Bytes, BuildError> {
    let found = store.get(name).await?;
    found
        .map(|(bytes, _)| bytes)
        .ok_or_else(|| missing(store, name))
}

fn missing(store: &IndexStore, name: &str) -> BuildError {
    BuildError::data(format!(
        "`{}/{name}` is missing, though the manifest refers to it: restore it from a copy of the index",
        store.name()
    ))
}

pub(super) fn damaged(store: &IndexStore, name: &str) -> BuildError {
    BuildError::data(format!(
        "`{}/{name}` cannot be read: restore it from a copy of the index",
        store.name()
    ))
}
