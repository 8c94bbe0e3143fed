//! The partial-result cache: results that were computed once need neither computing nor reading again.
//!
//! Two kinds of entries, both kept by the host under keys that only this guest understands:
//!
//! ```text
//!   answer/HASH     the whole answer of a request over a set of splits: nothing but the manifest is read
//!   split/HASH      what one split adds to a request without hits: a dashboard reads only new splits
//! ```
//!
//! Splits are immutable, so an entry is never out of date: new data is another split, and another key.
//! Everything that an answer depends on is hashed into its key, and every entry has a checksum, so a
//! cache that forgets, mixes up or damages entries costs time but never changes an answer.

mod entry;
mod keys;
mod version;

pub(crate) use entry::{look_up, store};
pub(crate) use keys::{SplitKeys, answer_key};
pub use version::version;
