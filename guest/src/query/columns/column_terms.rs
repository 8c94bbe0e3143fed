//! The documents with a text that an automaton takes, by the dictionary of a column.

use std::ops::RangeInclusive;

use canter_aggregations::{BitSet, FullColumn};
use tantivy::columnar::{Column, Dictionary, DynamicColumn};
use tantivy::query::{ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, Score, SegmentReader, TantivyError};
use tantivy_fst::Automaton;

use super::column_query::{full_scorer, scorer};
use super::passing::{Passing, explained};
use crate::query::build::TermAutomaton;

/// Matches documents that have a text in the columns of a fast field that an automaton takes.
#[derive(Clone, Debug)]
pub(in crate::query) struct ColumnTerms {
    column: String,
    automaton: TermAutomaton,
}

impl ColumnTerms {
    /// `column` is the name of a fast field, as warmed up.
    pub(in crate::query) fn new(column: String, automaton: TermAutomaton) -> Self {
        Self { column, automaton }
    }

    /// The ordinals of the terms that the automaton takes, ascending.
    fn ordinals(&self, dictionary: &Dictionary) -> tantivy::Result<Vec<u64>> {
        match &self.automaton {
            TermAutomaton::Regex(regex) => ordinals(dictionary, regex.as_ref()),
            TermAutomaton::Near(near) => ordinals(dictionary, near.as_ref()),
            TermAutomaton::OneOf(terms) => ordinals(dictionary, terms.as_ref()),
            TermAutomaton::AtAnyPath(terms) => ordinals(dictionary, terms.as_ref()),
            TermAutomaton::InValues(values) => {
                let mut takes = values.test();
                let mut ordinals = Vec::new();
                let mut terms = dictionary.range().into_stream()?;
                while terms.advance() {
                    if takes(terms.key()) {
                        ordinals.push(terms.term_ord());
                    }
                }
                Ok(ordinals)
            }
        }
    }
}

fn ordinals<A: Automaton>(dictionary: &Dictionary, automaton: &A) -> tantivy::Result<Vec<u64>>
where
    A::State: Clone,
{
    let mut ordinals = Vec::new();
    let mut terms = dictionary.search(automaton).into_stream()?;
    while terms.advance() {
        ordinals.push(terms.term_ord());
    }
    Ok(ordinals)
}

impl Query for ColumnTerms {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for ColumnTerms {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        for handle in reader.fast_fields().dynamic_column_handles(&self.column)? {
            let DynamicColumn::Str(column) = handle.open()? else {
                continue;
            };
            let ordinals = self.ordinals(column.dictionary())?;
            let (Some(first), Some(last)) = (ordinals.first(), ordinals.last()) else {
                return Ok(Box::new(EmptyScorer));
            };
            let num_between = usize::try_from(last.saturating_sub(*first));
            if num_between.is_ok_and(|between| between < ordinals.len()) {
                // A run of terms, as of a prefix.
                return one_run(&handle, column.ords(), *first..=*last, boost);
            }
            let num_terms = column.num_terms();
            let docs = chosen(column.ords().clone(), &ordinals, num_terms)?;
            return Ok(Box::new(ConstScorer::new(docs, boost)));
        }
        Ok(Box::new(EmptyScorer))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "a text of this form")
    }
}

fn one_run(
    handle: &tantivy::columnar::DynamicColumnHandle,
    column: &Column<u64>,
    run: RangeInclusive<u64>,
    boost: Score,
) -> tantivy::Result<Box<dyn Scorer>> {
    match FullColumn::open(handle)? {
        Some(column) => full_scorer(column, Some(run), boost),
        None => Ok(scorer(column.clone(), Some(run), boost)),
    }
}

/// The documents of a column with one of some ordinals.
fn chosen(
    column: Column<u64>,
    ordinals: &[u64],
    num_terms: usize,
) -> tantivy::Result<Passing<impl Fn(u64) -> bool + use<>>> {
    let too_many = || TantivyError::InternalError("a dictionary is too large".to_owned());
    let mut set = BitSet::new(u32::try_from(num_terms).map_err(|_| too_many())?);
    for ordinal in ordinals {
        set.insert(u32::try_from(*ordinal).map_err(|_| too_many())?);
    }
    let is_chosen =
        move |ordinal| u32::try_from(ordinal).is_ok_and(|ordinal| set.contains(ordinal));
    Ok(Passing::new(column, is_chosen))
}
