//! Large sets of terms as one clause: sorted, and merged with the dictionary once, instead of one lookup for each term.

use std::collections::BTreeMap;
use std::sync::Arc;

use tantivy::Term;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::Field;

use super::automaton::{SortedTerms, TermAutomaton};
use crate::SearchError;
use crate::query::build::builder::{Builder, any_of, find_accepted};

/// Number of terms up to which each is looked up, so that splits can be left out that lack them.
const MAX_LOOKED_UP: usize = 64;

impl Builder<'_> {
    /// Returns the union of the queries that `build` makes, without scores. Many terms of a field become one set; each
    /// other query counts as a clause.
    ///
    /// # Errors
    /// As `build`, or if there are too many other queries.
    pub(in crate::query::build) fn any_of_terms(
        &mut self,
        build: impl FnOnce(&mut Self) -> Result<Vec<Box<dyn Query>>, SearchError>,
    ) -> Result<Box<dyn Query>, SearchError> {
        let before = std::mem::take(&mut self.needs.terms);
        let built = build(self);
        let terms_of_these = std::mem::replace(&mut self.needs.terms, before);
        let (terms, mut others) = divided(built?);
        if terms.len() <= MAX_LOOKED_UP {
            for (term, positions) in &terms_of_these {
                self.needs.term(term, *positions);
            }
            others.extend(terms.into_iter().map(|(_, query)| query));
        } else {
            let mut of_fields: BTreeMap<Field, Vec<Vec<u8>>> = BTreeMap::new();
            for (term, _) in terms {
                let of_field = of_fields.entry(term.field()).or_default();
                of_field.push(term.serialized_value_bytes().to_vec());
            }
            for (term, positions) in &terms_of_these {
                let is_in_set = of_fields.contains_key(&term.field()) && !positions;
                if !is_in_set {
                    self.needs.term(term, *positions);
                }
            }
            for _ in &others {
                self.spend_clause()?;
            }
            for (field, terms) in of_fields {
                let terms = SortedTerms::new(terms.into_iter());
                let automaton = TermAutomaton::OneOf(Arc::new(terms));
                others.push(find_accepted(self, field, automaton));
            }
        }
        Ok(any_of(others))
    }
}

/// A query for one term.
type OfTerm = (Term, Box<dyn Query>);

/// Divides alternatives into those for one term, and the others.
fn divided(queries: Vec<Box<dyn Query>>) -> (Vec<OfTerm>, Vec<Box<dyn Query>>) {
    let (mut terms, mut others) = (Vec::new(), Vec::new());
    let mut left = queries;
    left.reverse();
    while let Some(query) = left.pop() {
        if let Some(of_term) = query.downcast_ref::<TermQuery>() {
            terms.push((of_term.term().clone(), query));
        } else if let Some(alternatives) = query.downcast_ref::<BooleanQuery>()
            && is_union(alternatives)
        {
            let clauses = alternatives.clauses().iter().rev();
            left.extend(clauses.map(|(_, query)| query.box_clone()));
        } else {
            others.push(query);
        }
    }
    (terms, others)
}

fn is_union(query: &BooleanQuery) -> bool {
    let mut clauses = query.clauses().iter();
    query.get_minimum_number_should_match() == 1
        && clauses.all(|(occur, _)| *occur == Occur::Should)
}
