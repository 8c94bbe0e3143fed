//! A clause on words that is tested on whole values out of a dictionary, and not on documents.

use std::collections::BTreeSet;
use std::fmt;

use tantivy::Term;
use tantivy::tokenizer::TextAnalyzer;

use super::DocTerms;
use super::clause::Wanted;
use crate::query::build::{TermAutomaton, TestOfValues, ValueClause};
use crate::query::matching::LeafTerms;

/// Clause on the words of a field whose terms are whole values.
pub(crate) struct InValues {
    analyzer: Option<TextAnalyzer>,
    wanted: Wanted,
}

impl fmt::Debug for InValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.wanted.fmt(formatter)
    }
}

impl InValues {
    /// Creates a clause on the words that an analyzer makes of a value.
    pub(in crate::query) fn new(analyzer: Option<TextAnalyzer>, wanted: Wanted) -> Self {
        Self { analyzer, wanted }
    }

    /// Returns whether what is wanted is not a word but the whole value, in whatever case: to those who ask, a field may be
    /// a keyword as well as a text.
    fn is_all_of(&self, text: &str) -> bool {
        let lower = |text: &'_ str| {
            text.chars()
                .flat_map(char::to_lowercase)
                .collect::<String>()
        };
        match &self.wanted {
            Wanted::Term(term) => {
                let wanted = str::from_utf8(term.serialized_value_bytes()).unwrap_or_default();
                let may_be = text.chars().count() == wanted.chars().count();
                text == wanted || (may_be && lower(text) == lower(wanted))
            }
            Wanted::Automaton(automaton) => {
                automaton.takes(text.as_bytes()) || automaton.takes(lower(text).as_bytes())
            }
            _ => false,
        }
    }
}

impl ValueClause<TermAutomaton> for InValues {
    fn test(&self) -> TestOfValues<'_> {
        let mut words = DocTerms::of(self.analyzer.clone());
        Box::new(move |value| {
            let Ok(text) = str::from_utf8(value) else {
                return false;
            };
            words.read_text(text);
            self.wanted.is_in(&words) || self.is_all_of(text)
        })
    }

    fn add_words(&self, words: &mut BTreeSet<String>, patterns: &mut Vec<TermAutomaton>) {
        let text = |term: &Term| str::from_utf8(term.serialized_value_bytes()).map(str::to_owned);
        match &self.wanted {
            Wanted::Term(term) => words.extend(text(term)),
            Wanted::Phrase { terms, .. } => {
                words.extend(terms.iter().flat_map(|(_, term)| text(term)))
            }
            Wanted::PhrasePrefix { terms } => {
                words.extend(terms.iter().flat_map(|(_, term)| text(term)));
                let last = terms.last().and_then(|(_, term)| text(term).ok());
                let begun = last.and_then(|last| TermAutomaton::begins_with(&last).ok());
                patterns.extend(begun);
            }
            Wanted::Automaton(automaton) => patterns.push(automaton.clone()),
            Wanted::Positional(condition) => {
                for leaf in &condition.leaves {
                    match leaf {
                        LeafTerms::Term(term) => words.extend(text(term)),
                        LeafTerms::Accepted(_, automaton) => patterns.push(automaton.clone()),
                    }
                }
            }
            Wanted::Value | Wanted::Place(_) | Wanted::Span(_) | Wanted::Range(..) => {}
        }
    }
}
