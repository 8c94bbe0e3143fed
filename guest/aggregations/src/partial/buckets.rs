//! Buckets of one aggregation, for all parent buckets.

use serde::{Deserialize, Serialize};

use super::{Metrics, Node};
use crate::key::Key;
use crate::request::{Aggregation, Kind, MetricOf};

/// Buckets of one aggregation, for all parent buckets.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Buckets {
    /// Distinct keys, ascending.
    pub(crate) keys: Vec<Key>,
    /// Start of each parent bucket's buckets, and the end of the last.
    pub(crate) offsets: Vec<u32>,
    /// Key of each bucket as an index into `keys`, ascending within a parent bucket.
    pub(crate) ids: Vec<u32>,
    /// Document counts of the buckets.
    pub(crate) counts: Vec<u64>,
    /// Dropped terms of each parent bucket; empty if none were dropped anywhere.
    pub(crate) dropped: Vec<Dropped>,
    /// Sub-aggregations, in the order of the request.
    pub(crate) inside: Vec<Node>,
}

/// Terms of a parent bucket that were dropped because there were too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dropped {
    /// Upper bound for the document count of a dropped term.
    pub(crate) max_doc_count: u64,
    /// Sum of the document counts of dropped terms.
    pub(crate) doc_count: u64,
}

impl Buckets {
    /// Returns the indices of the buckets in one parent bucket.
    pub(crate) fn of(&self, parent: usize) -> std::ops::Range<usize> {
        let at = |place: usize| self.offsets.get(place).map_or(0, |offset| *offset as usize);
        at(parent)..at(parent + 1)
    }

    pub(crate) fn key(&self, bucket: usize) -> Option<&Key> {
        self.keys.get(*self.ids.get(bucket)? as usize)
    }

    pub(crate) fn count(&self, bucket: usize) -> u64 {
        self.counts.get(bucket).copied().unwrap_or_default()
    }

    pub(crate) fn dropped(&self, parent: usize) -> Dropped {
        self.dropped.get(parent).copied().unwrap_or_default()
    }

    fn fits(&self, aggregation: &Aggregation, num_parents: usize) -> bool {
        let num_buckets = self.ids.len();
        let are_parts = self.offsets.len() == num_parents.saturating_add(1)
            && self.offsets.first() == Some(&0)
            && self
                .offsets
                .last()
                .is_some_and(|last| *last as usize == num_buckets)
            && self.offsets.is_sorted()
            && self.counts.len() == num_buckets
            && (self.dropped.is_empty() || self.dropped.len() == num_parents);
        let are_keys = self.keys.is_sorted_by(|left, right| left < right)
            && self.ids.iter().all(|id| (*id as usize) < self.keys.len())
            && (0..num_parents).all(|parent| {
                let ids = self.ids.get(self.of(parent)).unwrap_or_default();
                ids.is_sorted_by(|left, right| left < right)
            });
        are_parts
            && are_keys
            && self.inside.len() == aggregation.inside.len()
            && self
                .inside
                .iter()
                .zip(&aggregation.inside)
                .all(|(node, inside)| node.fits(inside, num_buckets))
    }
}

impl Node {
    /// Returns whether the node has the shape of a result of this aggregation in `num_parents`
    /// buckets.
    pub(super) fn fits(&self, aggregation: &Aggregation, num_parents: usize) -> bool {
        match (self, &aggregation.kind) {
            (Self::Metric(found), Kind::Metric(metric)) => {
                found.states.len() == num_parents && found.states.fits(&metric.what)
            }
            (Self::Buckets(buckets), kind) if !matches!(kind, Kind::Metric(_)) => {
                buckets.fits(aggregation, num_parents)
            }
            _ => false,
        }
    }
}

impl Metrics {
    fn fits(&self, what: &MetricOf) -> bool {
        let is_of = |of: &MetricOf| {
            std::mem::discriminant(self) == std::mem::discriminant(&Self::empty(of))
        };
        is_of(what)
    }
}
