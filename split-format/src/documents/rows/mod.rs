//! Rows: documents that are read one at a time.
//!
//! A row is the values of a document's [slots](super::slots), coded with the probabilities that the
//! split's [`Models`] give them. Rows form groups, of which each is decoded from its beginning:
//!
//! ```text
//!   a block   length of each group, a varint of 16-bit words │ group │ group │ …
//!   a group   u32 state │ u16 word, …          `coder.rs`
//! ```
//!
//! Nothing that groups have in common stands in a group; models are in the head of the split.

mod alphabet;
mod coder;
mod models;
mod reader;
mod row;
mod training;
mod writer;

pub(super) use reader::{RowContext, RowsBlock};
pub use training::RowTraining;
pub use writer::RowWriter;

/// Maximum number of rows of a group, which limits what skipping the rows before one costs.
const MAX_GROUP_NUM_ROWS: usize = 4_096;

#[cfg(test)]
mod tests;
