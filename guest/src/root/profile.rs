//! The guest's account of its own work, as an answer shows it.

use serde::Serialize;

use super::response::PlanFacts;
use crate::leaf::PartialResult;
use crate::request::{Question, VectorReads};

/// The guest's account of its own work.
#[derive(Serialize)]
pub(super) struct Profile {
    pub(super) num_splits: u64,
    pub(super) num_splits_pruned: u64,
    num_splits_pruned_by_time: u64,
    num_splits_pruned_by_tags: u64,
    num_splits_pruned_by_filter: u64,
    num_splits_searched: u64,
    num_splits_answered_from_head: u64,
    num_splits_answered_from_cache: u64,
    /// Only for a search that need not count all hits.
    #[serde(skip_serializing_if = "is_none")]
    num_splits_not_needed: u64,
    warmup_gaps: u64,
    /// Only for a search that read documents for fields that are not indexed.
    #[serde(skip_serializing_if = "is_none")]
    docs_scanned: u64,
    /// Only for a search that read the objects of documents for nested queries.
    #[serde(skip_serializing_if = "is_none")]
    docs_verified: u64,
    /// Only for a search for vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    vectors: Option<VectorReads>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(number: &u64) -> bool {
    *number == 0
}

impl Profile {
    pub(super) fn new(facts: &PlanFacts, result: &PartialResult, question: &Question) -> Self {
        Self {
            num_splits: facts.num_splits,
            num_splits_pruned: facts.num_pruned_by_time
                + facts.num_pruned_by_tags
                + facts.num_pruned_by_filter,
            num_splits_pruned_by_time: facts.num_pruned_by_time,
            num_splits_pruned_by_tags: facts.num_pruned_by_tags,
            num_splits_pruned_by_filter: facts.num_pruned_by_filter,
            num_splits_searched: result.num_splits_searched,
            num_splits_answered_from_head: result.num_splits_from_head,
            num_splits_answered_from_cache: result.num_splits_from_cache,
            num_splits_not_needed: result.num_splits_not_needed,
            warmup_gaps: result.warmup_gaps,
            docs_scanned: result.docs_scanned,
            docs_verified: result.docs_verified,
            // It would tell of documents that the caller may not see.
            vectors: question.vector_reads.filter(|_| !question.is_filtered()),
        }
    }
}
