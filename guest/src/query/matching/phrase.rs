//! Phrases: words that are adjacent, or near enough.

use tantivy::Term;
use tantivy::query::{EnableScoring, Query, Weight};

use super::near::NearWeight;

/// A phrase.
#[derive(Clone, Debug)]
pub(in crate::query) struct PhraseOf {
    terms: Vec<(usize, Term)>,
    slop: u32,
}

impl PhraseOf {
    /// At least two terms of one field, each with its position in the phrase.
    pub(in crate::query) fn new(terms: Vec<(usize, Term)>, slop: u32) -> Self {
        Self { terms, slop }
    }

    /// Returns its terms.
    pub(in crate::query) fn terms(&self) -> Vec<Term> {
        self.terms.iter().map(|(_, term)| term.clone()).collect()
    }

    /// Returns its terms, each with the number of positions after it, if none of them may move.
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
        Ok(Box::new(NearWeight::new(&self.terms, self.slop, scoring)?))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        for (_, term) in &self.terms {
            visitor(term, true);
        }
    }
}
