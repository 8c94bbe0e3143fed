//! Analyzers and normalizers: built in, or put together in the settings of an index.

mod analyzers;
mod chars;
mod languages;
mod marks;
mod of_fields;
mod parts;
mod patterns;
mod words;

pub(in crate::mappings) use analyzers::Analysis;
pub use analyzers::analyzer_parts;
pub(in crate::mappings) use languages::define_named;
pub(in crate::mappings) use of_fields::{Cut, analyzer, normalizer};
