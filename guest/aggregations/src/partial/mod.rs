//! Partial results of aggregations: the same type for one split, for a leaf and for the whole
//! index. Leaves send them, and caches store them.
//!
//! A partial result has the shape of the request. Each node has the states of all parent buckets in
//! one list, so that a thousand buckets are a few lists rather than a thousand trees:
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
mod places;
mod top_hits;

pub(crate) use buckets::{Buckets, Dropped};
pub(crate) use fold::fold;
pub(crate) use metric::{Cardinality, Merge, Metric, Metrics};
pub(crate) use places::{PlaceBounds, PlaceSum};
pub(crate) use top_hits::{HitPlace, TopHit, TopList, TopOrder};

use serde::{Deserialize, Serialize};

pub use merger::Merger;

use crate::request::Aggregations;

/// States of one aggregation for all parent buckets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Node {
    Buckets(Buckets),
    Metric(Metric),
}

/// Partial result of a request's aggregations over some documents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Partial {
    /// One node for each aggregation of the request, each with a single parent bucket.
    pub(crate) nodes: Vec<Node>,
}

impl Partial {
    /// Adds the result for other documents.
    ///
    /// # Errors
    /// Returns `false` and adds nothing if it belongs to another request.
    #[must_use]
    pub fn merge(&mut self, other: Self) -> bool {
        merge::merge_all(&mut self.nodes, other.nodes)
    }

    /// Returns whether this is a possible result of these aggregations. Data from outside may not
    /// be.
    pub fn fits(&self, aggregations: &Aggregations) -> bool {
        self.nodes.len() == aggregations.list.len()
            && self
                .nodes
                .iter()
                .zip(&aggregations.list)
                .all(|(node, aggregation)| node.fits(aggregation, 1))
    }
}
