//! Queries for words of which one place has several terms.

use canter_doc_mapper::ResolvedField;
use tantivy::query::Query;
use tantivy::schema::IndexRecordOption;

use super::analyzers::of_grams;
use super::edges::{Edge, groups_of, has_ways, ways_through};
use crate::SearchError;
use crate::query::build::builder::{Builder, all_of, any_of};
use crate::query::build::literal::{find_term, words};
use crate::query::tree::Literal;

impl Builder<'_> {
    /// Builds a query for each group of terms: a term, or one of several ways.
    pub(in crate::query::build) fn groups(
        &mut self,
        name: &str,
        field: &ResolvedField<'_>,
        edges: Vec<Edge>,
        record: IndexRecordOption,
    ) -> Result<Vec<Box<dyn Query>>, SearchError> {
        let phrase = Literal {
            field: None,
            phrase: String::new(),
            is_quoted: true,
            slop: 0,
            is_prefix: false,
        };
        let mut queries = Vec::new();
        for group in groups_of(edges) {
            queries.push(self.one_of_ways(name, field, &group, &phrase, record)?);
        }
        Ok(queries)
    }

    /// Builds a query for one of the ways through terms, each of which is a phrase.
    fn one_of_ways(
        &mut self,
        name: &str,
        field: &ResolvedField<'_>,
        edges: &[Edge],
        phrase: &Literal,
        record: IndexRecordOption,
    ) -> Result<Box<dyn Query>, SearchError> {
        if !has_ways(edges)
            && edges.first().map(|edge| edge.place()) == edges.last().map(|edge| edge.place())
            && !phrase.is_prefix
        {
            let mut queries = Vec::with_capacity(edges.len());
            for edge in edges {
                self.spend_clause()?;
                queries.push(find_term(self, field, edge.term()));
            }
            return Ok(any_of(queries));
        }
        let ways = ways_through(edges).ok_or_else(|| of_grams(name))?;
        let mut queries = Vec::with_capacity(ways.len());
        for way in ways {
            self.spend_clause()?;
            queries.push(words(self, name, field, phrase, way, record)?);
        }
        Ok(any_of(queries))
    }

    /// Builds a query for a literal whose words may have several terms each.
    pub(in crate::query::build) fn of_alternatives(
        &mut self,
        name: &str,
        field: &ResolvedField<'_>,
        edges: Vec<Edge>,
        literal: &Literal,
        record: IndexRecordOption,
    ) -> Result<Box<dyn Query>, SearchError> {
        match literal.is_quoted {
            true => self.one_of_ways(name, field, &edges, literal, record),
            false => Ok(all_of(self.groups(name, field, edges, record)?)),
        }
    }
}
