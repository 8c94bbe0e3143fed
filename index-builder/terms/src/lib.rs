//! Terms of documents: which documents have which words, collected in one pass and written as the inverted files of a
//! tantivy segment.
//!
//! ```text
//!   document ── cut ── words ──────── log ────┐
//!               │       (a hash table) (terms │
//!               └── shapes ───────────  of    ├── seal ── fieldnorm, term, idx, pos
//!                   (texts that differ  docs) │
//!                    in numbers only)         ┘
//! ```
//!
//! tantivy appends each word of each document to the word's own list, anywhere in memory. Here a document is appended to
//! one log, with the numbers of its words, and lists are made of it at the end, a range of terms at a time. A text of a shape
//! that many documents have costs the hash of the shape and its words with digits.
//!
//! The files are the same to the byte as those of tantivy's own writer. This crate writes no columns and no documents.

mod collector;
mod cut;
mod field;
mod fixed;
mod json;
mod log;
mod seal;
mod shapes;
mod words;

pub use collector::TermCollector;
