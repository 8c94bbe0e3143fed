//! Selection of splits to merge, as a pure function of the manifest's data, without storage or
//! clock.
//!
//! ```text
//!   time ─▶   9M │ 400k 350k 500k │ 9M │ 30k 20k 40k …
//!           full │      run       │    │     run            a run lies between splits that are not merged
//! ```
//!
//! The **level** of a split is the number of times that `min_level_num_docs` must be multiplied by
//! `merge_factor` to exceed its number of documents (with `limit_merge`: its number of merges).
//! Among temporal neighbours with levels up to `k`, `merge_factor * (k + 1)` in a row are due.
//! Small splits therefore do not wait for large ones, a document is written about once per level,
//! and between two full splits there are at most as many splits as levels times `merge_factor`, in
//! whatever order they were added.
//!
//! Only neighbours are merged, so that merged splits do not overlap in time more than before, and a
//! search of an hour reads as few of them.

use std::ops::Range;
use std::time::Duration;

use canter_doc_mapper::config::{IndexingSettings, MergePolicy};
use canter_split_format::TimeRange;

/// Properties of a split that decide about merges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeCandidate {
    /// Id of the split.
    pub id: String,
    /// Time range, as in the manifest.
    pub time_range: Option<TimeRange>,
    /// Number of documents without deleted ones.
    pub num_docs: u64,
    /// Length of its object in bytes.
    pub num_bytes: u64,
    /// Maximum number of merges that any of its documents has gone through.
    pub num_merge_ops: u64,
    /// Time since the split was built; `None` if it is unknown, in which case the split never
    /// counts as too old.
    pub age: Option<Duration>,
}

/// Target and maximum sizes of splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergeLimits {
    /// Number of documents of a full split, which is no longer merged.
    pub target_num_docs: u64,
    /// Number of bytes of a full split.
    pub target_num_bytes: u64,
    /// Maximum number of documents of a merged split.
    pub max_num_docs: u64,
    /// Maximum number of bytes of a merged split, estimated from its inputs.
    pub max_num_bytes: u64,
}

impl MergeLimits {
    /// Default number of bytes of a full split. A merge holds it in memory.
    pub const TARGET_NUM_BYTES: u64 = 256 << 20;

    /// Returns the limits of an index: the target of `split_num_docs_target`, and maximums that are
    /// twice the targets.
    #[must_use]
    pub fn of(settings: &IndexingSettings) -> Self {
        let twice = |target: u64| target.saturating_mul(2);
        Self {
            target_num_docs: settings.split_num_docs_target,
            target_num_bytes: Self::TARGET_NUM_BYTES,
            max_num_docs: twice(settings.split_num_docs_target),
            max_num_bytes: twice(Self::TARGET_NUM_BYTES),
        }
    }

    fn is_full(&self, num_docs: u64, num_bytes: u64) -> bool {
        num_docs >= self.target_num_docs || num_bytes >= self.target_num_bytes
    }

    fn is_allowed(&self, num_docs: u64, num_bytes: u64) -> bool {
        num_docs <= self.max_num_docs && num_bytes <= self.max_num_bytes
    }
}

/// Splits to merge into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeOperation {
    /// Ids of at least two splits, oldest first.
    pub split_ids: Vec<String>,
    /// Total number of documents.
    pub num_docs: u64,
    /// Total number of bytes, which approximates the size of the merged split.
    pub num_bytes: u64,
    /// [`MergeCandidate::num_merge_ops`] of the merged split.
    pub num_merge_ops: u64,
}

/// Returns the merges that are due. They have no common splits, so they can run in any order or at
/// once. After them, other merges may be due, but finally none is.
///
/// `max_finalize_merge_operations` and `max_finalize_split_num_docs` have no effect, because they
/// concern the end of an indexing run, which is not known here.
#[must_use]
pub fn plan_merges(
    policy: &MergePolicy,
    limits: &MergeLimits,
    splits: &[MergeCandidate],
) -> Vec<MergeOperation> {
    let Some(rules) = Rules::of(policy, limits) else {
        return Vec::new();
    };
    let mut splits: Vec<&MergeCandidate> = splits.iter().collect();
    // Same order as in the manifest.
    splits.sort_by_key(|split| {
        let times = split.time_range.map(|range| (range.end_ns, range.start_ns));
        (times, split.id.as_str())
    });
    let is_apart = |left: &MergeCandidate, right: &MergeCandidate| {
        rules.is_left_alone(left)
            || rules.is_left_alone(right)
            || left.time_range.is_some() != right.time_range.is_some()
    };
    let mut due = Vec::new();
    for run in splits.chunk_by(|left, right| !is_apart(left, right)) {
        rules.plan_run(run, &mut due);
    }
    due
}

/// Parsed policy.
struct Rules<'a> {
    limits: &'a MergeLimits,
    merge_factor: usize,
    max_merge_factor: usize,
    maturation_period: Option<Duration>,
    levels: Levels,
}

enum Levels {
    /// By number of documents.
    Size { min_num_docs: u64 },
    /// By number of merges, up to `max`.
    Merges { max: u64 },
}

impl<'a> Rules<'a> {
    fn of(policy: &MergePolicy, limits: &'a MergeLimits) -> Option<Self> {
        let (merge_factor, max_merge_factor, levels) = match policy {
            MergePolicy::StableLog {
                min_level_num_docs,
                merge_factor,
                max_merge_factor,
                ..
            } => {
                let min_num_docs = (*min_level_num_docs).max(1);
                (
                    merge_factor,
                    max_merge_factor,
                    Levels::Size { min_num_docs },
                )
            }
            MergePolicy::LimitMerge {
                max_merge_ops,
                merge_factor,
                max_merge_factor,
                ..
            } => (
                merge_factor,
                max_merge_factor,
                Levels::Merges {
                    max: *max_merge_ops,
                },
            ),
            MergePolicy::NoMerge => return None,
        };
        let number = |factor: u64| usize::try_from(factor).unwrap_or(usize::MAX).max(2);
        Some(Self {
            limits,
            merge_factor: number(*merge_factor),
            max_merge_factor: number(*max_merge_factor),
            maturation_period: policy.maturation_period(),
            levels,
        })
    }

    fn is_left_alone(&self, split: &MergeCandidate) -> bool {
        let is_old = match (split.age, self.maturation_period) {
            (Some(age), Some(period)) => age >= period,
            _ => false,
        };
        let is_merged_enough =
            matches!(self.levels, Levels::Merges { max } if split.num_merge_ops >= max);
        is_old || is_merged_enough || self.limits.is_full(split.num_docs, split.num_bytes)
    }

    fn level(&self, split: &MergeCandidate) -> usize {
        match self.levels {
            Levels::Merges { .. } => usize::try_from(split.num_merge_ops).unwrap_or(usize::MAX),
            Levels::Size { min_num_docs } => {
                let factor = self.merge_factor as u64;
                let mut level = 0;
                let mut below = min_num_docs;
                while below <= split.num_docs && below < u64::MAX {
                    below = below.saturating_mul(factor);
                    level += 1;
                }
                level
            }
        }
    }

    /// Adds the due merges of a run of neighbours, starting with smaller splits.
    fn plan_run(&self, run: &[&MergeCandidate], due: &mut Vec<MergeOperation>) {
        let levels: Vec<usize> = run.iter().map(|split| self.level(split)).collect();
        let mut sorted = levels.clone();
        sorted.sort_unstable();
        sorted.dedup();
        for level in sorted {
            let ranges = ranges_where(&levels, |of_split| of_split <= level);
            for range in ranges {
                let wanted = self.merge_factor.saturating_mul(level.saturating_add(1));
                if range.len() < wanted {
                    continue;
                }
                let Some(neighbours) = run.get(range.clone()) else {
                    continue;
                };
                let Some(window) = self.best_window(neighbours) else {
                    continue;
                };
                if let Some(splits) = neighbours.get(window.clone()) {
                    due.push(operation(splits));
                }
                // The neighbours on both sides may also be due.
                let (from, to) = (range.start + window.start, range.start + window.end);
                self.plan_run(run.get(..from).unwrap_or_default(), due);
                self.plan_run(run.get(to..).unwrap_or_default(), due);
                return;
            }
        }
    }

    /// Returns the best neighbours to merge: at least `merge_factor` of them, or as many as make a
    /// full split, if possible. Among these candidates, the largest split has the smallest share of
    /// the total, so that a large split is not rewritten for a few small ones; the oldest of equal
    /// candidates is chosen. Returns `None` if no two splits can be merged.
    fn best_window(&self, splits: &[&MergeCandidate]) -> Option<Range<usize>> {
        let mut best: Option<Window> = None;
        for start in 0..splits.len() {
            let mut window = Window::default();
            for (end, split) in (start + 1..).zip(splits.iter().skip(start)) {
                window.add(split);
                let num_splits = end - start;
                let is_allowed = self.limits.is_allowed(window.num_docs, window.num_bytes);
                if !is_allowed || num_splits > self.max_merge_factor {
                    break;
                }
                let is_full = self.limits.is_full(window.num_docs, window.num_bytes);
                window.splits = start..end;
                window.is_enough = is_full || num_splits >= self.merge_factor;
                if num_splits >= 2 && best.as_ref().is_none_or(|best| window.is_better_than(best)) {
                    best = Some(window.clone());
                }
                if is_full {
                    break;
                }
            }
        }
        best.map(|window| window.splits)
    }
}

/// Candidate range of neighbours.
#[derive(Clone, Default)]
struct Window {
    splits: Range<usize>,
    is_enough: bool,
    num_docs: u64,
    num_bytes: u64,
    most_docs: u64,
}

impl Window {
    fn add(&mut self, split: &MergeCandidate) {
        self.num_docs = self.num_docs.saturating_add(split.num_docs);
        self.num_bytes = self.num_bytes.saturating_add(split.num_bytes);
        self.most_docs = self.most_docs.max(split.num_docs);
    }

    fn is_better_than(&self, other: &Self) -> bool {
        // Share of the largest split in the total, as a fraction. Splits without documents do not
        // delay a merge.
        let part = |window: &Self, of: &Self| {
            u128::from(window.most_docs.max(1)) * u128::from(of.num_docs.max(1))
        };
        let of_both = (part(self, other), part(other, self));
        match self.is_enough == other.is_enough {
            true => of_both.0 < of_both.1,
            false => self.is_enough,
        }
    }
}

fn operation(splits: &[&MergeCandidate]) -> MergeOperation {
    let most_merged = splits.iter().map(|split| split.num_merge_ops).max();
    MergeOperation {
        split_ids: splits.iter().map(|split| split.id.clone()).collect(),
        num_docs: splits.iter().map(|split| split.num_docs).sum(),
        num_bytes: splits.iter().map(|split| split.num_bytes).sum(),
        num_merge_ops: most_merged.unwrap_or(0).saturating_add(1),
    }
}

/// Returns the maximal ranges in which all items satisfy `is_wanted`.
fn ranges_where(items: &[usize], is_wanted: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (ord, item) in items.iter().enumerate() {
        if !is_wanted(*item) {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if last.end == ord => last.end = ord + 1,
            _ => ranges.push(ord..ord + 1),
        }
    }
    ranges
}
