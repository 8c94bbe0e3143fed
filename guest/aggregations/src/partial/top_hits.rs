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
    /// Place of the document, if it is shown.
    pub(crate) place: Option<HitPlace>,
}

/// Place of a document: that of the first document of its split, the split, and the number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct HitPlace {
    pub(crate) first: (i64, u128, u64),
    pub(crate) split: String,
    pub(crate) doc: u32,
    /// Path of an object, and its place among all of that path in the document.
    pub(crate) object: Option<(String, u32)>,
}

/// Direction of a key of an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TopOrder {
    pub(crate) is_descending: bool,
    /// True if documents without a value come first.
    pub(crate) missing_first: bool,
}

/// First documents of a bucket.
///
/// Of two documents with equal sort values, the one with the smaller shown values comes first.
/// Documents that are equal in both are indistinguishable in an answer, so their splits do not
/// matter; if documents themselves are shown, their places decide.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct TopList {
    /// Documents in order.
    pub(crate) hits: Vec<TopHit>,
    /// Number of documents in the bucket, including those not listed.
    pub(crate) num_docs: u64,
    /// Direction of each sort value.
    order: Vec<TopOrder>,
    size: u32,
}

impl TopList {
    pub(crate) fn new(order: Vec<TopOrder>, size: usize) -> Self {
        Self {
            hits: Vec::new(),
            num_docs: 0,
            order,
            size: u32::try_from(size).unwrap_or(u32::MAX),
        }
    }

    pub(crate) fn add(&mut self, hit: TopHit) {
        let place = self
            .hits
            .partition_point(|other| compare(other, &hit, &self.order).is_le());
        if place < self.size as usize {
            self.hits.insert(place, hit);
            self.hits.truncate(self.size as usize);
        }
    }

    /// Returns whether no document is taken without another being dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.hits.len() >= self.size as usize
    }

    /// Returns whether a later document of the same split with these sort values is in the list.
    pub(crate) fn would_take(&self, sort: &[Option<Key>]) -> bool {
        let last = self.hits.last().filter(|_| self.is_full());
        last.is_none_or(|last| compare_sort(sort, &last.sort, &self.order).is_lt())
    }

    /// Returns whether a document with this first sort value cannot be in the list.
    pub(crate) fn is_beyond(&self, first: Option<&Key>) -> bool {
        if !self.is_full() {
            return false;
        }
        let last = self.hits.last().and_then(|hit| hit.sort.first());
        let order = self.order.first().copied().unwrap_or_default();
        last.is_some_and(|last| compare_keys(last.as_ref(), first, order).is_lt())
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

fn compare_keys(left: Option<&Key>, right: Option<&Key>, order: TopOrder) -> Ordering {
    let missing = match order.missing_first {
        true => Ordering::Less,
        false => Ordering::Greater,
    };
    match (left, right) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => missing,
        (Some(_), None) => missing.reverse(),
        (Some(left), Some(right)) if order.is_descending => right.cmp(left),
        (Some(left), Some(right)) => left.cmp(right),
    }
}

fn compare_sort(left: &[Option<Key>], right: &[Option<Key>], order: &[TopOrder]) -> Ordering {
    let keys = left.iter().zip(right).zip(order);
    keys.map(|((left, right), order)| compare_keys(left.as_ref(), right.as_ref(), *order))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

fn compare(left: &TopHit, right: &TopHit, order: &[TopOrder]) -> Ordering {
    compare_sort(&left.sort, &right.sort, order)
        .then_with(|| left.fields.cmp(&right.fields))
        .then_with(|| left.place.cmp(&right.place))
}
