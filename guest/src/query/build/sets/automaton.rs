//! Automata over the terms of a dictionary: regular expressions, words with some edits, and sets of terms.

use std::fmt;
use std::sync::Arc;

use tantivy::Term;
use tantivy::postings::TermInfo;
use tantivy::query::{AutomatonWeight, DfaWrapper, EnableScoring, FuzzyTermQuery, Query, Weight};
use tantivy::schema::Field;
use tantivy::termdict::TermDictionary;
use tantivy_common::json_path_writer::JSON_END_OF_PATH;
use tantivy_fst::{Automaton, Regex};

use super::values::{ValueClause, ValuesWeight};
use crate::SearchError;

/// An automaton that accepts terms.
#[derive(Clone)]
pub(crate) enum TermAutomaton {
    /// Accepts the matches of a regular expression.
    Regex(Arc<Regex>),
    /// Accepts words close to a given one.
    Near(Arc<NearWord>),
    /// Accepts the terms of a set.
    OneOf(Arc<SortedTerms>),
    /// Accepts the terms of a set at any path of a JSON field.
    AtAnyPath(Arc<AtAnyPath>),
    /// Accepts whole values of which a clause on words is true.
    InValues(Arc<dyn ValueClause<TermAutomaton>>),
}

/// Accepts terms with an exact prefix and a rest within an edit distance.
pub(crate) struct NearWord {
    start: Vec<u8>,
    rest: DfaWrapper,
}

/// State of a [`NearWord`].
#[derive(Clone, Copy)]
pub(crate) enum NearState {
    /// Number of bytes of the prefix that matched so far.
    Start(usize),
    /// After the prefix.
    Rest(u32),
    /// The prefix did not match.
    Dead,
}

impl NearState {
    /// Returns a number that no other state has.
    pub(crate) fn key(self) -> u64 {
        match self {
            Self::Start(at) => 2 * at as u64,
            Self::Rest(state) => 2 * u64::from(state) + 1,
            Self::Dead => u64::MAX,
        }
    }
}

impl fmt::Debug for TermAutomaton {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Regex(_) => "Regex",
            Self::Near(_) => "Near",
            Self::OneOf(_) => "OneOf",
            Self::AtAnyPath(_) => "AtAnyPath",
            Self::InValues(_) => "InValues",
        })
    }
}

impl NearWord {
    /// Accepts terms that begin with `start` and continue with `rest`, with at most `edits` edits, which is at most 2.
    ///
    /// # Errors
    /// If `edits` is larger.
    pub(in crate::query::build) fn new(
        start: Vec<u8>,
        rest: &str,
        edits: u8,
        has_transpositions: bool,
    ) -> Result<Self, SearchError> {
        // Only the word matters, not the field.
        let word = Term::from_field_text(Field::from_field_id(0), rest);
        Self::after(start, &FuzzyTermQuery::new(word, edits, has_transpositions))
    }

    /// Accepts terms that begin so: `rest` and any text after it.
    ///
    /// # Errors
    /// If `edits` is larger than 2.
    pub(in crate::query::build) fn beginning(
        start: Vec<u8>,
        rest: &str,
        edits: u8,
        has_transpositions: bool,
    ) -> Result<Self, SearchError> {
        let word = Term::from_field_text(Field::from_field_id(0), rest);
        Self::after(
            start,
            &FuzzyTermQuery::new_prefix(word, edits, has_transpositions),
        )
    }

    fn after(start: Vec<u8>, rest: &FuzzyTermQuery) -> Result<Self, SearchError> {
        let rest = rest.automaton();
        let rest = rest.map_err(|error| SearchError::invalid(error.to_string()))?;
        Ok(Self { start, rest })
    }

    fn after_start(&self, num_bytes: usize) -> NearState {
        match num_bytes == self.start.len() {
            true => NearState::Rest(self.rest.start()),
            false => NearState::Start(num_bytes),
        }
    }
}

impl Automaton for NearWord {
    type State = NearState;

    fn start(&self) -> NearState {
        self.after_start(0)
    }

    fn is_match(&self, state: &NearState) -> bool {
        match state {
            NearState::Rest(state) => self.rest.is_match(state),
            NearState::Start(_) | NearState::Dead => false,
        }
    }

    fn can_match(&self, state: &NearState) -> bool {
        match state {
            NearState::Start(_) => true,
            NearState::Rest(state) => self.rest.can_match(state),
            NearState::Dead => false,
        }
    }

    fn accept(&self, state: &NearState, byte: u8) -> NearState {
        match state {
            NearState::Start(at) if self.start.get(*at) == Some(&byte) => self.after_start(at + 1),
            NearState::Rest(state) => NearState::Rest(self.rest.accept(state, byte)),
            NearState::Start(_) | NearState::Dead => NearState::Dead,
        }
    }
}

/// A set of terms, as an automaton: a dictionary is merged with it once, and of the dictionary only the blocks are read
/// that may have one of the terms.
pub(crate) struct SortedTerms(Vec<Vec<u8>>);

/// The terms of a set that begin with the bytes so far, as a range, and the number of these bytes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Begun {
    first: usize,
    end: usize,
    num_bytes: usize,
}

impl SortedTerms {
    pub(in crate::query::build) fn new(terms: impl Iterator<Item = Vec<u8>>) -> Self {
        Self(canter_sorting::set_of(terms).into_iter().collect())
    }

    /// Returns the terms in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    fn has(&self, term: &[u8]) -> bool {
        self.0
            .binary_search_by(|own| own.as_slice().cmp(term))
            .is_ok()
    }
}

impl Automaton for SortedTerms {
    type State = Begun;

    fn start(&self) -> Begun {
        Begun {
            first: 0,
            end: self.0.len(),
            num_bytes: 0,
        }
    }

    fn is_match(&self, state: &Begun) -> bool {
        let first = self.0.get(state.first).filter(|_| state.first < state.end);
        first.is_some_and(|term| term.len() == state.num_bytes)
    }

    fn can_match(&self, state: &Begun) -> bool {
        state.first < state.end
    }

    fn accept(&self, state: &Begun, byte: u8) -> Begun {
        let begun = self.0.get(state.first..state.end).unwrap_or_default();
        let next = |term: &Vec<u8>| term.get(state.num_bytes).copied();
        // The term that ends here has no next byte, and comes first.
        let before = begun.partition_point(|term| next(term).is_none_or(|own| own < byte));
        let until = begun.partition_point(|term| next(term).is_none_or(|own| own <= byte));
        Begun {
            first: state.first + before,
            end: state.first + until,
            num_bytes: state.num_bytes + 1,
        }
    }
}

/// Terms of a JSON field with one of these values, type and text, whatever their path.
pub(crate) struct AtAnyPath(SortedTerms);

impl AtAnyPath {
    pub(in crate::query::build) fn new(values: impl Iterator<Item = Vec<u8>>) -> Self {
        Self(SortedTerms::new(values))
    }
}

impl Automaton for AtAnyPath {
    /// `None` within the path.
    type State = Option<Begun>;

    fn start(&self) -> Self::State {
        None
    }

    fn is_match(&self, state: &Self::State) -> bool {
        state.is_some_and(|begun| self.0.is_match(&begun))
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.is_none_or(|begun| self.0.can_match(&begun))
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        match (state, byte) {
            (None, JSON_END_OF_PATH) => Some(self.0.start()),
            (None, _) => None,
            (Some(begun), byte) => Some(self.0.accept(begun, byte)),
        }
    }
}

impl TermAutomaton {
    /// Returns whether it accepts a term.
    pub(crate) fn takes(&self, term: &[u8]) -> bool {
        match self {
            Self::Regex(regex) => takes(regex.as_ref(), term),
            Self::Near(near) => takes(near.as_ref(), term),
            Self::OneOf(terms) => terms.has(term),
            Self::AtAnyPath(terms) => takes(terms.as_ref(), term),
            Self::InValues(values) => values.test()(term),
        }
    }

    /// Calls `each` with the places of the lists of all terms of a dictionary that it accepts.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(crate) fn for_each_term(
        &self,
        terms: &TermDictionary,
        each: &mut dyn FnMut(&TermInfo),
    ) -> tantivy::Result<()> {
        match self {
            Self::Regex(regex) => for_each_term(regex.as_ref(), terms, each),
            Self::Near(near) => for_each_term(near.as_ref(), terms, each),
            Self::OneOf(set) => for_each_term(set.as_ref(), terms, each),
            Self::AtAnyPath(set) => for_each_term(set.as_ref(), terms, each),
            Self::InValues(values) => {
                let mut takes = values.test();
                let mut found = terms.range().into_stream()?;
                while found.advance() {
                    if takes(found.key()) {
                        each(found.value());
                    }
                }
                Ok(())
            }
        }
    }
}

/// Calls `each` with the places of the lists of the terms that an automaton accepts.
fn for_each_term<A: Automaton>(
    automaton: &A,
    terms: &TermDictionary,
    each: &mut dyn FnMut(&TermInfo),
) -> tantivy::Result<()>
where
    A::State: Clone,
{
    let mut found = terms.search(automaton).without_keys().into_stream()?;
    while let Some(info) = found.next_without_key() {
        each(info);
    }
    Ok(())
}

fn takes<A: Automaton>(automaton: &A, term: &[u8]) -> bool {
    let mut state = automaton.start();
    for byte in term {
        if !automaton.can_match(&state) {
            return false;
        }
        state = automaton.accept(&state, *byte);
    }
    automaton.is_match(&state)
}

/// Query for the documents with a term that an automaton accepts.
#[derive(Clone, Debug)]
pub(in crate::query::build) struct AutomatonQuery {
    pub(in crate::query::build) field: Field,
    pub(in crate::query::build) automaton: TermAutomaton,
}

impl Query for AutomatonQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(match &self.automaton {
            TermAutomaton::Regex(regex) => {
                Box::new(AutomatonWeight::<Regex>::new(self.field, Arc::clone(regex)))
            }
            TermAutomaton::Near(near) => Box::new(AutomatonWeight::<NearWord>::new(
                self.field,
                Arc::clone(near),
            )),
            TermAutomaton::OneOf(terms) => Box::new(AutomatonWeight::<SortedTerms>::new(
                self.field,
                Arc::clone(terms),
            )),
            TermAutomaton::AtAnyPath(terms) => Box::new(AutomatonWeight::<AtAnyPath>::new(
                self.field,
                Arc::clone(terms),
            )),
            TermAutomaton::InValues(values) => Box::new(ValuesWeight {
                field: self.field,
                clause: Arc::clone(values),
            }),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_terms_accepts_these_and_no_others() {
        let terms = ["", "a", "abc", "abd", "b", "ba\0s"];
        let set = SortedTerms::new(terms.iter().map(|term| term.as_bytes().to_vec()));
        for term in terms {
            assert!(takes(&set, term.as_bytes()), "{term:?}");
            assert!(set.has(term.as_bytes()), "{term:?}");
        }
        for term in ["ab", "abe", "abcd", "c", "ba", "ba\0", "\u{0}"] {
            assert!(!takes(&set, term.as_bytes()), "{term:?}");
            assert!(!set.has(term.as_bytes()), "{term:?}");
        }
        assert!(!takes(&SortedTerms::new(std::iter::empty()), b""));
    }
}
