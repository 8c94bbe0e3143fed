//! A query without scores as a tree of parts that are asked for a window of documents at a time.
//!
//! Words and phrases are looked up by `canter-matching`, ranges over full columns by their bits, and everything else goes
//! on as tantivy's scorer does it, document by document.

mod column;
mod compile;
mod file;
mod list_files;
mod near;
mod phrase;
mod phrase_prefix;
mod scorer;
mod term_infos;

pub(crate) use compile::compile;
pub(crate) use list_files::{ListFiles, ListKind, POSITIONS, POSTINGS};
pub(super) use near::count_near;
pub(super) use phrase::PhraseOf;
pub(super) use phrase_prefix::PhrasePrefix;
pub(crate) use term_infos::TermInfos;
