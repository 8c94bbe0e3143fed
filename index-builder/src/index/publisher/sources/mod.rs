//! Progress of sources, which a publication updates in the same swap that makes its splits live.
//!
//! A publication names the progress of each of its sources at its start. If a source has advanced
//! since, another process has ingested the same input, and nothing is published.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use bytes::Bytes;
use canter_split_format::{
    Ledger, MANIFEST_OBJECT, ManifestFile, SourceEntries, SourceId, SourceProgress, Sources,
    SourcesRef, add_sources, split_number,
};
use futures_util::{StreamExt, TryStreamExt, stream};

use serde::{Deserialize, Serialize};

use super::create::{MAX_ATTEMPTS, is_outdated, load, manifest_bytes, pause};
use super::pages::{damaged, read_paged_entries, read_whole, settle_ledger};
use super::spare::spare_what_is_referenced;
use crate::blocking;
use crate::error::BuildError;
use crate::index::storage::{IndexStore, Swap};

/// Number of parts of the ledger that are read concurrently.
const READS_AT_ONCE: usize = 8;

/// Progress of a source through a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SourceStep {
    pub(crate) source: SourceId,
    /// Progress when the publication began.
    pub(crate) from: Option<SourceProgress>,
    pub(crate) to: SourceProgress,
    /// True if a version of an object was ingested to its end. This is worth a write even without
    /// new documents, because the object need not be read again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) marks_whole: bool,
    /// True for a note by which a source is recognised, instead of its progress. It may exist already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_note: bool,
}

impl SourceStep {
    /// Returns whether a source with progress `now` has completed this step. The ingestion time
    /// does not matter.
    pub(crate) fn is_done(&self, now: Option<SourceProgress>) -> bool {
        now.is_some_and(|now| (now.num_lines, now.hash) == (self.to.num_lines, self.to.hash))
    }

    /// Returns whether both steps result from the same input.
    pub(crate) fn is_same(&self, other: &SourceStep) -> bool {
        self.source == other.source && self.is_done(Some(other.to))
    }
}

/// Cache of the ledger of sources, whose objects never change.
#[derive(Default)]
pub(crate) struct SourcesReader {
    read: BTreeMap<String, SourceEntries>,
}

impl SourcesReader {
    /// Returns the progress of a source.
    ///
    /// # Errors
    /// `Data` for a missing or damaged part of the ledger, `Unavailable` if storage does not
    /// answer.
    pub(crate) async fn find(
        &mut self,
        store: &IndexStore,
        sources: &Sources,
        source: SourceId,
    ) -> Result<Option<SourceProgress>, BuildError> {
        let number = source.to_u128();
        let mut found = SourceEntries::new();
        found.extend(
            sources
                .recent
                .get(&number)
                .map(|progress| (number, *progress)),
        );
        let all = BTreeSet::from([number]);
        self.read_for(store, sources, &all).await?;
        for object in sources.objects_for(source) {
            let entries = self.read.get(&object.id);
            let entry = entries.and_then(|entries| entries.get(&number));
            add_sources(&mut found, entry.map(|progress| (number, *progress)));
        }
        Ok(found.get(&number).copied())
    }

    /// Returns which of these sources have an entry. Reads each part of the ledger at most once,
    /// and several concurrently: in a settled ledger, one for 4,096 entries.
    ///
    /// # Errors
    /// Same as for [`SourcesReader::find`].
    pub(crate) async fn known(
        &mut self,
        store: &IndexStore,
        sources: &Sources,
        ids: &BTreeSet<u128>,
    ) -> Result<BTreeSet<u128>, BuildError> {
        self.read_for(store, sources, ids).await?;
        let objects = sources.objects.iter();
        let read: Vec<&SourceEntries> = objects
            .filter_map(|object| self.read.get(&object.id))
            .collect();
        let is_known = |id: &&u128| {
            sources.recent.contains_key(id) || read.iter().any(|entries| entries.contains_key(id))
        };
        Ok(ids.iter().filter(is_known).copied().collect())
    }

    /// Returns the entries in a range of numbers.
    ///
    /// # Errors
    /// As [`SourcesReader::find`].
    pub(crate) async fn within(
        &mut self,
        store: &IndexStore,
        sources: &Sources,
        range: &RangeInclusive<u128>,
    ) -> Result<SourceEntries, BuildError> {
        let may_have =
            |object: &&SourcesRef| object.first <= *range.end() && *range.start() <= object.last;
        let objects: Vec<&SourcesRef> = sources.objects.iter().filter(may_have).collect();
        for object in &objects {
            if !self.read.contains_key(&object.id) {
                let entries = read_sources(store, object).await?;
                self.read.insert(object.id.clone(), entries);
            }
        }
        let mut found = SourceEntries::new();
        let read = objects
            .iter()
            .filter_map(|object| self.read.get(&object.id));
        for entries in read.chain([&sources.recent]) {
            let entries = entries.range(range.clone());
            add_sources(&mut found, entries.map(|(id, progress)| (*id, *progress)));
        }
        Ok(found)
    }

    /// Reads the parts of the ledger that can contain one of these sources.
    async fn read_for(
        &mut self,
        store: &IndexStore,
        sources: &Sources,
        ids: &BTreeSet<u128>,
    ) -> Result<(), BuildError> {
        let may_have = |object: &&SourcesRef| {
            !self.read.contains_key(&object.id)
                && object.first <= object.last
                && ids.range(object.first..=object.last).next().is_some()
        };
        let missing: Vec<SourcesRef> = sources.objects.iter().filter(may_have).cloned().collect();
        let mut read = stream::iter(missing)
            .map(async |object| {
                let entries = read_sources(store, &object).await?;
                Ok::<_, BuildError>((object.id, entries))
            })
            .buffer_unordered(READS_AT_ONCE);
        while let Some((id, entries)) = read.try_next().await? {
            self.read.insert(id, entries);
        }
        Ok(())
    }
}

async fn read_sources(
    store: &IndexStore,
    object: &SourcesRef,
) -> Result<SourceEntries, BuildError> {
    let name = object.object();
    let bytes = read_whole(store, &name).await?;
    object
        .open(&bytes)
        .map_err(|error| damaged(store, &name).caused_by(error))
}

/// State of the sources of a publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Advance {
    /// The sources had not advanced since the publication began, and are advanced now.
    Advanced,
    /// The sources have already advanced: by this publication, in a swap with a lost answer, or by
    /// another one with the same input.
    Done,
}

/// Advances sources in a manifest.
///
/// # Errors
/// `Unavailable` if another publication has advanced one of them; otherwise the same as for
/// [`SourcesReader::find`].
pub(super) async fn advance(
    store: &IndexStore,
    file: &mut ManifestFile,
    steps: &[SourceStep],
    reader: &mut SourcesReader,
) -> Result<Advance, BuildError> {
    let (mut num_done, mut num_steps) = (0, 0);
    let mut new = Vec::with_capacity(steps.len());
    for step in steps {
        let now = reader.find(store, &file.sources, step.source).await?;
        if step.is_note {
            new.extend(now.is_none().then_some(step));
            continue;
        }
        num_steps += 1;
        new.push(step);
        // The ingestion time does not matter.
        let how_far = |progress: SourceProgress| (progress.num_lines, progress.hash);
        if now.map(how_far) == Some(how_far(step.to)) {
            num_done += 1;
        } else if now.map(how_far) != step.from.map(how_far) {
            return Err(elsewhere(store));
        }
    }
    match num_done {
        0 => {}
        num if num == num_steps => return Ok(Advance::Done),
        // Another list of sources had some of these.
        _ => return Err(elsewhere(store)),
    }
    let new = new.iter().map(|step| (step.source.to_u128(), step.to));
    add_sources(&mut file.sources.recent, new);
    Ok(Advance::Advanced)
}

fn elsewhere(store: &IndexStore) -> BuildError {
    BuildError::unavailable(format!(
        "a source of this ingest was ingested into `{}` by another at the same time, and nothing was published: run \
         the same ingest again, which takes what is left",
        store.name()
    ))
}

/// Writes the recent entries into objects if there are many.
///
/// # Errors
/// Same as for [`SourcesReader::find`].
pub(super) async fn settle_sources(
    store: &IndexStore,
    file: &mut ManifestFile,
) -> Result<(), BuildError> {
    if !file.sources.is_due() {
        return Ok(());
    }
    let mut merged = SourceEntries::new();
    for object in file.sources.objects_to_merge() {
        add_sources(&mut merged, read_sources(store, object).await?);
    }
    for written in file.sources.settle(merged) {
        let name = written.object.object();
        store
            .put_immutable(&name, Bytes::from(written.bytes))
            .await?;
    }
    Ok(())
}

/// Forgets the sources that were last ingested before a time in milliseconds since 1970, and
/// returns their number. With `is_dry_run`, only counts them. Forgotten sources can be ingested
/// again.
///
/// # Errors
/// `Data` for a missing or damaged page or part of the ledger, `Unavailable` if storage does not
/// answer or conflicts persist.
pub fn forget_sources(
    store: &IndexStore,
    before_ms: u64,
    is_dry_run: bool,
) -> Result<u64, BuildError> {
    blocking::run(forget(store, before_ms, is_dry_run))
}

pub(crate) async fn forget(
    store: &IndexStore,
    before_ms: u64,
    is_dry_run: bool,
) -> Result<u64, BuildError> {
    let mut num_attempted = 0;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let loaded = load(store).await?;
        match forget_once(store, loaded.file, before_ms).await {
            Ok(None) => return Ok(num_attempted),
            Ok(Some((_, num_forgotten))) if is_dry_run => return Ok(num_forgotten),
            Ok(Some((file, num_forgotten))) => {
                store.ensure_conditional_writes_of(&loaded.version).await?;
                let bytes = manifest_bytes(&file)?;
                let swap = store.replace(MANIFEST_OBJECT, bytes, &loaded.version);
                if swap.await? == Swap::Done {
                    return Ok(num_forgotten);
                }
                // After a lost answer, a successful swap looks like a conflict, and then nothing is
                // left to forget.
                num_attempted = num_forgotten;
            }
            Err(error) if is_outdated(store, &error, &loaded.version).await? => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(BuildError::unavailable(format!(
        "others changed the manifest of `{}` during each of {MAX_ATTEMPTS} attempts: run the same again",
        store.name()
    )))
}

/// Returns a manifest without the forgotten sources, whose objects are uploaded, and the number of forgotten sources
/// with documents; `None` if there is nothing to forget. Other entries are notes by which a source is recognised.
async fn forget_once(
    store: &IndexStore,
    mut file: ManifestFile,
    before_ms: u64,
) -> Result<Option<(ManifestFile, u64)>, BuildError> {
    let mut all = file.sources.recent.clone();
    for object in &file.sources.objects {
        add_sources(&mut all, read_sources(store, object).await?);
    }
    let num_all = all.len();
    let mut num_forgotten = 0;
    all.retain(|_, progress| {
        let is_kept = progress.at_ms >= before_ms;
        num_forgotten += u64::from(!is_kept && progress.num_docs > 0);
        is_kept
    });
    if num_all == all.len() {
        return Ok(None);
    }
    for written in file.sources.rewrite(all) {
        let name = written.object.object();
        store
            .put_immutable(&name, Bytes::from(written.bytes))
            .await?;
    }
    // The ids of former splits would still prevent their ingestion. Live splits must stay known.
    let live = read_paged_entries(store, &file).await?;
    let live = live.iter().filter_map(|entry| split_number(&entry.id));
    file.ledger = Ledger {
        recent: live.collect(),
        objects: Vec::new(),
    };
    settle_ledger(store, &mut file).await?;
    spare_what_is_referenced(store, &mut file, std::iter::empty())?;
    Ok(Some((file, num_forgotten)))
}

#[cfg(test)]
pub(crate) mod tests;
