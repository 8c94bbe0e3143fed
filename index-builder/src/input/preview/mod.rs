//! Preview of a source without an index: the documents of its first records, and a config that suits them.

mod excerpt;
mod field;
mod first_records;
mod sample;
mod shape;
mod suggest;
#[cfg(test)]
mod tests;
mod times;
mod words;
mod write;

pub use first_records::{Preview, PreviewDoc, PreviewRecord, preview};
pub use sample::{Sampled, sample};
pub use suggest::{Suggestion, suggest};
