//! First documents of a bucket in an order, for `top_hits`.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::key::Key;

/// Document as shown by `top_hits`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TopHit {
    /// Sort values.
    pub(crate) sort: Vec<Option<Key>>,
    /// Values of the fields that are shown.
    pub(crate) fields: Vec<Vec<Key>>,
}

/// First documents of a bucket.
///
/// Of two documents with equal sort values, the one with the smaller shown values comes first.
/// Documents that are equal in both are indistinguishable in an answer, so their splits do not
/// matter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TopList {
    /// Documents in order.
    pub(crate) hits: Vec<TopHit>,
    /// Number of documents in the bucket, including those not listed.
    pub(crate) num_docs: u64,
    /// For each sort value, whether its order descends.
    descending: Vec<bool>,
    size: u32,
}

impl TopList {
    pub(crate) fn new(descending: Vec<bool>, size: usize) -> Self {
        Self {
            hits: Vec::new(),
            num_docs: 0,
            descending,
            size: u32::try_from(size).unwrap_or(u32::MAX),
        }
    }

    pub(crate) fn add(&mut self, hit: TopHit) {
        let place = self
            .hits
            .partition_point(|other| compare(other, &hit, &self.descending).is_le());
        if place < self.size as usize {
            self.hits.insert(place, hit);
            self.hits.truncate(self.size as usize);
        }
    }

    /// Returns whether a document with this first sort value cannot be in the list.
    pub(crate) fn is_beyond(&self, first: Option<&Key>) -> bool {
        if self.hits.len() < self.size as usize {
            return false;
        }
        let last = self.hits.last().and_then(|hit| hit.sort.first());
        let is_descending = self.descending.first().copied().unwrap_or_default();
        last.is_some_and(|last| compare_keys(last.as_ref(), first, is_descending).is_lt())
    }

    pub(crate) fn merge(&mut self, other: Self) {
        if self.size == 0 {
            *self = other;
            return;
        }
        self.num_docs = self.num_docs.saturating_add(other.num_docs);
        for hit in other.hits {
            self.add(hit);
        }
    }
}

/// Compares keys; a missing one comes last in either direction.
fn compare_keys(left: Option<&Key>, right: Option<&Key>, is_descending: bool) -> Ordering {
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
        (Some(left), Some(right)) if is_descending => right.cmp(left),
        (Some(left), Some(right)) => left.cmp(right),
    }
}

fn compare(left: &TopHit, right: &TopHit, descending: &[bool]) -> Ordering {
    let keys = left.sort.iter().zip(&right.sort).zip(descending);
    keys.map(|((left, right), is_descending)| {
        compare_keys(left.as_ref(), right.as_ref(), *is_descending)
    })
    .find(|order| order.is_ne())
    .unwrap_or_else(|| left.fields.cmp(&right.fields))
}
