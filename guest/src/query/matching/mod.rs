//! Queries without scores as trees of parts that return one window of documents at a time.
//!
//! `canter-matching` looks up words and phrases, ranges over full columns are matched by their bits, and tantivy's
//! scorers handle everything else, document by document.

mod column;
mod compile;
mod file;
mod list_files;
mod near;
mod phrase;
mod phrase_prefix;
mod positional;
mod scorer;
mod term_infos;

pub(crate) use compile::compile;
pub(crate) use list_files::{ListFiles, ListKind, POSITIONS, POSTINGS};
pub(super) use near::count_near;
pub(super) use phrase::PhraseOf;
pub(super) use phrase_prefix::PhrasePrefix;
pub(super) use positional::{Condition, LeafTerms, PositionalQuery, Source};
pub(crate) use term_infos::TermInfos;
