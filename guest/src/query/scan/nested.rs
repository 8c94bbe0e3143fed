//! A clause on the objects in a list of a document: it matches if one object meets the query inside of it.
//!
//! Inside, all leaves are clauses that are tested on an object as on a stored document; what combines them is
//! evaluated here.

use std::sync::Arc;

use canter_doc_mapper::DocMapper;
use tantivy::query::{AllQuery, BooleanQuery, EmptyQuery, Occur, Query};

use super::DocTerms;
use super::clause::Clause;
use super::scan_query::ord_of;
use crate::SearchError;

/// A clause on the objects at a path.
#[derive(Clone, Debug)]
pub(crate) struct NestedClause {
    path: String,
    query: Arc<dyn Query>,
    /// Leaves of the query, by their places in it.
    clauses: Vec<Clause>,
}

impl NestedClause {
    /// Creates a clause from a query whose leaves are these clauses.
    ///
    /// # Errors
    /// The query has a part that cannot be tested on an object.
    pub(in crate::query) fn new(
        path: &str,
        query: Box<dyn Query>,
        clauses: Vec<Clause>,
    ) -> Result<Self, SearchError> {
        let is_tested = |clause: &Clause| !matches!(clause, Clause::Ids(_));
        let nothing = vec![false; clauses.len()];
        let is_known = holds(query.as_ref(), &nothing).is_some();
        match is_known && clauses.iter().all(is_tested) {
            true => Ok(Self {
                path: path.to_owned(),
                query: Arc::from(query),
                clauses,
            }),
            false => Err(SearchError::invalid(format!(
                "nested: the query of path {path:?} has a clause that cannot be asked of single objects"
            ))),
        }
    }

    /// Returns the places of the matching objects among those of a document's text.
    pub(crate) fn matching(&self, mapper: &DocMapper, text: &str) -> Vec<usize> {
        let objects = mapper.objects_at(text, &self.path).into_iter().enumerate();
        let matching = objects.filter(|(_, object)| self.takes(mapper, object));
        matching.map(|(place, _)| place).collect()
    }

    /// Returns whether an object of a document's text matches.
    pub(crate) fn is_in(&self, mapper: &DocMapper, text: &str) -> bool {
        let mut objects = mapper.objects_at(text, &self.path).into_iter();
        objects.any(|object| self.takes(mapper, object))
    }

    /// Returns whether one object at the path matches.
    pub(crate) fn takes(&self, mapper: &DocMapper, object: &str) -> bool {
        let Some(object) = mapper.nested_object(&self.path, object) else {
            return false;
        };
        let stored = mapper.stored_object(&object);
        let clauses = self.clauses.iter();
        let truth: Vec<bool> = clauses
            .map(|clause| match clause {
                Clause::Field(clause) => {
                    let mut terms = DocTerms::new(mapper, &clause.field);
                    terms.read(mapper, &clause.field, &stored);
                    clause.is_in(&terms)
                }
                Clause::Nested(clause) => clause.is_in(mapper, object.json()),
                Clause::Ids(_) => false,
            })
            .collect();
        holds(self.query.as_ref(), &truth) == Some(true)
    }
}

/// Returns whether a query holds if its leaves do; `None` for one with unknown parts.
fn holds(query: &dyn Query, truth: &[bool]) -> Option<bool> {
    if query.is::<AllQuery>() {
        return Some(true);
    }
    if query.is::<EmptyQuery>() {
        return Some(false);
    }
    if let Some(ord) = ord_of(query) {
        return truth.get(ord).copied();
    }
    let query = query.downcast_ref::<BooleanQuery>()?;
    let (mut is_all, mut has_must, mut num_should, mut num_met) = (true, false, 0, 0);
    for (occur, part) in query.clauses() {
        let is_met = holds(part.as_ref(), truth)?;
        match occur {
            Occur::Must => {
                has_must = true;
                is_all &= is_met;
            }
            Occur::MustNot => is_all &= !is_met,
            Occur::Should => {
                num_should += 1;
                num_met += usize::from(is_met);
            }
        }
    }
    let least = query.get_minimum_number_should_match();
    let least = match has_must {
        true => least,
        false => least.max(1),
    };
    Some(is_all && num_met >= least && (has_must || num_should > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_holds_as_an_index_would_say() {
        let all = || -> Box<dyn Query> { Box::new(AllQuery) };
        let none = || -> Box<dyn Query> { Box::new(EmptyQuery) };
        let check = |clauses: Vec<(Occur, Box<dyn Query>)>, least: usize, expected: bool| {
            let query = BooleanQuery::with_minimum_required_clauses(clauses, least);
            assert_eq!(holds(&query, &[]), Some(expected), "{query:?}");
        };
        check(
            vec![(Occur::Must, all()), (Occur::MustNot, none())],
            0,
            true,
        );
        check(
            vec![(Occur::Must, all()), (Occur::MustNot, all())],
            0,
            false,
        );
        check(vec![(Occur::Must, all()), (Occur::Should, none())], 0, true);
        check(
            vec![(Occur::Should, none()), (Occur::Should, all())],
            1,
            true,
        );
        check(
            vec![(Occur::Should, none()), (Occur::Should, all())],
            2,
            false,
        );
        check(vec![(Occur::Should, none())], 0, false);
        check(vec![(Occur::MustNot, none())], 0, false);
    }
}
