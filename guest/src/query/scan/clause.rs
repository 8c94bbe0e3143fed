//! A clause of a query that is tested on a field of each document.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use canter_doc_mapper::ScannedField;
use canter_split_format::DocIdentity;
use tantivy::Term;

use super::{DocTerms, NestedClause};
use crate::query::build::TermAutomaton;
use crate::query::columns::{PlaceTest, SpanTest};
use crate::query::matching::{Condition, LeafTerms, count_near};

/// A clause that no index of a split answers.
#[derive(Clone, Debug)]
pub(crate) enum Clause {
    /// On a field that is not indexed.
    Field(FieldClause),
    /// On the objects in a list.
    Nested(Box<NestedClause>),
    /// The documents with these ascending identities.
    Ids(Vec<DocIdentity>),
}

impl Clause {
    /// Returns the clause on a field, for which documents must be read.
    pub(crate) fn of_field(&self) -> Option<&FieldClause> {
        match self {
            Self::Field(clause) => Some(clause),
            Self::Nested(_) | Self::Ids(_) => None,
        }
    }
}

/// A clause on a field that is not indexed.
#[derive(Clone, Debug)]
pub(crate) struct FieldClause {
    pub(crate) field: ScannedField,
    pub(in crate::query) wanted: Wanted,
}

/// The value that a clause looks for, as the same clause would in a dictionary.
#[derive(Clone, Debug)]
pub(in crate::query) enum Wanted {
    /// Any value.
    Value,
    /// A term.
    Term(Term),
    /// A term that is the code of a point, which passes a test.
    Place(PlaceTest),
    /// A term that is a range, which has a relation to the wanted one.
    Span(SpanTest),
    /// A term within bounds.
    Range(Bound<Term>, Bound<Term>),
    /// A term that an automaton accepts.
    Automaton(TermAutomaton),
    /// Terms at these positions, or within `slop` of them.
    Phrase {
        terms: Vec<(usize, Term)>,
        slop: u32,
    },
    /// Terms at positions that have a relation.
    Positional(Arc<Condition>),
    /// Terms at these positions, the last of which is a prefix.
    PhrasePrefix { terms: Vec<(usize, Term)> },
}

impl FieldClause {
    /// Returns whether a document has the wanted value among the terms of its field.
    pub(crate) fn is_in(&self, doc: &DocTerms) -> bool {
        self.wanted.is_in(doc)
    }
}

impl Wanted {
    /// Returns whether it is among these terms.
    pub(super) fn is_in(&self, doc: &DocTerms) -> bool {
        match self {
            Wanted::Value => doc.has_value(),
            Wanted::Place(test) => doc.iter().any(|(term, _)| {
                let code = <[u8; 8]>::try_from(term).map(u64::from_be_bytes);
                code.is_ok_and(|code| test.takes(code))
            }),
            Wanted::Span(test) => doc.iter().any(|(term, _)| test.takes(term)),
            Wanted::Term(wanted) => {
                let wanted = wanted.serialized_value_bytes();
                doc.iter().any(|(term, _)| term == wanted)
            }
            Wanted::Range(lower, upper) => {
                let lower = lower.as_ref().map(Term::serialized_value_bytes);
                let upper = upper.as_ref().map(Term::serialized_value_bytes);
                let range: (Bound<&[u8]>, Bound<&[u8]>) = (lower, upper);
                doc.iter()
                    .any(|(term, _)| RangeBounds::<[u8]>::contains::<[u8]>(&range, term))
            }
            Wanted::Automaton(automaton) => doc.iter().any(|(term, _)| automaton.takes(term)),
            Wanted::Phrase { terms, slop: 0 } => is_phrase(doc, terms, false),
            Wanted::Phrase { terms, slop } => are_near(doc, terms, *slop),
            Wanted::PhrasePrefix { terms } => is_phrase(doc, terms, true),
            Wanted::Positional(condition) => has_intervals(doc, condition),
        }
    }
}

/// Returns the beginnings of a phrase according to the occurrences of one of its words.
fn starts<'d>(
    doc: &'d DocTerms,
    (offset, wanted): &'d (usize, Term),
    is_prefix: bool,
) -> impl Iterator<Item = i64> + 'd {
    let (offset, wanted) = (*offset, wanted.serialized_value_bytes());
    let is_wanted = move |term: &[u8]| match is_prefix {
        true => term.starts_with(wanted),
        false => term == wanted,
    };
    let offset = i64::try_from(offset).unwrap_or(i64::MAX);
    let found = doc.iter().filter(move |(term, _)| is_wanted(term));
    found.map(move |(_, position)| i64::from(position) - offset)
}

fn is_phrase(doc: &DocTerms, terms: &[(usize, Term)], ends_in_prefix: bool) -> bool {
    let Some((last, others)) = terms.split_last() else {
        return false;
    };
    let mut possible: Vec<i64> = starts(doc, last, ends_in_prefix).collect();
    for term in others {
        if possible.is_empty() {
            return false;
        }
        let here: Vec<i64> = starts(doc, term, false).collect();
        possible.retain(|start| here.contains(start));
    }
    !possible.is_empty()
}

/// Returns whether words are at positions that meet a condition.
fn has_intervals(doc: &DocTerms, condition: &Condition) -> bool {
    let leaves = condition.leaves.iter().map(|leaf| {
        let takes = |term: &[u8]| match leaf {
            LeafTerms::Term(wanted) => wanted.serialized_value_bytes() == term,
            LeafTerms::Accepted(_, automaton) => automaton.takes(term),
        };
        let found = doc.iter().filter(|(term, _)| takes(term));
        let mut positions: Vec<u32> = found.map(|(_, position)| position).collect();
        canter_sorting::sort(&mut positions);
        positions.dedup();
        positions
    });
    let leaves: Vec<Vec<u32>> = leaves.collect();
    condition.is_met(&leaves)
}

/// Returns whether words are near each other.
fn are_near(doc: &DocTerms, terms: &[(usize, Term)], slop: u32) -> bool {
    let last = terms.iter().map(|(place, _)| *place).max().unwrap_or(0);
    let last = i64::try_from(last).unwrap_or(i64::MAX);
    // The end of the phrase, because positions before the beginning do not exist.
    let ends = terms.iter().map(|term| {
        let ends = starts(doc, term, false).map(|start| start.saturating_add(last));
        let mut ends: Vec<u32> = ends.filter_map(|end| u32::try_from(end).ok()).collect();
        canter_sorting::sort(&mut ends);
        ends
    });
    let ends: Vec<Vec<u32>> = ends.collect();
    let ends: Vec<&[u32]> = ends.iter().map(Vec::as_slice).collect();
    count_near(&ends, slop) > 0
}
