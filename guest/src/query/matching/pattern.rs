//! Terms that an automaton takes, as tantivy's query that still says which automaton.

use std::sync::Arc;

use tantivy::Term;
use tantivy::query::{EnableScoring, Query, RegexQuery, Weight};
use tantivy::schema::Field;
use tantivy_fst::Regex;

/// The terms of a field that an automaton takes. Where it is scored it is tantivy's.
#[derive(Clone, Debug)]
pub(in crate::query) struct PatternOf {
    query: RegexQuery,
    pub(super) regex: Arc<Regex>,
    pub(super) field: Field,
}

impl PatternOf {
    pub(in crate::query) fn new(regex: Arc<Regex>, field: Field) -> Self {
        Self {
            query: RegexQuery::from_regex(Arc::clone(&regex), field),
            regex,
            field,
        }
    }
}

impl Query for PatternOf {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        self.query.weight(scoring)
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.query.query_terms(visitor);
    }
}
