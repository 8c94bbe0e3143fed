//! What a leaf hands to the root.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use canter_aggregations::Partial;
use canter_split_format::ListedSplit;
use serde::{Deserialize, Serialize};

use super::hits::HitOrder;
use crate::request::SortValue;
use crate::{ErrorKind, SearchError};

/// A document's place in the index, which decides between hits whose sort keys are equal: its time,
/// then who it is (its source, and its position there).
///
/// Documents stand in this order within every split, and it does not depend on which split a document
/// is in. So it never matters how documents were divided. Until it is settled (see
/// [`settle_places`](super::hits::settle_places)) it is empty; and where no document of another split
/// can come in between, a value that compares alike stands for the true one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct HitPlace {
    /// Nanoseconds since 1970; 0 in an index without a timestamp field.
    pub(crate) time_ns: i64,
    /// The id of its source.
    pub(crate) source: u128,
    /// Its position there.
    pub(crate) position: u64,
}

/// A document that may become a hit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartialHit {
    /// Place of its split among all splits of the plan, oldest first.
    pub(crate) split_ord: u32,
    /// Its document id in the split.
    pub(crate) doc: u32,
    /// Its sort values, one per sort key; none if hits are ordered by their places alone. Behind them the value of which
    /// only one hit is wanted, if that is so.
    pub(crate) keys: Vec<SortValue>,
    /// Its place in the index.
    pub(crate) place: HitPlace,
    /// Which of the request's clauses with names it matches: a bit for each.
    pub(crate) names: u64,
}

/// From here on, columns have no integers.
const MANY: f64 = 18_446_744_073_709_551_616.0;

/// Keeps the first of hits with the same value, where only one of them is wanted. They must be in their order.
pub(crate) fn collapse(hits: &mut Vec<PartialHit>, order: &HitOrder) {
    if order.collapse().is_none() {
        return;
    }
    let mut seen = BTreeSet::new();
    hits.retain(|hit| seen.insert(group_of(hit)));
}

/// A text that is the same for values that compare as equal: numbers of another type are, too.
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

/// The one order of hits, which is total and does not depend on how documents are divided into splits:
/// by sort keys, then by place in the index (time, source, position), which runs like the first key.
///
/// The split and the document number come last. They decide only between two copies of a document that
/// was ingested twice, with other limits of splits.
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

    /// What a caller may know of these who may see a part of the documents only: that there are some, and why in general.
    /// Which they are, how many, and where in them something went wrong would tell of the other documents.
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

    /// What went wrong, in words.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Whether it was left out because a budget was used up; nothing is wrong with it.
    pub(crate) fn is_skipped(&self) -> bool {
        self.kind == kind_name(ErrorKind::Limit)
    }
}

/// The name of an error kind in answers.
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

/// Why there is no answer of a part of an index, or none at all, by the name of the error's kind: without a word of
/// where.
pub(crate) fn general_reason(kind: &str) -> &'static str {
    match kind {
        "limit" => "the time or the reads that the search may take were used up",
        "unavailable" => "the store could not be read, so try again",
        "data" => "the index is damaged, so tell those who keep it",
        "invalid" => "the request cannot be answered there",
        _ => "the search failed, so tell those who keep the index",
    }
}

/// Most bytes of a list of documents: a list of 100,000,000 documents, one in eight of which matches, is shorter.
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
    /// Sorted, at most as many as the request's window.
    pub(crate) hits: Vec<PartialHit>,
    /// Of all its splits together.
    pub(crate) aggregations: Option<Partial>,
    pub(crate) failed_splits: Vec<FailedSplit>,
    /// Which documents match, if the request is to list them.
    pub(crate) listed: Vec<ListedSplit>,
    /// Splits whose answer came from their heads alone.
    pub(crate) num_splits_from_head: u64,
    /// Splits whose answer came from the host's cache.
    pub(crate) num_splits_from_cache: u64,
    /// Splits that were left alone because there were hits enough without them: the number of hits is a lower bound.
    pub(crate) num_splits_not_needed: u64,
    /// Splits whose documents were looked at.
    pub(crate) num_splits_searched: u64,
    /// Documents that were looked at for fields that are not indexed.
    pub(crate) docs_scanned: u64,
    pub(crate) warmup_gaps: u64,
}
