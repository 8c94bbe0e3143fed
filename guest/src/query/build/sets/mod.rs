//! Sets of terms, as automata and as lists, and parts of the documents.

mod automaton;
mod beginnings;
mod slice;
mod terms;

pub(crate) use automaton::TermAutomaton;
pub(super) use automaton::{AtAnyPath, AutomatonQuery, NearWord};
pub(super) use slice::{SliceOf, check_slices};
