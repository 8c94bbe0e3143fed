//! The result that a leaf hands to the root.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use canter_aggregations::Partial;
use canter_split_format::ListedSplit;
use serde::{Deserialize, Serialize};

use super::hits::HitOrder;
use crate::request::SortValue;
use crate::{ErrorKind, SearchError};

/// Place of a document in the index, which decides between hits with equal sort keys: its time, then its identity (its
/// source, and its position there).
///
/// Documents are in this order within every split, and the order does not depend on the split that a document is in.
/// The division of documents into splits therefore does not matter. Until it is settled (see
/// [`settle_places`](super::hits::settle_places)) the place is empty; and where no document of another split can come
/// in between, a value that compares alike stands for the true one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct HitPlace {
    /// Nanoseconds since 1970; 0 in an index without a timestamp field.
    pub(crate) time_ns: i64,
    /// The id of its source.
    pub(crate) source: u128,
    /// Its position in the source.
    pub(crate) position: u64,
}

/// A document that may become a hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartialHit {
    /// Place of its split among all splits of the plan, oldest first.
    pub(crate) split_ord: u32,
    /// Its document id in the split.
    pub(crate) doc: u32,
    /// Its sort values, one per sort key; empty if hits are ordered by their places alone. With collapsing, the
    /// collapse value follows.
    pub(crate) keys: Vec<SortValue>,
    /// Its place in the index.
    pub(crate) place: HitPlace,
    /// The named clauses of the request that it matches, one bit each.
    pub(crate) names: u64,
}

/// Columns have no integers from here on.
const MANY: f64 = 18_446_744_073_709_551_616.0;

/// Keeps the first hit of each value, for collapsing. The hits must be in order.
pub(crate) fn collapse(hits: &mut Vec<PartialHit>, order: &HitOrder) {
    if order.collapse().is_none() {
        return;
    }
    let mut seen = BTreeSet::new();
    hits.retain(|hit| seen.insert(group_of(hit)));
}

/// Returns a text that is equal for values that compare as equal, including numbers of different types.
fn group_of(hit: &PartialHit) -> String {
    match hit.keys.last() {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "whole numbers below 2^64 only"
        )]
        Some(SortValue::Number(number)) if number.trunc() == *number && number.abs() < MANY => {
            format!("{:?}", Some(SortValue::Integer(*number as i128)))
        }
        value => format!("{value:?}"),
    }
}

/// Compares the sort keys of two hits.
pub(crate) fn compare_keys(left: &PartialHit, right: &PartialHit, order: &HitOrder) -> Ordering {
    let keys = left.keys.iter().zip(&right.keys);
    keys.zip(order.keys())
        .map(|((left, right), key)| left.compare(right, key))
        .find(|by_key| by_key.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Compares hits in their total order, which does not depend on the division of documents into splits: by sort keys,
/// then by place in the index (time, source, position), in the direction of the first key.
///
/// The split and the document number come last. They only decide between two copies of a document that was ingested
/// twice with different split boundaries.
pub(crate) fn compare_hits(left: &PartialHit, right: &PartialHit, order: &HitOrder) -> Ordering {
    compare_keys(left, right, order).then_with(|| {
        let place = |hit: &PartialHit| (hit.place, hit.split_ord, hit.doc);
        order.ties().of(place(left).cmp(&place(right)))
    })
}

/// A split that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedSplit {
    pub(crate) split_id: String,
    pub(crate) kind: String,
    pub(crate) message: String,
}

impl FailedSplit {
    pub(crate) fn new(split_id: &str, error: SearchError) -> Self {
        Self {
            split_id: split_id.to_owned(),
            kind: kind_name(error.kind).to_owned(),
            message: error.message,
        }
    }

    /// Reduces failures to what a caller with a forced filter may know: that there are some, and the general reason.
    /// Names, numbers and positions of the failed splits would reveal other documents.
    pub(crate) fn without_places(failed: Vec<Self>) -> Vec<Self> {
        let kinds = canter_sorting::set_of(failed.into_iter().map(|failed| failed.kind));
        let shown = kinds.into_iter().map(|kind| Self {
            split_id: String::new(),
            message: format!(
                "a part of the index was not searched: {}",
                general_reason(&kind)
            ),
            kind,
        });
        shown.collect()
    }

    /// Returns the failure in words.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Returns whether the split was left out because a budget was used up; the split itself is sound.
    pub(crate) fn is_skipped(&self) -> bool {
        self.kind == kind_name(ErrorKind::Limit)
    }
}

/// Returns the name of an error kind in answers.
pub(crate) fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Invalid => "invalid",
        ErrorKind::NotFound => "not_found",
        ErrorKind::Data => "data",
        ErrorKind::Unavailable => "unavailable",
        ErrorKind::Limit => "limit",
        ErrorKind::Internal => "internal",
    }
}

/// Returns the general reason for a missing answer, by the name of the error's kind, without naming a place.
pub(crate) fn general_reason(kind: &str) -> &'static str {
    match kind {
        "limit" => "the time or the reads that the search may take were used up",
        "unavailable" => "the store could not be read, so try again",
        "data" => "the index is damaged, so tell those who keep it",
        "invalid" => "the request cannot be answered there",
        _ => "the search failed, so tell those who keep the index",
    }
}

/// Maximum size of a list of documents, in bytes: a list of 100,000,000 documents of which one in eight matches is
/// smaller.
const MAX_LISTED_BYTES: usize = 32 << 20;

/// Refuses a list of documents that is too long for an answer.
///
/// # Errors
/// If it is.
pub(crate) fn check_listed(listed: &[ListedSplit]) -> Result<(), SearchError> {
    let num_bytes: usize = listed.iter().map(|split| split.docs.len()).sum();
    match num_bytes <= MAX_LISTED_BYTES {
        true => Ok(()),
        false => Err(SearchError::new(
            ErrorKind::Limit,
            format!(
                "the list of matching documents is longer than {MAX_LISTED_BYTES} bytes: do it in parts, by \
                 start_timestamp and end_timestamp"
            ),
        )),
    }
}

/// The answer of one leaf.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct PartialResult {
    pub(crate) num_hits: u64,
    /// Sorted; at most the request's window.
    pub(crate) hits: Vec<PartialHit>,
    /// The aggregations of all its splits.
    pub(crate) aggregations: Option<Partial>,
    pub(crate) failed_splits: Vec<FailedSplit>,
    /// The matching documents, if the request asks for a list.
    pub(crate) listed: Vec<ListedSplit>,
    /// Number of splits answered by their heads alone.
    pub(crate) num_splits_from_head: u64,
    /// Number of splits answered by the host's cache.
    pub(crate) num_splits_from_cache: u64,
    /// Number of splits left unsearched because there were enough hits without them: the number of hits is a lower
    /// bound.
    pub(crate) num_splits_not_needed: u64,
    /// Number of splits whose documents were searched.
    pub(crate) num_splits_searched: u64,
    /// Number of documents that were read for fields that are not indexed.
    pub(crate) docs_scanned: u64,
    /// Number of documents of which the objects were read for nested queries.
    pub(crate) docs_verified: u64,
    pub(crate) warmup_gaps: u64,
}
