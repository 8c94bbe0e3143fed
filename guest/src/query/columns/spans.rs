//! The documents with a range that has a relation to a wanted one, by the terms of range fields.
//!
//! A term is a whole range, and terms are in the order of their beginnings: those are read that begin where a
//! match can, and each decides by itself.

use std::ops::Bound;

use canter_doc_mapper::config::RangeOf;
use canter_doc_mapper::{ResolvedField, Span};
use tantivy::query::{
    BitSetDocSet, ConstScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{DocId, Score, SegmentReader, Term};

use super::passing::{explained, with_terms};
use crate::query::needs::TermRange;
use crate::query::tree::SpanRelation;

/// Test for ranges that have a relation to a wanted one.
#[derive(Clone, Copy, Debug)]
pub(in crate::query) struct SpanTest {
    pub(in crate::query) relation: SpanRelation,
    pub(in crate::query) wanted: Span,
}

impl SpanTest {
    /// Returns whether the range of a term has the relation.
    pub(in crate::query) fn takes(&self, term: &[u8]) -> bool {
        let wanted = self.wanted;
        Span::decode(term).is_some_and(|own| match self.relation {
            SpanRelation::Intersects => own.first <= wanted.last && own.last >= wanted.first,
            SpanRelation::Contains => own.first <= wanted.first && own.last >= wanted.last,
            SpanRelation::Within => own.first >= wanted.first && own.last <= wanted.last,
        })
    }

    /// Returns the terms among which those are that can have the relation.
    pub(in crate::query) fn terms(&self, field: &ResolvedField<'_>, of: RangeOf) -> TermRange {
        let (first, last) = (self.wanted.first, self.wanted.last);
        let first_term = match self.relation {
            SpanRelation::Within => first,
            SpanRelation::Intersects | SpanRelation::Contains => of.limits().first,
        };
        let last_term = match self.relation {
            SpanRelation::Contains => first,
            SpanRelation::Intersects | SpanRelation::Within => last,
        };
        let term = |bytes: Vec<u8>| Bound::Included(Term::from_field_bytes(field.field, &bytes));
        TermRange {
            field: field.field,
            lower: term(of.least_term(first_term)),
            upper: term(of.greatest_term(last_term)),
            positions: false,
        }
    }
}

/// Matches documents with a range that has the relation.
#[derive(Clone, Debug)]
pub(in crate::query) struct SpanQuery {
    pub(in crate::query) test: SpanTest,
    pub(in crate::query) terms: TermRange,
}

impl Query for SpanQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for SpanQuery {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let mut found = tantivy_common::BitSet::with_max_value(reader.max_doc());
        let bytes = |bound: &Bound<Term>| match bound {
            Bound::Included(term) | Bound::Excluded(term) => term.serialized_value_bytes().to_vec(),
            Bound::Unbounded => Vec::new(),
        };
        let (first, last) = (bytes(&self.terms.lower), bytes(&self.terms.upper));
        let range = (first.as_slice(), Some(last.as_slice()));
        let mut takes = |term: &[u8]| self.test.takes(term);
        with_terms(reader, self.terms.field, range, &mut takes, &mut found)?;
        let docs = BitSetDocSet::from(found);
        Ok(Box::new(ConstScorer::new(docs, boost)))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        explained(self.scorer(reader, 1.0)?, doc, "a range with the relation")
    }
}
