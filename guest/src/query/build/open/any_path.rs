//! Words at any path of a JSON field whose paths no column tells: its dictionary is searched for their values.
//!
//! A phrase, or words that must all be in one field, would need the paths, so that such a field is left out.

use std::sync::Arc;

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::Term;
use tantivy::query::Query;
use tantivy_common::json_path_writer::JSON_END_OF_PATH;

use crate::SearchError;
use crate::query::build::builder::{Builder, find_accepted};
use crate::query::build::sets::{AtAnyPath, TermAutomaton};
use crate::query::build::value::{json_base_term, json_value_term};
use crate::query::build::wildcard::{BareWord, Pattern, any_character, compiled, expression_of};
use crate::query::build::words::{edges_of, terms_of};
use crate::query::tree::{Leaf, PatternKind, TextLeaf, Words};

/// Expression for a path and the type of a text behind it.
const ANY_PATH_OF_TEXT: &str = "[^\u{0}]*\u{0}s";

impl Builder<'_> {
    /// Returns the JSON fields, mapped or not, whose paths no column tells.
    pub(super) fn fields_without_paths(&self) -> Vec<String> {
        let is_one = |field: &ResolvedField<'_>| {
            matches!(field.kind, FieldKind::Json(_)) && field.indexed && !field.is_fast()
        };
        let mapped = self.mapper.fields().into_iter().filter(is_one);
        let mut names: Vec<String> = mapped.map(|field| field.path()).collect();
        let dynamic = self.mapper.dynamic_field().is_some();
        let any_key = self.mapper.resolve(ANY_KEY).filter(|_| dynamic);
        if any_key.is_some_and(|field| field.is_dynamic && is_one(&field)) {
            names.push(String::new());
        }
        names
    }

    /// Builds a query for a condition on an object of any shape itself: on any of its values, as in the root of
    /// Elasticsearch's `flattened`. Returns `None` if the leaf is about something else.
    ///
    /// # Errors
    /// As [`Self::at_any_path`].
    pub(in crate::query::build) fn any_value(
        &mut self,
        leaf: &Leaf,
    ) -> Result<Option<Box<dyn Query>>, SearchError> {
        let Some(name) = leaf.field().filter(|_| !self.of_objects) else {
            return Ok(None);
        };
        let is_object = self.mapper.resolve(name).is_some_and(|field| {
            let is_root = field.json_path.is_empty() && !field.is_dynamic;
            is_root && field.indexed && matches!(field.kind, FieldKind::Json(_))
        });
        match is_object {
            true => self.at_any_path(name, leaf),
            false => Ok(None),
        }
    }

    /// Builds a query for a condition at any path of a JSON field, of which the empty name is the field of all unmapped
    /// values. Returns `None` if that cannot be told.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub(super) fn at_any_path(
        &mut self,
        name: &str,
        leaf: &Leaf,
    ) -> Result<Option<Box<dyn Query>>, SearchError> {
        let resolved = match name {
            "" => self.mapper.resolve(ANY_KEY),
            name => self.mapper.resolve(name),
        };
        let Some(field) = resolved.filter(|field| !field.is_absent) else {
            return Ok(None);
        };
        let FieldKind::Json(json) = field.kind else {
            return Ok(None);
        };
        let automaton = match wanted(leaf, &field)? {
            Some(Wanted::Pattern(expression)) => {
                self.spend_pattern()?;
                let regex = compiled(&format!("{ANY_PATH_OF_TEXT}{expression}"))?;
                TermAutomaton::Regex(regex)
            }
            Some(Wanted::Text(text, is_any)) => {
                let terms = edges_of(self.mapper, &json.tokenizer, text, &|token| {
                    let mut term = json_base_term(&field, json);
                    term.append_type_and_str(token);
                    term
                })?;
                if terms.len() > 1 && !is_any {
                    return Ok(None);
                }
                let terms = terms_of(terms).into_iter().map(|(_, term)| term);
                let terms = terms.chain(json_value_term(&field, json, text));
                let values = AtAnyPath::new(terms.filter_map(|term| value_of(&term)));
                TermAutomaton::AtAnyPath(Arc::new(values))
            }
            Some(Wanted::Exact(texts)) => {
                let mut terms = Vec::new();
                for text in texts {
                    let mut term = json_base_term(&field, json);
                    term.append_type_and_str(text);
                    terms.push(term);
                    terms.extend(json_value_term(&field, json, text));
                }
                let values = AtAnyPath::new(terms.iter().filter_map(value_of));
                TermAutomaton::AtAnyPath(Arc::new(values))
            }
            None => return Ok(None),
        };
        Ok(Some(find_accepted(self, field.field, automaton)))
    }
}

/// A key that no mapping names, to find the field of unmapped values.
const ANY_KEY: &str = "_dynamic.any";

/// A condition that needs no path.
enum Wanted<'l> {
    Pattern(String),
    /// A text, and whether any of its words is enough.
    Text(&'l str, bool),
    /// One of these values.
    Exact(Vec<&'l str>),
}

fn wanted<'l>(
    leaf: &'l Leaf,
    field: &ResolvedField<'_>,
) -> Result<Option<Wanted<'l>>, SearchError> {
    Ok(match leaf {
        Leaf::Text(TextLeaf::Literal(literal)) if literal.is_prefix => None,
        Leaf::Text(TextLeaf::Literal(literal)) if literal.is_quoted => {
            Some(Wanted::Text(&literal.phrase, false))
        }
        Leaf::Text(TextLeaf::Literal(literal)) => Some(match BareWord::of(&literal.phrase) {
            BareWord::Text(_) => Wanted::Text(&literal.phrase, false),
            BareWord::Pattern(pattern) => Wanted::Pattern(pattern.expression(field.letters)),
        }),
        Leaf::Text(TextLeaf::Regex { pattern, .. }) => {
            Some(Wanted::Pattern(any_character(pattern)?))
        }
        Leaf::Match(matched) if matched.fuzziness.is_none() => match &matched.words {
            Words::Some(None) | Words::Values => Some(Wanted::Text(&matched.text, true)),
            Words::All | Words::Some(_) | Words::Phrase { .. } => {
                Some(Wanted::Text(&matched.text, false))
            }
            Words::PhrasePrefix | Words::Prefix { .. } => None,
        },
        Leaf::Term {
            value,
            case_insensitive: false,
            ..
        } => Some(Wanted::Exact(vec![&value.text])),
        Leaf::Terms { values, .. } => {
            let values = values.iter();
            Some(Wanted::Exact(values.map(|value| &*value.text).collect()))
        }
        Leaf::Pattern {
            kind: PatternKind::Wildcard,
            pattern,
            case_insensitive,
            ..
        } => {
            let expression = Pattern::of_lucene(pattern).expression(field.letters);
            Some(Wanted::Pattern(expression_of(
                &expression,
                *case_insensitive,
            )))
        }
        _ => None,
    })
}

/// Returns what stands behind the path in a term.
fn value_of(term: &Term) -> Option<Vec<u8>> {
    let bytes = term.serialized_value_bytes();
    let end = bytes.iter().position(|byte| *byte == JSON_END_OF_PATH)?;
    bytes.get(end + 1..).map(<[u8]>::to_vec)
}
