//! Files whose bytes stand in the body in fewer bytes than a reader sees: cut into pieces, some of which are packed.
//!
//! ```text
//!   what a reader sees   │ piece 0 │ piece 1: words of a column │ piece 2 │
//!                        │         └───────────────┐            │         │
//!   the body             │ piece 0 │ piece 1 packed │ piece 2   │
//! ```
//!
//! A piece is packed exactly: whoever unpacks it has the bytes that were there before.

mod decimals;
mod piece;
mod presence;
#[cfg(test)]
mod tests;
mod write;

pub use decimals::Words;
pub use piece::{FilePart, Form, Piece};
pub(crate) use piece::{open_pieces, write_pieces};
pub use write::{Packable, PackedFile, pack};
