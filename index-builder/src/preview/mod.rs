//! Looking at a source without an index: what its first records become, and which config would suit them.

mod first_records;
mod shape;
mod suggest;
#[cfg(test)]
mod tests;
mod times;

pub use first_records::{Preview, PreviewDoc, PreviewRecord, preview};
pub use suggest::suggest;
