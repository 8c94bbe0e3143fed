//! Merging the partial results of all leaves.

use tantivy::aggregation::intermediate_agg_result::IntermediateAggregationResults;

use crate::SearchError;
use crate::leaf::{HitOrder, PartialResult, compare_hits};

/// All partial results as one.
#[derive(Debug, Default)]
pub(crate) struct Merged {
    pub(crate) result: PartialResult,
}

impl Merged {
    /// Adds the result of one leaf.
    pub(crate) fn add(&mut self, partial: PartialResult) {
        let into = &mut self.result;
        into.num_hits += partial.num_hits;
        into.hits.extend(partial.hits);
        into.aggregations.extend(partial.aggregations);
        into.failed_splits.extend(partial.failed_splits);
        into.num_splits_from_head += partial.num_splits_from_head;
        into.num_splits_from_cache += partial.num_splits_from_cache;
        into.num_splits_searched += partial.num_splits_searched;
        into.warmup_gaps += partial.warmup_gaps;
    }

    /// The aggregations of all splits as one, merged in the order of splits.
    ///
    /// # Errors
    /// If aggregations of two splits do not fit each other.
    pub(crate) fn take_aggregations(
        &mut self,
    ) -> Result<IntermediateAggregationResults, SearchError> {
        let by_split = std::mem::take(&mut self.result.aggregations);
        let mut merged: Option<IntermediateAggregationResults> = None;
        for aggregations in by_split.into_values() {
            match &mut merged {
                Some(merged) => merged.merge_fruits(aggregations).map_err(|error| {
                    SearchError::internal(format!("merging aggregations: {error}"))
                })?,
                empty => *empty = Some(aggregations),
            }
        }
        Ok(merged.unwrap_or_default())
    }

    /// Brings the hits into their order and keeps those the request asks for.
    pub(crate) fn select(&mut self, order: &HitOrder, start_offset: usize, max_hits: usize) {
        let hits = &mut self.result.hits;
        hits.sort_by(|left, right| compare_hits(left, right, order));
        hits.drain(..start_offset.min(hits.len()));
        hits.truncate(max_hits);
    }
}
