//! Automata that accept terms by how they begin, for completions.

use std::sync::Arc;

use super::{NearWord, TermAutomaton};
use crate::SearchError;
use crate::query::build::wildcard::{ANY_TEXT, compiled, literal_expression};

impl TermAutomaton {
    /// Accepts terms that begin with a text.
    ///
    /// # Errors
    /// If the text is too long.
    pub(crate) fn begins_with(text: &str) -> Result<Self, SearchError> {
        Self::begins_like(&literal_expression(text))
    }

    /// Accepts terms whose beginning an expression matches.
    ///
    /// # Errors
    /// If the expression is invalid or too large.
    pub(crate) fn begins_like(expression: &str) -> Result<Self, SearchError> {
        compiled(&format!("({expression}){ANY_TEXT}")).map(Self::Regex)
    }

    /// Accepts terms that begin with a text whose first `exact` characters are as given, and the rest within an edit
    /// distance of `edits`, at most 2.
    ///
    /// # Errors
    /// If `edits` is larger.
    pub(crate) fn begins_near(
        text: &str,
        exact: usize,
        edits: u8,
        has_transpositions: bool,
    ) -> Result<Self, SearchError> {
        let end = text.char_indices().nth(exact);
        let end = end.map_or(text.len(), |(end, _)| end);
        let (start, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        let start = start.as_bytes().to_vec();
        let near = NearWord::beginning(start, rest, edits, has_transpositions)?;
        Ok(Self::Near(Arc::new(near)))
    }
}
