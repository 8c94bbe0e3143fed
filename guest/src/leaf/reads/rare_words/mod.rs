//! Words with digits of few documents, which a split's dictionaries lack: those that a query may mean are found in stored
//! documents, and added to what tantivy reads. From then on they are terms like any others.
//!
//! ```text
//!   needs ──▶ stubs ──▶ beginnings that may be meant ──▶ documents ──▶ words, with positions ──▶ OpenSplit::with_words
//!          (with the dictionary)                      (with the postings)
//! ```
//!
//! A stub all of whose words a pattern accepts needs no document, if nothing asks for positions: its documents are known. Nor does
//! one none of whose words it can accept, because of the bytes that follow.

mod documents;
mod find;
mod reach;
mod verdict;
mod wanted;

pub(in crate::leaf) use find::{RareWordSearch, add_rare_words};
