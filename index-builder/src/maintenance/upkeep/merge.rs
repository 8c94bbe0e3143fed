//! Merging of an index: plan, merge, upload, publish, until nothing is due.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_split_format::SplitEntry;
use serde::Serialize;
use tantivy::BitSet;

use super::references::References;
use crate::blocking;
use crate::error::BuildError;
use crate::index::publisher::{NewSplit, Replacement, config_of, read_deletes, replace};
use crate::index::storage::IndexStore;
use crate::maintenance::merge::{
    MergeCandidate, MergeInput, MergeLimits, MergeOperation, MergeOptions, merge_splits,
    num_fields_it_may_get, plan_merges,
};

/// Options for merging an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeIndexOptions {
    /// Maximum number of merges; all that are due if absent.
    pub max_merges: Option<u64>,
    /// Maximum total size of the splits that are merged: merges that would exceed it are skipped.
    /// No limit if absent.
    pub max_bytes: Option<u64>,
    /// True if merges are only planned.
    pub dry_run: bool,
    /// True if each split with deleted documents that the policy does not merge is rewritten, so
    /// that their bytes can be removed.
    pub rewrite_deleted: bool,
    /// Folder for copies of the splits during a merge. Defaults to the system's temporary folder.
    pub temp_folder: Option<PathBuf>,
}

/// Merge that was done or is due.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MergeDone {
    /// Inputs, oldest first.
    pub from: Vec<String>,
    /// Number of documents in the inputs.
    pub num_docs: u64,
    /// Total length of the inputs.
    pub num_bytes: u64,
    /// Merged split; `None` for a plan, or if no document was left.
    pub into: Option<String>,
    /// Length of the merged split.
    pub num_merged_bytes: u64,
}

/// Result of merging an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MergeReport {
    /// Published merges, or due ones for a plan.
    pub merges: Vec<MergeDone>,
    /// Number of merges that were dropped because another writer had changed their splits in
    /// between.
    pub num_dropped: u64,
    /// Number of splits before.
    pub num_splits_before: u64,
    /// Number of live splits.
    pub num_splits: u64,
}

/// Merges neighbouring splits according to the index's merge policy, until nothing is due. Blocks
/// the thread. Calls `progress` after the publication of each merge.
///
/// An interrupted merge leaves the index unchanged. Other writers may continue: a merge of splits
/// that they changed is dropped.
///
/// # Errors
/// `Data` with the name of a damaged or missing split, `Unavailable` if storage does not answer.
/// Merges that finished before are published.
pub fn merge_index(
    store: &IndexStore,
    options: &MergeIndexOptions,
    progress: &dyn Fn(&MergeDone),
) -> Result<MergeReport, BuildError> {
    let mut report = MergeReport::default();
    let mut is_first = true;
    let mut num_bytes_left = options.max_bytes.unwrap_or(u64::MAX);
    let mut generations = Generations::new();
    let left = |report: &MergeReport| {
        let done = report.merges.len() as u64 + report.num_dropped;
        options
            .max_merges
            .map_or(u64::MAX, |max| max.saturating_sub(done))
    };
    loop {
        let index = Index::look(store)?;
        if std::mem::take(&mut is_first) {
            report.num_splits_before = index.splits.len() as u64;
        }
        report.num_splits = index.splits.len() as u64;
        let due = index.due(store, options, &mut generations);
        if options.dry_run {
            report.merges = due
                .iter()
                .map(|(operation, _)| planned(operation))
                .collect();
            return Ok(report);
        }
        let mut num_published = 0;
        for (operation, generation) in due {
            if left(&report) == 0 {
                return Ok(report);
            }
            num_bytes_left = match num_bytes_left.checked_sub(operation.num_bytes) {
                Some(left) => left,
                None => continue,
            };
            let merged = match index.merge(store, &operation, generation, options) {
                // Inputs that another process has merged may be gone already.
                Err(_) if Index::look(store)?.has_changed(&operation, &index) => None,
                merged => merged?,
            };
            match merged {
                None => report.num_dropped += 1,
                Some((done, num_splits)) => {
                    progress(&done);
                    report.num_splits = num_splits;
                    report.merges.push(done);
                    num_published += 1;
                }
            }
        }
        // If others change all splits that are due, they will merge them.
        if num_published == 0 {
            return Ok(report);
        }
    }
}

fn planned(operation: &MergeOperation) -> MergeDone {
    MergeDone {
        from: operation.split_ids.clone(),
        num_docs: operation.num_docs,
        num_bytes: operation.num_bytes,
        into: None,
        num_merged_bytes: 0,
    }
}

/// Number of the index's later fields that can be added to each split, keyed by id.
type Generations = BTreeMap<String, usize>;

/// State of an index.
struct Index {
    config: IndexConfig,
    splits: BTreeMap<String, SplitEntry>,
}

impl Index {
    fn look(store: &IndexStore) -> Result<Self, BuildError> {
        blocking::run(async {
            let (loaded, references) = References::load(store).await?;
            let splits = references.splits.into_iter();
            Ok(Self {
                config: config_of(store, &loaded.file)?,
                splits: splits.map(|split| (split.id.clone(), split)).collect(),
            })
        })
    }

    /// Returns whether a split of this merge has changed since it was planned.
    fn has_changed(&self, operation: &MergeOperation, planned: &Self) -> bool {
        let mut ids = operation.split_ids.iter();
        ids.any(|id| self.splits.get(id) != planned.splits.get(id))
    }

    /// Returns the due merges with their generations. Only splits of one generation are merged with
    /// each other. A split of unknown generation counts as one of the newest until it is part of a
    /// merge.
    fn due(
        &self,
        store: &IndexStore,
        options: &MergeIndexOptions,
        known: &mut Generations,
    ) -> Vec<(MergeOperation, usize)> {
        let newest = self.config.doc_mapping.added_fields.len();
        loop {
            let mut due = Vec::new();
            let of = |id: &str| known.get(id).copied().unwrap_or(newest);
            let all: BTreeSet<usize> = self.splits.keys().map(|id| of(id)).collect();
            for generation in all {
                let splits = self.splits.values();
                let splits = splits.filter(|split| of(&split.id) == generation);
                let of_generation = self.due_among(&splits.collect::<Vec<_>>(), options);
                due.extend(of_generation.into_iter().map(|due| (due, generation)));
            }
            let ids = due.iter().flat_map(|(operation, _)| &operation.split_ids);
            let unknown = ids.filter(|id| !known.contains_key(*id));
            let unknown: Vec<String> = unknown.cloned().collect();
            let mut is_right = true;
            for id in unknown {
                let entry = self.splits.get(&id);
                let found = entry.map(|entry| num_fields_it_may_get(store, &self.config, entry));
                // If the split cannot be read, the merge will report that.
                let generation = found.and_then(Result::ok).unwrap_or(newest);
                is_right &= generation == newest;
                known.insert(id, generation);
            }
            if is_right {
                return due;
            }
        }
    }

    /// Returns the due merges among splits that can be merged with each other.
    fn due_among(
        &self,
        splits: &[&SplitEntry],
        options: &MergeIndexOptions,
    ) -> Vec<MergeOperation> {
        let settings = &self.config.indexing_settings;
        let candidates = splits.iter().map(|split| MergeCandidate {
            id: split.id.clone(),
            time_range: split.time_range,
            num_docs: split.num_live_docs(),
            num_bytes: split.len,
            num_merge_ops: split.num_merge_ops,
            age: None,
        });
        let candidates: Vec<MergeCandidate> = candidates.collect();
        let mut due = plan_merges(
            &settings.merge_policy,
            &MergeLimits::of(settings),
            &candidates,
        );
        if options.rewrite_deleted {
            let merged = due.iter().flat_map(|operation| &operation.split_ids);
            let merged: BTreeSet<String> = merged.cloned().collect();
            let deleted = splits.iter().filter(|split| split.deletes.is_some());
            let alone = deleted.filter(|split| !merged.contains(&split.id));
            due.extend(alone.map(|split| MergeOperation {
                split_ids: vec![split.id.clone()],
                num_docs: split.num_live_docs(),
                num_bytes: split.len,
                num_merge_ops: split.num_merge_ops,
            }));
        }
        due
    }

    /// Runs one merge. Returns its result and the number of splits afterwards, or `None` if it was
    /// dropped.
    fn merge(
        &self,
        store: &IndexStore,
        operation: &MergeOperation,
        generation: usize,
        options: &MergeIndexOptions,
    ) -> Result<Option<(MergeDone, u64)>, BuildError> {
        let ids = operation.split_ids.iter();
        let removed: Vec<SplitEntry> = ids.filter_map(|id| self.splits.get(id)).cloned().collect();
        let inputs = removed.iter().map(|entry| input_of(store, entry));
        let inputs = inputs.collect::<Result<Vec<MergeInput>, BuildError>>()?;
        let merge_options = MergeOptions {
            temp_folder: options.temp_folder.clone(),
        };
        let config = self.config.with_added_fields(generation);
        let merged = merge_splits(store, &config, &inputs, &merge_options)?;
        let mut done = planned(operation);
        let mut added = Vec::new();
        if let Some(mut split) = merged {
            split.entry.num_merge_ops = operation.num_merge_ops;
            done.into = Some(split.entry.id.clone());
            done.num_merged_bytes = split.entry.len;
            let (head, object) = (split.head().to_vec(), split.object());
            blocking::run(store.put_immutable(&object, Bytes::from(split.bytes)))?;
            added.push(NewSplit {
                entry: split.entry,
                head,
                num_columns_outside_head: split.num_columns_outside_head,
            });
        }
        let replacement = Replacement { removed, added };
        let outcome = blocking::run(replace(store, std::slice::from_ref(&replacement)))?;
        Ok((outcome.num_done > 0).then_some((done, outcome.num_live_splits)))
    }
}

/// Returns a split with its deleted documents as the input of a merge.
fn input_of(store: &IndexStore, entry: &SplitEntry) -> Result<MergeInput, BuildError> {
    let deleted = match &entry.deletes {
        None => None,
        Some(deletes) => {
            let max_doc = u32::try_from(entry.num_docs).map_err(|_| {
                BuildError::data(format!("split {} has too many documents", entry.id))
            })?;
            let docs = blocking::run(read_deletes(store, deletes, max_doc))?;
            let mut bits = BitSet::with_max_value(max_doc);
            for doc in docs.ranges().iter().cloned().flatten() {
                bits.insert(doc);
            }
            Some(bits)
        }
    };
    Ok(MergeInput {
        entry: entry.clone(),
        deleted,
    })
}
