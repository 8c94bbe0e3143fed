//! The partial-result cache: what was computed once is not computed, nor read for, again.
//!
//! Two kinds of entries, both held by the host under keys that only this guest understands:
//!
//! ```text
//!   answer/HASH     the whole answer of a request over a set of splits: nothing but the manifest is read
//!   split/HASH      what one split adds to a request without hits: a dashboard reads only new splits
//! ```
//!
//! Splits are immutable, so an entry is never out of date: new data is another split, and another key.
//! Whatever an answer depends on is hashed into its key, and every entry carries a checksum, so that
//! a cache that forgets, mixes up or damages entries costs time and never changes an answer.

mod entry;
mod keys;
mod version;

pub(crate) use entry::{look_up, store};
pub(crate) use keys::{SplitKeys, answer_key};
pub use version::version;
