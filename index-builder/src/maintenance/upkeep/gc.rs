//! Garbage collection: objects without references are condemned in the manifest, and deleted after
//! a grace period.
//!
//! Ingests, merges, deletions and searches can run at the same time. A search that began before
//! keeps its objects for the grace period. If an ingest finds its upload already there (from an
//! earlier ingest that failed), it removes the object from the list of condemned ones in the swap
//! that publishes it: the first of both swaps wins.

use std::collections::{BTreeMap, BTreeSet};

use canter_split_format::{
    MANIFEST_OBJECT, ManifestFile, ObjectKind, ObjectName, Sentence, SplitEntry,
};
use serde::Serialize;

use super::references::References;
use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::{
    MAX_ATTEMPTS, Replacement, config_of, load, manifest_bytes, pause, replace,
};
use crate::index::storage::{IndexStore, Swap};
use crate::ingest::{FoundCheckpoints, find_checkpoints};

/// Maximum number of condemned objects in a manifest, which every search reads.
const MAX_CONDEMNED: usize = 2_000;

/// Options of a garbage collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GcOptions {
    /// Current time in milliseconds since 1970.
    pub now_ms: u64,
    /// Minimum time that an object stays after its last reference was removed.
    pub grace_ms: u64,
    /// True if nothing is changed.
    pub dry_run: bool,
    /// True if splits that exceed the index's `retention` are removed from the index first.
    pub applies_retention: bool,
}

/// Result of a garbage collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GcReport {
    /// Splits that were or would be removed from the index because all of their documents exceed
    /// the `retention` of the index config.
    pub expired_splits: Vec<String>,
    /// Number of documents in these splits.
    pub num_expired_docs: u64,
    /// Objects that were or would be deleted.
    pub deleted: Vec<String>,
    /// Total length of these objects.
    pub num_deleted_bytes: u64,
    /// Objects without references whose grace period is not over.
    pub condemned: Vec<String>,
    /// Total length of these objects.
    pub num_condemned_bytes: u64,
    /// Number of objects to which the manifest or a checkpoint refers.
    pub num_referenced: u64,
    /// Number of checkpoints of ingests that are running or were interrupted in the last week.
    /// Their uploads are kept.
    pub num_checkpoints: u64,
    /// Objects below the index's folders that do not belong to it. They are kept.
    pub unknown: Vec<String>,
}

/// Removes expired splits from the index, deletes objects that had no references for the grace
/// period, and condemns objects that have none now.
///
/// # Errors
/// `Data` if a page of the manifest is missing or damaged, since references are unknown then.
/// `Unavailable` if storage does not answer or conflicts persist. Referenced objects are never
/// deleted.
pub fn collect_garbage(store: &IndexStore, options: &GcOptions) -> Result<GcReport, BuildError> {
    blocking::run(collect(store, *options))
}

pub(super) async fn collect(
    store: &IndexStore,
    options: GcOptions,
) -> Result<GcReport, BuildError> {
    let expired = match options.applies_retention {
        true => expire(store, options.now_ms, options.dry_run).await?,
        false => Vec::new(),
    };
    let new_report = || GcReport {
        expired_splits: expired.iter().map(|split| split.id.clone()).collect(),
        num_expired_docs: expired.iter().map(SplitEntry::num_live_docs).sum(),
        ..GcReport::default()
    };
    if options.dry_run {
        let found = Candidates::look(store, options.now_ms).await?;
        let (mut doomed, mut report) = (BTreeSet::new(), new_report());
        found.judge(options, &mut doomed, &mut report);
        return Ok(report);
    }
    store.ensure_conditional_writes().await?;
    for num_attempts in 1..=MAX_ATTEMPTS {
        let mut found = Candidates::look(store, options.now_ms).await?;
        let (mut doomed, mut report) = (BTreeSet::new(), new_report());
        let condemned = found.judge(options, &mut doomed, &mut report);
        if condemned != found.file.condemned {
            found.file.condemned = condemned;
            if !found.swap(store).await? {
                tokio::time::sleep(pause(num_attempts)).await;
                continue;
            }
        }
        let abandoned = found.checkpoints.abandoned.iter();
        let abandoned = abandoned.map(|(name, _)| name.clone());
        for name in doomed.iter().map(ObjectName::object).chain(abandoned) {
            store.delete_if_there(&name).await?;
        }
        forget(store, &doomed).await?;
        return Ok(report);
    }
    Err(too_busy(store))
}

/// Removes splits from the manifest whose documents have all expired. Returns the splits that were
/// or would be removed.
async fn expire(
    store: &IndexStore,
    now_ms: u64,
    dry_run: bool,
) -> Result<Vec<SplitEntry>, BuildError> {
    let (loaded, references) = References::load(store).await?;
    let Some(retention) = config_of(store, &loaded.file)?.retention else {
        return Ok(Vec::new());
    };
    if retention.period().is_zero() {
        return Err(BuildError::data(format!(
            "the retention period {:?} of the index at `{}` cannot be read: nothing was removed",
            retention.period,
            store.name()
        )));
    }
    let kept_ns = i128::try_from(retention.period().as_nanos()).unwrap_or(i128::MAX);
    let oldest_ns = (i128::from(now_ms) * 1_000_000).saturating_sub(kept_ns);
    let is_expired = |split: &SplitEntry| {
        split
            .time_range
            .is_some_and(|range| i128::from(range.end_ns) < oldest_ns)
    };
    let splits = references.splits.into_iter();
    let expired: Vec<SplitEntry> = splits.filter(is_expired).collect();
    if dry_run || expired.is_empty() {
        return Ok(expired);
    }
    // Each of them is a separate replacement, so that one that another writer has changed is left
    // to the next run.
    let replacements = expired.iter().map(|split| Replacement {
        removed: vec![split.clone()],
        added: Vec::new(),
    });
    let replacements: Vec<Replacement> = replacements.collect();
    replace(store, &replacements).await?;
    let (_, now) = References::load(store).await?;
    let live: BTreeSet<&str> = now.splits.iter().map(|split| split.id.as_str()).collect();
    let is_gone = |split: &SplitEntry| !live.contains(split.id.as_str());
    Ok(expired.into_iter().filter(is_gone).collect())
}

fn too_busy(store: &IndexStore) -> BuildError {
    BuildError::unavailable(format!(
        "others changed the manifest of `{}` during each of {MAX_ATTEMPTS} attempts: run it again",
        store.name()
    ))
}

/// Removes deleted objects from the list.
async fn forget(store: &IndexStore, deleted: &BTreeSet<ObjectName>) -> Result<(), BuildError> {
    for num_attempts in 1..=MAX_ATTEMPTS {
        let loaded = load(store).await?;
        let mut file = loaded.file;
        let num_before = file.condemned.len();
        file.condemned
            .retain(|name, sentence| !(deleted.contains(name) && *sentence == Sentence::Doomed));
        if file.condemned.len() == num_before {
            return Ok(());
        }
        let bytes = manifest_bytes(&file)?;
        let swap = store.replace(MANIFEST_OBJECT, bytes, &loaded.version);
        if swap.await? == Swap::Done {
            return Ok(());
        }
        tokio::time::sleep(pause(num_attempts)).await;
    }
    Err(too_busy(store))
}

/// State of an index: first the manifest is read, then the objects are listed. Objects that are
/// uploaded in between have no references yet, and are not older than the manifest.
struct Candidates {
    file: ManifestFile,
    version: crate::index::storage::Version,
    references: References,
    /// Objects with their lengths.
    objects: BTreeMap<ObjectName, u64>,
    unknown: Vec<String>,
    checkpoints: FoundCheckpoints,
}

impl Candidates {
    async fn look(store: &IndexStore, now_ms: u64) -> Result<Self, BuildError> {
        let (loaded, mut references) = References::load(store).await?;
        // An ingest that ends in between changes the manifest, and then the swap with these results
        // fails.
        let checkpoints = find_checkpoints(store, now_ms).await?;
        let needed = checkpoints.split_ids.iter();
        let needed = needed.map(|id| ObjectName::new(ObjectKind::Split, id));
        references.objects.extend(needed);
        let (mut objects, mut unknown) = (BTreeMap::new(), checkpoints.unknown.clone());
        for kind in ObjectKind::ALL {
            for (name, len) in store.list(kind.folder()).await? {
                match ObjectName::parse(&name) {
                    Some(parsed) => drop(objects.insert(parsed, len)),
                    None => unknown.push(name),
                }
            }
        }
        Ok(Self {
            file: loaded.file,
            version: loaded.version,
            references,
            objects,
            unknown,
            checkpoints,
        })
    }

    /// Returns the new list of condemned objects, and adds those to `doomed` that can be deleted
    /// now.
    fn judge(
        &self,
        options: GcOptions,
        doomed: &mut BTreeSet<ObjectName>,
        report: &mut GcReport,
    ) -> BTreeMap<ObjectName, Sentence> {
        let referenced = &self.references.objects;
        report.num_referenced = referenced.len() as u64;
        report.unknown.clone_from(&self.unknown);
        report.num_checkpoints = self.checkpoints.num_kept;
        for (name, len) in &self.checkpoints.abandoned {
            report.deleted.push(name.clone());
            report.num_deleted_bytes += len;
        }
        let mut list = BTreeMap::new();
        // Objects that an interrupted collection was deleting are deleted again, even if they are
        // gone.
        for (name, sentence) in &self.file.condemned {
            if *sentence == Sentence::Doomed && !referenced.contains(name) {
                doomed.insert(name.clone());
                list.insert(name.clone(), Sentence::Doomed);
            }
        }
        for (name, len) in &self.objects {
            if referenced.contains(name) || doomed.contains(name) || list.len() >= MAX_CONDEMNED {
                continue;
            }
            let at_ms = match self.file.condemned.get(name) {
                Some(Sentence::Condemned { at_ms }) => *at_ms,
                _ => options.now_ms,
            };
            if options.now_ms.saturating_sub(at_ms) >= options.grace_ms {
                doomed.insert(name.clone());
                list.insert(name.clone(), Sentence::Doomed);
            } else {
                list.insert(name.clone(), Sentence::Condemned { at_ms });
                report.condemned.push(name.object());
                report.num_condemned_bytes += len;
            }
        }
        for name in doomed.iter() {
            report.deleted.push(name.object());
            report.num_deleted_bytes += self.objects.get(name).copied().unwrap_or(0);
        }
        list
    }

    async fn swap(&self, store: &IndexStore) -> Result<bool, BuildError> {
        let bytes = manifest_bytes(&self.file)?;
        let swap = store.replace(MANIFEST_OBJECT, bytes, &self.version);
        Ok(swap.await? == Swap::Done)
    }
}
