//! Words that stand beside each other, as tantivy's query that still says which words stand where.

use tantivy::Term;
use tantivy::query::{EnableScoring, PhraseQuery, Query, Weight};

use super::near::NearWeight;

/// A phrase. Where it is scored, and where two words may move, it is tantivy's.
#[derive(Clone, Debug)]
pub(in crate::query) struct PhraseOf {
    query: PhraseQuery,
    terms: Vec<(usize, Term)>,
    slop: u32,
}

impl PhraseOf {
    /// At least two terms of one field, each with its place in the phrase.
    pub(in crate::query) fn new(terms: Vec<(usize, Term)>, slop: u32) -> Self {
        Self {
            query: PhraseQuery::new_with_offset_and_slop(terms.clone(), slop),
            terms,
            slop,
        }
    }

    /// Its terms.
    pub(in crate::query) fn terms(&self) -> Vec<Term> {
        self.query.phrase_terms()
    }

    /// Its terms, each with how many places come behind it, if none of them may move.
    pub(super) fn exact(&self) -> Option<Vec<(&Term, u32)>> {
        let last = self.terms.iter().map(|(place, _)| *place).max()?;
        let terms = self.terms.iter().map(|(place, term)| {
            let behind = u32::try_from(last.checked_sub(*place)?).ok()?;
            Some((term, behind))
        });
        terms.collect::<Option<Vec<_>>>().filter(|_| self.slop == 0)
    }
}

impl Query for PhraseOf {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        match self.slop > 0 && self.terms.len() > 2 {
            true => Ok(Box::new(NearWeight::new(&self.terms, self.slop, scoring)?)),
            false => self.query.weight(scoring),
        }
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}
