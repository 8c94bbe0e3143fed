//! The words of a text that a query looks for.

use std::collections::BTreeSet;
use std::ops::Range;

use canter_doc_mapper::tokenizers::{Extent, Letters, is_whole};
use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField};
use tantivy::tokenizer::TextAnalyzer;

use crate::query::{BuiltQuery, TermAutomaton, any_text, start_of_texts, text_in};

/// A word of a text that the query looks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Match {
    /// Where it is in the text, in bytes.
    pub(super) range: Range<usize>,
    pub(super) word: String,
}

/// Finds the words of texts of one field that a query looks for.
pub(super) struct Words {
    terms: BTreeSet<String>,
    /// Patterns over the field's dictionary.
    patterns: Vec<TermAutomaton>,
    /// Bytes before each text in the dictionary.
    start: Vec<u8>,
    /// Patterns over the dictionaries of other fields.
    other_patterns: Vec<TermAutomaton>,
    /// `None` for a field of whole values.
    analyzer: Option<TextAnalyzer>,
    letters: Letters,
    /// Longer whole values are not indexed, in characters.
    ignore_above: Option<u32>,
}

impl Words {
    /// Returns `None` for a field without texts. With `is_any_field`, looks for the words that the query looks for in any
    /// field.
    pub(super) fn new(
        field: &ResolvedField<'_>,
        is_any_field: bool,
        built: &BuiltQuery,
        mapper: &DocMapper,
    ) -> Option<Self> {
        let tokenizer = match field.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => return None,
        };
        let mut terms = BTreeSet::new();
        built.query.query_terms(&mut |term, _| {
            let own = text_in(term, field);
            let any = || is_any_field.then(|| any_text(term)).flatten();
            terms.extend(own.or_else(any).map(str::to_owned));
        });
        let (mut patterns, mut other_patterns) = (Vec::new(), Vec::new());
        let is_whole = is_whole(tokenizer);
        for (of, automaton, _) in &built.needs.automata {
            if let (TermAutomaton::InValues(values), false) = (automaton, is_whole) {
                if is_any_field || *of == field.field {
                    values.add_words(&mut terms, &mut patterns);
                }
            } else if *of == field.field && field.view.is_none() {
                patterns.push(automaton.clone());
            } else if is_any_field {
                other_patterns.push(automaton.clone());
            }
        }
        let analyzer = match is_whole {
            true => None,
            false => Some(mapper.tokenizers().get(tokenizer)?),
        };
        Some(Self {
            terms,
            patterns,
            start: start_of_texts(field),
            other_patterns,
            analyzer,
            letters: field.letters.clone(),
            ignore_above: field.ignore_above.filter(|_| is_whole),
        })
    }

    /// Returns whether the field has whole values, of which there are no passages.
    pub(super) fn are_whole(&self) -> bool {
        self.analyzer.is_none()
    }

    /// Returns the words of a text that the query looks for, in order; only those that begin before `end`, in bytes.
    pub(super) fn find(&self, text: &str, end: usize) -> Vec<Match> {
        let Some(analyzer) = &self.analyzer else {
            let is_indexed = self
                .ignore_above
                .is_none_or(|most| text.chars().count() <= most as usize);
            let value = self.letters.apply(text, Extent::Whole);
            let is_found = is_indexed && self.is_wanted(&value);
            let found = Match {
                range: 0..text.len(),
                word: value.to_string(),
            };
            return is_found.then_some(found).into_iter().collect();
        };
        let mut analyzer = analyzer.clone();
        let mut tokens = analyzer.token_stream(text);
        let mut matches = Vec::new();
        while tokens.advance() {
            let token = tokens.token();
            if token.offset_from >= end {
                break;
            }
            if self.is_wanted(&token.text) {
                matches.push(Match {
                    range: token.offset_from..token.offset_to,
                    word: token.text.clone(),
                });
            }
        }
        matches
    }

    /// Returns where the words of a text end, in bytes; only those that begin before `end`.
    pub(super) fn ends(&self, text: &str, end: usize) -> Vec<usize> {
        let Some(analyzer) = &self.analyzer else {
            return vec![text.len()];
        };
        let mut analyzer = analyzer.clone();
        let mut tokens = analyzer.token_stream(text);
        let mut ends = Vec::new();
        while tokens.advance() && tokens.token().offset_from < end {
            ends.push(tokens.token().offset_to);
        }
        ends
    }

    fn is_wanted(&self, word: &str) -> bool {
        if self.terms.contains(word) {
            return true;
        }
        let own = || {
            let term = [self.start.as_slice(), word.as_bytes()].concat();
            self.patterns.iter().any(|pattern| pattern.takes(&term))
        };
        let is_other = |pattern: &TermAutomaton| pattern.takes(word.as_bytes());
        (!self.patterns.is_empty() && own()) || self.other_patterns.iter().any(is_other)
    }
}
