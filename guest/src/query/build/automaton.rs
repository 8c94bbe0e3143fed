//! Automata over the terms of a dictionary: regular expressions, and words with some edits.

use std::fmt;
use std::sync::Arc;

use tantivy::Term;
use tantivy::query::{AutomatonWeight, DfaWrapper, EnableScoring, FuzzyTermQuery, Query, Weight};
use tantivy::schema::Field;
use tantivy_fst::{Automaton, Regex};

use crate::SearchError;

/// An automaton that accepts terms.
#[derive(Clone)]
pub(crate) enum TermAutomaton {
    /// Accepts the matches of a regular expression.
    Regex(Arc<Regex>),
    /// Accepts words close to a given one.
    Near(Arc<NearWord>),
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

impl fmt::Debug for TermAutomaton {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Regex(_) => "Regex",
            Self::Near(_) => "Near",
        })
    }
}

impl NearWord {
    /// Accepts terms that begin with `start` and continue with `rest`, with at most `edits` edits, which is at most 2.
    ///
    /// # Errors
    /// If `edits` is larger.
    pub(super) fn new(
        start: Vec<u8>,
        rest: &str,
        edits: u8,
        has_transpositions: bool,
    ) -> Result<Self, SearchError> {
        // Only the word matters, not the field.
        let word = Term::from_field_text(Field::from_field_id(0), rest);
        let rest = FuzzyTermQuery::new(word, edits, has_transpositions).automaton();
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

impl TermAutomaton {
    /// Returns whether it accepts a term.
    pub(crate) fn takes(&self, term: &[u8]) -> bool {
        match self {
            Self::Regex(regex) => takes(regex.as_ref(), term),
            Self::Near(near) => takes(near.as_ref(), term),
        }
    }
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
pub(super) struct AutomatonQuery {
    pub(super) field: Field,
    pub(super) automaton: TermAutomaton,
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
        })
    }
}
