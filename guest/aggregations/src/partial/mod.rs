//! What the aggregations of some documents come to, before they are shown: the same for one split, for a leaf and
//! for the whole index, and what leaves send and caches keep.
//!
//! A partial result has the shape of the request. Each node has the states of all buckets around it in one
//! row, so that a thousand buckets are a few lists and not a thousand trees:
//!
//! ```text
//!   days       offsets 0 3            terms     offsets 0 2 4 5       avg   one state for each of the
//!              ids     0 1 2   ─────▶           ids     0 2 0 1 1   ─────▶  5 buckets of terms
//!              counts  9 7 5                    counts  5 4 4 3 5
//! ```

mod buckets;
mod fold;
mod merge;
mod merger;
mod metric;

pub(crate) use buckets::{Buckets, Dropped};
pub(crate) use fold::fold;
pub(crate) use metric::{Cardinality, Merge, Metric, Metrics};

use serde::{Deserialize, Serialize};

pub use merger::Merger;

use crate::request::Aggregations;

/// One aggregation's states for all buckets around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Node {
    Buckets(Buckets),
    Metric(Metric),
}

/// What the aggregations of a request come to over some documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Partial {
    /// One for each aggregation of the request, with one bucket around each.
    pub(crate) nodes: Vec<Node>,
}

impl Partial {
    /// Adds what other documents come to.
    ///
    /// # Errors
    /// `false` if it is of another request: nothing is added then.
    #[must_use]
    pub fn merge(&mut self, other: Self) -> bool {
        merge::merge_all(&mut self.nodes, other.nodes)
    }

    /// Whether it can be the result of these aggregations: that which comes from outside may not be.
    pub fn fits(&self, aggregations: &Aggregations) -> bool {
        self.nodes.len() == aggregations.list.len()
            && self
                .nodes
                .iter()
                .zip(&aggregations.list)
                .all(|(node, aggregation)| node.fits(aggregation, 1))
    }
}
