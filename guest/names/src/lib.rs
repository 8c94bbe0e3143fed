//! Patterns of names: which indexes, fields and parts of an answer a text with `*` in it means. Guest and hosts share them,
//! so that a pattern means the same to both.

mod filter_path;
mod list;
mod pattern;

pub use filter_path::FilterPath;
pub use list::{MayBeAbsent, listed_names};
pub use pattern::{matches_any, matches_pattern};
