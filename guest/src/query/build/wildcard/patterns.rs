//! Wildcards (`wor*`, `w?rd`) and regular expressions (`/wor.*/`), both automata over a dictionary.

use canter_doc_mapper::tokenizers::{Extent, Letters};
use canter_doc_mapper::{FieldKind, ResolvedField, ScannedField, check_classes};
use tantivy::query::{EmptyQuery, Query};

use super::compiled::compiled;
use crate::SearchError;
use crate::query::build::builder::{Builder, find_accepted, has_nothing};
use crate::query::build::sets::TermAutomaton;
use crate::query::build::value::json_base_term;
use crate::query::build::whole_values::whole_values_like;
use crate::query::scan::Wanted;

/// Expression for any number of characters.
pub(crate) const ANY_TEXT: &str = "(.|\n)*";

/// A part of a bare word.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Literal(char),
    /// `?`
    AnyCharacter,
    /// `*`
    AnyText,
}

/// Returns the parts of a bare word: `*` and `?` are wildcards unless an odd number of backslashes precedes them, and
/// half of those backslashes are literal. A backslash before anything else is literal.
fn parts(word: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut num_backslashes = 0_usize;
    for character in word.chars() {
        let is_wildcard = matches!(character, '*' | '?');
        if character == '\\' {
            num_backslashes += 1;
            continue;
        }
        let is_escaped = is_wildcard && num_backslashes % 2 == 1;
        let num_literal = match is_wildcard {
            true => num_backslashes / 2,
            false => num_backslashes,
        };
        parts.extend(std::iter::repeat_n(Part::Literal('\\'), num_literal));
        num_backslashes = 0;
        parts.push(match character {
            // Repeated stars are equivalent to one.
            '*' if !is_escaped && parts.last() == Some(&Part::AnyText) => continue,
            '*' if !is_escaped => Part::AnyText,
            '?' if !is_escaped => Part::AnyCharacter,
            literal => Part::Literal(literal),
        });
    }
    parts.extend(std::iter::repeat_n(Part::Literal('\\'), num_backslashes));
    parts
}

/// The meaning of a bare word: a pattern, or text whose wildcards were all escaped.
#[derive(Debug, PartialEq)]
pub(crate) enum BareWord {
    Text(String),
    Pattern(Pattern),
}

/// A bare word with wildcards.
#[derive(Debug, PartialEq)]
pub(crate) struct Pattern(Vec<Part>);

impl BareWord {
    pub(crate) fn of(word: &str) -> Self {
        let parts = parts(word);
        let literals = parts.iter().map(|part| match part {
            Part::Literal(character) => Some(*character),
            Part::AnyCharacter | Part::AnyText => None,
        });
        match literals.collect::<Option<String>>() {
            Some(text) => Self::Text(text),
            None => Self::Pattern(Pattern(parts)),
        }
    }
}

impl Pattern {
    /// Parses a pattern in Lucene's syntax: a backslash makes the character after it literal, whatever it is.
    pub(crate) fn of_lucene(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            parts.push(match character {
                '*' if parts.last() == Some(&Part::AnyText) => continue,
                '*' => Part::AnyText,
                '?' => Part::AnyCharacter,
                '\\' => Part::Literal(characters.next().unwrap_or('\\')),
                literal => Part::Literal(literal),
            });
        }
        Self(parts)
    }

    /// Creates a pattern without wildcards.
    pub(crate) fn literal(text: &str) -> Self {
        Self(text.chars().map(Part::Literal).collect())
    }

    /// Returns the expression that matches the pattern as written, letter for letter.
    pub(crate) fn plain(&self) -> String {
        self.expression(&Letters::default())
    }

    /// Returns the expression for terms of this tokenizer.
    ///
    /// The literal parts undergo the tokenizer's transformations of letters, character by character, so a
    /// capital sigma becomes `σ` in any position; one that was written small at the end of a word is `ς`
    /// in the dictionary, and a pattern's capital matches both. Transformations of whole words do not
    /// apply: `en_stem` stores stems, so its patterns match stems (`runn*` does not match `running`, which
    /// is stored as `run`), and a character at which the tokenizer splits is in no term.
    pub(crate) fn expression(&self, letters: &Letters) -> String {
        let lowercases = letters.lowercases();
        let mut expression = String::new();
        for part in &self.0 {
            match part {
                Part::AnyText => expression.push_str(ANY_TEXT),
                Part::AnyCharacter => expression.push_str("(.|\n)"),
                Part::Literal('Σ') if lowercases => expression.push_str("(σ|ς)"),
                Part::Literal(character) => {
                    let text = letters.apply(character.encode_utf8(&mut [0; 4]), Extent::Part);
                    for character in text.chars() {
                        push_escaped(&mut expression, character);
                    }
                }
            }
        }
        expression
    }
}

pub(crate) fn build_wildcard(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    pattern: &Pattern,
) -> Result<Box<dyn Query>, SearchError> {
    automaton(builder, field, &pattern.expression(field.letters))
}

/// Returns an expression, case-insensitive if requested.
pub(crate) fn expression_of(expression: &str, case_insensitive: bool) -> String {
    match case_insensitive {
        true => format!("(?i:{expression})"),
        false => expression.to_owned(),
    }
}

/// Builds a query for all terms that begin with `start`, which the tokenizer has processed.
pub(crate) fn build_prefix(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    start: &str,
) -> Result<Box<dyn Query>, SearchError> {
    automaton(builder, field, &(literal_expression(start) + ANY_TEXT))
}

pub(crate) fn build_regex(
    builder: &mut Builder<'_>,
    name: &str,
    pattern: &str,
) -> Result<Box<dyn Query>, SearchError> {
    let field = builder.resolve(name)?;
    if has_nothing(&field, builder.mapper) {
        return Ok(Box::new(EmptyQuery));
    }
    let is_searched = field.indexed || field.scanned;
    if !is_searched || !matches!(field.kind, FieldKind::Text(_) | FieldKind::Json(_)) {
        return Err(SearchError::invalid(format!(
            "the field {name:?} is no indexed text, so a regular expression cannot search it"
        )));
    }
    automaton(builder, &field, &any_character(pattern)?)
}

/// Returns the expression with `.` matching any character including line breaks, as in Lucene.
///
/// # Errors
/// If it names unknown character classes.
pub(crate) fn any_character(pattern: &str) -> Result<String, SearchError> {
    check_classes(pattern)
        .map_err(|what| SearchError::invalid(format!("the pattern {pattern:?} {what}")))?;
    Ok(format!("(?s:{pattern})"))
}

pub(crate) fn automaton(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    pattern: &str,
) -> Result<Box<dyn Query>, SearchError> {
    builder.spend_pattern()?;
    let regex = TermAutomaton::Regex(compiled(&of_path(field, pattern))?);
    Ok(find_automaton(builder, field, regex))
}

/// Builds a query for the documents with a term of a field that an automaton accepts.
pub(crate) fn find_automaton(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    automaton: TermAutomaton,
) -> Box<dyn Query> {
    if field.view.is_some() {
        return whole_values_like(builder, field, automaton);
    }
    if field.scanned {
        return builder.scan(ScannedField::of(field), Wanted::Automaton(automaton));
    }
    find_accepted(builder, field.field, automaton)
}

/// Returns the expression for the terms of a field whose text matches an expression.
pub(crate) fn of_path(field: &ResolvedField<'_>, pattern: &str) -> String {
    match field.kind {
        FieldKind::Json(json) => {
            // Terms of a JSON field begin with their path and type.
            let mut base = json_base_term(field, json);
            base.append_type_and_str("");
            literal_expression(&String::from_utf8_lossy(base.serialized_value_bytes())) + pattern
        }
        _ => pattern.to_owned(),
    }
}

/// Returns the expression that matches a text only.
pub(crate) fn literal_expression(text: &str) -> String {
    let mut expression = String::new();
    text.chars().for_each(|c| push_escaped(&mut expression, c));
    expression
}

pub(crate) fn push_escaped(pattern: &mut String, character: char) {
    // With a backslash, `<` and `>` would be word boundaries.
    if character.is_ascii_punctuation() && !matches!(character, '<' | '>') {
        pattern.push('\\');
    }
    pattern.push(character);
}

#[cfg(test)]
mod tests;
