//! One split on its way through the phases of a leaf search.

use std::ops::Range;
use std::sync::Arc;

use canter_aggregations::Partial;

use super::top_hits::HitOrder;
use crate::SearchError;
use crate::query::{BuiltQuery, QueryShape};
use crate::request::SortOrder;
use crate::split::OpenSplit;

/// One split on its way through the phases.
pub(super) struct Candidate {
    pub(super) split_ord: u32,
    pub(super) split: Arc<OpenSplit>,
    pub(super) built: BuiltQuery,
    pub(super) order: HitOrder,
    /// Documents within the time filter.
    pub(super) docs: Range<u32>,
    /// The filters of the aggregations, by slot, if its documents are aggregated.
    pub(super) filters: Option<Vec<BuiltQuery>>,
    /// Aggregations that the head answered.
    pub(super) from_head: Option<Partial>,
}

impl Candidate {
    pub(super) fn covers_all_docs(&self) -> bool {
        self.docs == (0..self.split.segment().max_doc())
    }

    /// How many documents match, for shapes that are countable.
    pub(super) async fn count(&self) -> Result<u64, SearchError> {
        match &self.built.shape {
            QueryShape::All => Ok(self.docs.len() as u64),
            QueryShape::Nothing | QueryShape::Other => Ok(0),
            QueryShape::Term(term) => {
                let inverted_index = self
                    .split
                    .segment()
                    .inverted_index(term.field())
                    .map_err(|error| self.split.error(error))?;
                let doc_freq = inverted_index.doc_freq_async(term).await;
                Ok(u64::from(
                    doc_freq.map_err(|error| self.split.error(error))?,
                ))
            }
        }
    }

    /// Sorts splits so that the one with the best possible hit is first.
    pub(super) fn search_rank(&self, direction: SortOrder) -> (i64, u32) {
        let range = self.split.metadata.time_range;
        match direction {
            SortOrder::Descending => (
                !range.map_or(i64::MAX, |range| range.end_ns),
                !self.split_ord,
            ),
            SortOrder::Ascending => (
                range.map_or(i64::MIN, |range| range.start_ns),
                self.split_ord,
            ),
        }
    }

    /// Whether a document of this split may come before a hit of that time.
    pub(super) fn may_beat(&self, worst_ns: Option<i64>, direction: SortOrder) -> bool {
        match (worst_ns, self.split.metadata.time_range) {
            (Some(worst), Some(range)) => match direction {
                SortOrder::Descending => range.end_ns >= worst,
                SortOrder::Ascending => range.start_ns <= worst,
            },
            _ => true,
        }
    }
}
