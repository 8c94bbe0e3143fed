//! Wildcards (`wor*`, `w?rd`) and regular expressions (`/wor.*/`), both automata over a dictionary.

use std::sync::Arc;

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::query::{Query, RegexQuery};
use tantivy_fst::Regex;

use super::build::Builder;
use super::literal::resolve;
use super::value::json_base_term;
use crate::SearchError;

/// Whether a bare word holds a wildcard.
pub(super) fn has_wildcard(word: &str) -> bool {
    word.contains(['*', '?'])
}

pub(super) fn build_wildcard(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    tokenizer: &str,
    word: &str,
) -> Result<Box<dyn Query>, SearchError> {
    // The pattern meets the dictionary's terms, which went through the tokenizer's lowercasing.
    let word = match tokenizer {
        "default" | "lowercase" | "en_stem" => word.to_lowercase(),
        _ => word.to_owned(),
    };
    let mut pattern = String::new();
    for character in word.chars() {
        match character {
            '*' => pattern.push_str("(.|\n)*"),
            '?' => pattern.push_str("(.|\n)"),
            other => push_escaped(&mut pattern, other),
        }
    }
    automaton(builder, field, &pattern)
}

pub(super) fn build_regex(
    builder: &mut Builder<'_>,
    name: &str,
    pattern: &str,
) -> Result<Box<dyn Query>, SearchError> {
    let field = resolve(builder.mapper, name)?;
    if !field.indexed || !matches!(field.kind, FieldKind::Text(_) | FieldKind::Json(_)) {
        return Err(SearchError::invalid(format!(
            "the field {name:?} is no indexed text, so a regular expression cannot search it"
        )));
    }
    automaton(builder, &field, &format!("({pattern})"))
}

fn automaton(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    pattern: &str,
) -> Result<Box<dyn Query>, SearchError> {
    let pattern = match field.kind {
        FieldKind::Json(json) => {
            // Terms of a JSON field start with their path and type.
            let mut base = json_base_term(field, json);
            base.append_type_and_str("");
            let path = String::from_utf8_lossy(base.serialized_value_bytes()).into_owned();
            let mut full = String::new();
            for character in path.chars() {
                push_escaped(&mut full, character);
            }
            full + pattern
        }
        _ => pattern.to_owned(),
    };
    let regex = Regex::new(&pattern).map_err(|error| {
        SearchError::invalid(format!("the pattern {pattern:?} cannot be used: {error}"))
    })?;
    let regex = Arc::new(regex);
    builder
        .needs
        .automata
        .push((field.field, Arc::clone(&regex)));
    Ok(Box::new(RegexQuery::from_regex(regex, field.field)))
}

fn push_escaped(pattern: &mut String, character: char) {
    if character.is_ascii_punctuation() {
        pattern.push('\\');
    }
    pattern.push(character);
}
