//! Co-occurrence of terms in a split's head: pairs of frequent terms that never occur together.

use canter_split_format::TermPlace;
use tantivy::Term;

use super::OpenSplit;
use crate::query::RequiredTerms;

impl OpenSplit {
    /// Returns whether a document may have all required terms, according to the table of frequent terms. It
    /// takes no read: the dictionary blocks of these terms are in the head.
    pub(crate) fn may_have_together(&self, required: &RequiredTerms) -> bool {
        let Some(table) = &self.co_occurrence else {
            return true;
        };
        let terms = required.terms().into_iter();
        let places: Vec<(&Term, TermPlace)> = terms
            .filter_map(|term| Some((term, self.place_of(term)?)))
            .collect();
        // Other terms are in blocks that are not resident, which nothing waits for.
        self.body.take_wanted();
        if places.len() < 2 {
            return true;
        }
        let place_of = |wanted: &Term| {
            let found = places.iter().find(|(term, _)| *term == wanted);
            found.map(|(_, place)| *place)
        };
        required.may_be_met(&|one, other| match (place_of(one), place_of(other)) {
            (Some(one), Some(other)) => table.never_meet(one, other),
            _ => false,
        })
    }

    /// Returns the place of a term, if it is known without a read.
    fn place_of(&self, term: &Term) -> Option<TermPlace> {
        let inverted_index = self.segment().inverted_index(term.field()).ok()?;
        let term_ord = inverted_index
            .terms()
            .term_ord(term.serialized_value_bytes());
        Some(TermPlace {
            field: term.field().field_id(),
            term_ord: term_ord.ok()??,
        })
    }
}
