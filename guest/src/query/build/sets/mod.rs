//! Sets of terms, as automata and as lists, and parts of the documents.

mod automaton;
mod beginnings;
mod found;
mod slice;
mod terms;
mod values;

pub(crate) use automaton::TermAutomaton;
pub(super) use automaton::{AtAnyPath, AutomatonQuery, NearWord};
pub(crate) use found::vectors_at;
pub(super) use slice::{SliceOf, check_slices};
pub(crate) use values::{TestOfValues, ValueClause};
