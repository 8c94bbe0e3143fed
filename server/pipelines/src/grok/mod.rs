//! Patterns of names: `%{IP:client}` and the like, and regular expressions with bounds.

mod builtin;
mod expand;
mod regexes;

pub use builtin::builtin_patterns;
pub(crate) use expand::Grok;
pub(crate) use regexes::{regex_of, replaced};
