//! Replacement of splits, for the publication of merges.
//!
//! A replacement is atomic: if one of its splits has changed (another merge was faster, or
//! documents were deleted in between), it is dropped, and the other replacements still happen.

use std::collections::BTreeSet;

use canter_split_format::{
    ListedSplit, MANIFEST_OBJECT, ManifestFile, PageRef, PageSplit, SplitEntry, SplitNumber,
    split_number,
};

use super::capacity::check_capacity;
use super::create::{LoadedManifest, MAX_ATTEMPTS, is_outdated, load, manifest_bytes, pause};
use super::pages::{PageEntries, PageId, add_pages, move_overflow, read_page};
use super::publish::{NewSplit, is_there};
use super::spare::spare_what_is_referenced;
use crate::error::BuildError;
use crate::index::storage::{IndexStore, Swap};

/// Splits that replace others.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// Replaced splits, with the entries that the manifest had.
    pub removed: Vec<SplitEntry>,
    /// New splits, already uploaded.
    pub added: Vec<NewSplit>,
}

/// Result of replacements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplaceOutcome {
    /// Number of published replacements.
    pub num_done: u64,
    /// Number of replacements that were dropped because the replaced splits have changed.
    pub num_dropped: u64,
    /// Number of live splits.
    pub num_live_splits: u64,
}

/// Publishes replacements in one swap.
///
/// # Errors
/// `Internal` if an object has another length; `Unavailable` if storage does not answer or
/// conflicts persist. In each case, the old manifest stays.
pub(crate) async fn replace(
    store: &IndexStore,
    replacements: &[Replacement],
) -> Result<ReplaceOutcome, BuildError> {
    let mut pages = PageEntries::default();
    let mut done_before = 0;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let loaded = load(store).await?;
        let version = loaded.version.clone();
        store.ensure_conditional_writes_of(&version).await?;
        let before = &mut done_before;
        match replace_once(store, replacements, loaded, &mut pages, before).await {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {}
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

/// Makes one attempt. Returns `None` if another writer was faster. `done_before` is the number of
/// replacements that turned out to be done by an earlier attempt.
async fn replace_once(
    store: &IndexStore,
    replacements: &[Replacement],
    loaded: LoadedManifest,
    pages: &mut PageEntries,
    done_before: &mut u64,
) -> Result<Option<ReplaceOutcome>, BuildError> {
    let mut file = loaded.file;
    let mut places = Vec::new();
    let mut num_done = 0;
    for replacement in replacements {
        match pages.find_all(store, &file, &replacement.removed).await? {
            // This comes after the manifest was read: a garbage collection that removes objects
            // later changes the manifest.
            Some(found) if is_uploaded(store, replacement).await? => {
                places.push((replacement, found));
            }
            Some(_) => {}
            // After a lost answer, a successful swap looks like a conflict, and the new splits are
            // found here.
            None if pages.has_all(store, &file, &replacement.added).await? => num_done += 1,
            None => {}
        }
    }
    *done_before = num_done.max(*done_before);
    let outcome = ReplaceOutcome {
        num_done: *done_before + places.len() as u64,
        num_dropped: replacements.len() as u64 - *done_before - places.len() as u64,
        num_live_splits: file.num_splits(),
    };
    if places.is_empty() {
        return Ok(Some(outcome));
    }
    let added = places
        .iter()
        .flat_map(|(replacement, _)| &replacement.added);
    let added: Vec<&str> = added.map(|split| split.entry.id.as_str()).collect();
    apply(store, &mut file, places).await?;
    move_overflow(store, &mut file).await?;
    spare_what_is_referenced(store, &mut file, added)?;
    let bytes = manifest_bytes(&file)?;
    check_capacity(store, bytes.len() as u64)?;
    let swap = store.replace(MANIFEST_OBJECT, bytes, &loaded.version);
    Ok((swap.await? == Swap::Done).then(|| ReplaceOutcome {
        num_live_splits: file.num_splits(),
        ..outcome
    }))
}

/// Returns whether all new splits still exist: a garbage collection may have been faster.
async fn is_uploaded(store: &IndexStore, replacement: &Replacement) -> Result<bool, BuildError> {
    for split in &replacement.added {
        if !is_there(store, &split.entry).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Applies replacements to a manifest, and rewrites the pages that lose splits.
async fn apply(
    store: &IndexStore,
    file: &mut ManifestFile,
    replacements: Vec<(&Replacement, Vec<PageId>)>,
) -> Result<(), BuildError> {
    let mut removed: BTreeSet<&str> = BTreeSet::new();
    let mut changed: BTreeSet<String> = BTreeSet::new();
    for (replacement, places) in &replacements {
        removed.extend(replacement.removed.iter().map(|entry| entry.id.as_str()));
        changed.extend(places.iter().flatten().cloned());
    }
    let from_manifest = file.take_splits(|entry| removed.contains(entry.id.as_str()));
    // The ledger keeps their ids.
    let numbers = from_manifest
        .iter()
        .filter_map(|(entry, _)| split_number(&entry.id));
    file.ledger.recent.extend(numbers);

    let pages = std::mem::take(&mut file.pages);
    let (changed, kept): (Vec<PageRef>, Vec<PageRef>) = pages
        .into_iter()
        .partition(|page| changed.contains(&page.id));
    file.pages = kept;
    for page in changed {
        let (splits, _) = read_page(store, page).await?;
        let left: Vec<PageSplit> = splits
            .into_iter()
            .filter(|split| !removed.contains(split.entry.id.as_str()))
            .collect();
        if !left.is_empty() {
            add_pages(store, file, left, vec![None]).await?;
        }
    }
    for (replacement, _) in replacements {
        for split in &replacement.added {
            file.add_split(split.entry.clone(), split.head.clone());
        }
    }
    Ok(())
}

impl PageEntries {
    /// Returns the locations of these splits, if all of them are live and unchanged.
    async fn find_all(
        &mut self,
        store: &IndexStore,
        file: &ManifestFile,
        wanted: &[SplitEntry],
    ) -> Result<Option<Vec<PageId>>, BuildError> {
        let mut places = Vec::new();
        for entry in wanted {
            match self.find(store, file, entry).await? {
                Some(place) => places.push(place),
                None => return Ok(None),
            }
        }
        Ok(Some(places))
    }

    /// Returns whether these splits are or were live.
    async fn has_all(
        &mut self,
        store: &IndexStore,
        file: &ManifestFile,
        splits: &[NewSplit],
    ) -> Result<bool, BuildError> {
        let numbers = splits.iter().map(|split| split_number(&split.entry.id));
        let numbers: Option<BTreeSet<SplitNumber>> = numbers.collect();
        let Some(numbers) = numbers.filter(|numbers| !numbers.is_empty()) else {
            return Ok(false);
        };
        let known = super::pages::LedgerReader::default()
            .known(store, file, &numbers)
            .await?;
        Ok(known.len() == numbers.len())
    }

    async fn find(
        &mut self,
        store: &IndexStore,
        file: &ManifestFile,
        wanted: &SplitEntry,
    ) -> Result<Option<PageId>, BuildError> {
        let is_it = |entry: &SplitEntry| entry.id == wanted.id && entry.deletes == wanted.deletes;
        let found = self.find_where(store, file, wanted.time_range, is_it);
        Ok(found.await?.map(|(place, _)| place))
    }
}

/// Returns the index's config and the entries of listed splits, or `None` if one of them is no
/// longer part of the index.
pub(crate) async fn find_entries(
    store: &IndexStore,
    listed: &[ListedSplit],
) -> Result<Option<(serde_json::Value, Vec<SplitEntry>)>, BuildError> {
    let file = load(store).await?.file;
    let mut pages = PageEntries::default();
    let mut entries = Vec::with_capacity(listed.len());
    for split in listed {
        let is_it = |entry: &SplitEntry| entry.id == split.split_id;
        let found = pages.find_where(store, &file, split.time_range, is_it);
        match found.await? {
            Some((_, entry)) => entries.push(entry),
            None => return Ok(None),
        }
    }
    Ok(Some((file.manifest.index_config, entries)))
}
