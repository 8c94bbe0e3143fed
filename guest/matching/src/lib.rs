//! Matching documents without scores: one window of documents at a time, as bits.
//!
//! A scorer that moves from document to document calls its parts for each, and none of these calls
//! can be inlined. Here, each part is called once for thousands of documents and processes them in
//! one loop:
//!
//! ```text
//!   posting lists ─ blocks of 128 documents ─┐
//!   phrases ─ the same, then positions ──────┼──▶ a bit for each document ──▶ and, or, without ──▶ bits, or a list
//!   columns, anything else: a `Part` ────────┘    of the window, if wanted
//! ```
//!
//! Parts only answer for wanted documents: documents that lack the rarest of several words are not
//! looked up for the others, and blocks without a wanted document are not decoded.
//!
//! Each loop over documents is a function of its own (`inline(never)`): with several of them in one
//! function, a WebAssembly compiler would run out of registers and keep counters in memory.
//!
//! This crate reads the bytes of tantivy's posting lists, and positions in a format of its own. It
//! knows no queries. [`add_words`] shows a segment's files with words that they lack.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod added;
mod bits;
mod kernels;
mod layout;
mod list;
mod matcher;
mod occurrences;
mod phrase;
mod positions;

pub use added::{AddedDoc, AddedWord, PatchedFile, SourceFile, WithWords, add_words, append_lists};
pub use bits::{Bits, WINDOW_LEN, list};
pub use layout::{ColumnKind, check_column, check_columns, check_fields};
pub use list::{PostingList, Recorded, check_postings};
pub use matcher::{Matcher, Part};
pub use occurrences::Occurrences;
pub use phrase::{Phrase, PhraseWord};
pub use positions::{PositionList, repack_positions};

/// Sentinel after the last document.
pub const NO_DOC: u32 = u32::MAX;
