//! Phase 1: bytes from files, standard input or any reader, uncompressed and cut into lines.
//!
//! Memory is constant: a batch of lines at a time, and never more of one line than the limit.
//! Nothing here knows JSON.

mod input;
mod lines;
#[cfg(test)]
mod tests;

pub use input::Source;
pub(crate) use lines::{LineBatch, LineReader, Lookup, SourceRead};
