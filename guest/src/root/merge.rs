//! Merging the partial results of all leaves.

use canter_aggregations::{Merger, Partial};

use crate::SearchError;
use crate::leaf::{HitOrder, PartialResult, check_listed, collapse, compare_hits};

/// All partial results as one.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) result: PartialResult,
    aggregations: Merger,
}

impl Merged {
    /// Adds the result of one leaf.
    ///
    /// # Errors
    /// If its aggregations belong to another request, or the list of documents is too long.
    pub(crate) fn add(&mut self, partial: PartialResult) -> Result<(), SearchError> {
        let into = &mut self.result;
        into.num_hits += partial.num_hits;
        into.hits.extend(partial.hits);
        into.failed_splits.extend(partial.failed_splits);
        into.listed.extend(partial.listed);
        check_listed(&into.listed)?;
        into.num_splits_from_head += partial.num_splits_from_head;
        into.num_splits_from_cache += partial.num_splits_from_cache;
        into.num_splits_not_needed += partial.num_splits_not_needed;
        into.num_splits_searched += partial.num_splits_searched;
        into.docs_scanned += partial.docs_scanned;
        into.docs_verified += partial.docs_verified;
        into.warmup_gaps += partial.warmup_gaps;
        match partial
            .aggregations
            .is_none_or(|partial| self.aggregations.add(partial))
        {
            true => Ok(()),
            false => Err(SearchError::internal(
                "leaves answered different aggregations",
            )),
        }
    }

    /// Takes the aggregations of all leaves as one; `None` if no split has any.
    pub(crate) fn take_aggregations(&mut self) -> Option<Partial> {
        std::mem::take(&mut self.aggregations).finish()
    }

    /// Sorts the hits and keeps those that the request asks for.
    pub(crate) fn select(&mut self, order: &HitOrder, start_offset: usize, max_hits: usize) {
        let hits = &mut self.result.hits;
        canter_sorting::sort_by(hits, |left, right| compare_hits(left, right, order));
        collapse(hits, order);
        hits.drain(..start_offset.min(hits.len()));
        hits.truncate(max_hits);
    }
}
