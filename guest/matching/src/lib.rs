//! Which documents match, without scores: a window of documents at a time, as bits.
//!
//! A scorer that goes from document to document asks its parts at each, and none of these calls can be inlined. Here
//! each part is asked once for thousands of documents, and what it does for them is one loop:
//!
//! ```text
//!   posting lists ─ blocks of 128 documents ─┐
//!   phrases ─ the same, then positions ──────┼──▶ a bit for each document ──▶ and, or, without ──▶ bits, or a list
//!   columns, anything else: a `Part` ────────┘    of the window, if wanted
//! ```
//!
//! Parts say nothing of documents that are not wanted: what the rarest of several words has not is not looked for among
//! the others, and blocks without a wanted document are not decoded.
//!
//! What is a loop over documents is a function of its own (`inline(never)`): where several are parts of one function,
//! the compiler of WebAssembly finds no registers for them, and what they count waits in memory.
//!
//! It reads the bytes of tantivy's posting lists, and positions in a form of ours, and knows no terms, no fields and no queries.

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

mod bits;
mod kernels;
mod layout;
mod list;
mod matcher;
mod occurrences;
mod phrase;
mod positions;

pub use bits::{Bits, WINDOW_LEN, list};
pub use layout::{ColumnKind, check_column, check_columns, check_fields};
pub use list::{PostingList, Recorded, check_postings};
pub use matcher::{Matcher, Part};
pub use occurrences::Occurrences;
pub use phrase::{Phrase, PhraseWord};
pub use positions::{PositionList, repack_positions};

/// Behind the last document.
pub const NO_DOC: u32 = u32::MAX;
