//! The passages of a document, as it was sent, by field.

use std::collections::BTreeMap;

use canter_names::matches_pattern;

use super::passages::Highlighter;
use crate::SearchError;
use crate::query::{BuiltQuery, QueryNode};
use crate::request::{Highlight, Question};
use crate::root::elastic::fields::texts_of;
use crate::root::elastic::shows_passages;
use crate::split::OpenSplit;

/// Highlighters of the fields of documents in one split.
pub(in crate::root) struct Highlighters<'a> {
    highlight: &'a Highlight,
    built: BuiltQuery,
    by_name: BTreeMap<String, Option<Highlighter<'a>>>,
    /// Queries of single fields, by the place of a field in the request.
    of_fields: BTreeMap<usize, BuiltQuery>,
}

impl<'a> Highlighters<'a> {
    /// `built` is the query whose words are marked.
    pub(in crate::root) fn new(highlight: &'a Highlight, built: BuiltQuery) -> Self {
        Self {
            highlight,
            built,
            by_name: BTreeMap::new(),
            of_fields: BTreeMap::new(),
        }
    }

    /// Creates highlighters for the words of a query.
    ///
    /// # Errors
    /// If the query cannot be built for this split.
    pub(in crate::root) fn of_query(
        highlight: &'a Highlight,
        query: &QueryNode,
        split: &OpenSplit,
        question: &Question,
    ) -> Result<Self, SearchError> {
        let (fields, limits) = (&question.search_field, &question.limits);
        let built = split.build(query, fields, true, limits)?;
        Ok(Self::new(highlight, built))
    }

    /// Returns the passages of a document, by field.
    ///
    /// # Errors
    /// If a query of a field cannot be built for this split.
    pub(in crate::root) fn passages(
        &mut self,
        split: &OpenSplit,
        json: &str,
        question: &Question,
    ) -> Result<Vec<(String, Vec<String>)>, SearchError> {
        let names = self.highlight.fields.iter();
        let names: Vec<&str> = names.map(|(name, _)| name.as_str()).collect();
        let mut found = Vec::new();
        for (name, values) in texts_of(json, &names, &split.mapper)? {
            if !self.by_name.contains_key(&name) {
                let highlighter = self.highlighter(&name, split, question)?;
                self.by_name.insert(name.clone(), highlighter);
            }
            if let Some(Some(highlighter)) = self.by_name.get(&name) {
                let texts = values.as_array().into_iter().flatten();
                let texts: Vec<&str> = texts.filter_map(|value| value.as_str()).collect();
                highlighter.check_lengths(&name, &texts, &split.mapper)?;
                found.push((name, highlighter.passages(&texts)));
            }
        }
        Ok(found)
    }

    /// Returns the highlighter of a field, if it has texts.
    fn highlighter(
        &mut self,
        name: &str,
        split: &OpenSplit,
        question: &Question,
    ) -> Result<Option<Highlighter<'a>>, SearchError> {
        let mapper = &split.mapper;
        if !shows_passages(name, mapper) {
            return Ok(None);
        }
        let mut fields = self.highlight.fields.iter().enumerate();
        let wanted = fields.find(|(_, (pattern, _))| matches_pattern(pattern, name));
        let Some((place, (_, marks))) = wanted else {
            return Ok(None);
        };
        let Some(field) = mapper.whole_values(name).or_else(|| mapper.resolve(name)) else {
            return Ok(None);
        };
        let built = match &marks.query {
            None => &self.built,
            Some(query) => {
                let (names, limits) = (&question.search_field, &question.limits);
                let built = split.build(query, names, true, limits)?;
                &*self.of_fields.entry(place).or_insert(built)
            }
        };
        Ok(Highlighter::new(&field, marks, built, mapper))
    }
}
