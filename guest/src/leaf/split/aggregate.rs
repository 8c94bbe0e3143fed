//! The aggregations of a request over one split: the columns that they read, and their filters as queries
//! of our own.

use canter_aggregations::{Aggregations, BitSet, FromHead};
use canter_matching::Bits;

use super::times::Within;
use super::windows::Windows;
use crate::SearchError;
use crate::exchange::Interrupt;
use crate::query::{BuiltQuery, Needs, QueryNode};
use crate::request::{AskedAggregations, Question};
use crate::split::OpenSplit;

/// Returns the part of the aggregations that the head of a split answers, over the documents within a time filter, all
/// of which match. The part left to the columns may reach beyond the filter, where the time index leaves its ends open.
pub(in crate::leaf) fn said_by_head(
    split: &OpenSplit,
    aggregations: &Aggregations,
    within: &Within,
) -> FromHead {
    let sort_field = split.metadata.sort_field.as_deref();
    let Some((rollup, sort_field)) = split.rollup.as_ref().zip(sort_field) else {
        return FromHead::default();
    };
    let live = split.live_ranges(within.most());
    let num_docs = split.segment().max_doc();
    aggregations.from_head(rollup, sort_field, num_docs, &live, &within.least())
}

/// Builds the filters of aggregations for one split, by slot. Adds what they read: columns, and the documents
/// that filters scan.
///
/// # Errors
/// If a filter cannot be built for this split.
pub(in crate::leaf) fn build_filters(
    split: &OpenSplit,
    asked: &AskedAggregations,
    from_head: &FromHead,
    question: &Question,
    needs: &mut Needs,
) -> Result<Vec<BuiltQuery>, SearchError> {
    let sort_field = split.metadata.sort_field.as_deref();
    let times = sort_field.zip(split.time_index.as_ref());
    let fields = asked.parsed().fields(times, from_head);
    needs.columns(&split.mapper, fields.into_iter());
    let filters = asked.queries().map(|(filter, query)| {
        // Filters of objects are asked when the objects are read.
        let query = match filter.of_list {
            Some(_) => &QueryNode::Nothing,
            None => query,
        };
        let (fields, limits) = (&question.search_field, &question.limits);
        let built = split.build(query, fields, false, limits)?;
        needs.add(built.needs.clone());
        Ok(built)
    });
    filters.collect()
}

/// Returns the documents that a filter matches.
///
/// # Errors
/// Errors of tantivy; a read that missed.
pub(in crate::leaf) fn matching(
    split: &OpenSplit,
    filter: &BuiltQuery,
    interrupt: &Interrupt,
) -> tantivy::Result<BitSet> {
    let num_docs = split.segment().max_doc();
    let mut set = BitSet::new(num_docs);
    let mut windows = Windows::open(split, filter, 0..num_docs, interrupt)?;
    let mut found = Bits::default();
    while let Some(first) = windows.next(&mut found)? {
        set.insert_words(first / u64::BITS, found.words());
    }
    Ok(set)
}
