//! Analyzers and normalizers: built in, or put together in the settings of an index.

mod analyzers;
mod chars;
mod of_fields;
mod parts;
mod patterns;
mod words;

pub(in crate::mappings) use analyzers::Analysis;
pub(in crate::mappings) use of_fields::{Cut, analyzer, normalizer};
