//! Transforms: a program in VRL (Vector's language) between the format and the doc mapping.
//!
//! ```text
//!   record ─ format ─▶ JSON ─ read ─▶ value ─ program ─▶ value ─ write ─▶ JSON, JSON, … ─▶ doc mapper
//!                        └──────────── what the program left alone, as it was written ──┘
//! ```
//!
//! The same record becomes the same documents whenever and wherever the program runs, because a repeated build must
//! make the same splits: functions that depend on a clock, the machine or chance are refused. This module is
//! independent of the destination of documents and of the index's fields.

mod outcome;
#[cfg(feature = "vrl")]
mod program;
#[cfg(feature = "vrl")]
mod runner;
#[cfg(feature = "vrl")]
mod values;

mod stack;

#[cfg(not(feature = "vrl"))]
mod absent;
#[cfg(all(test, feature = "vrl"))]
mod tests;

#[cfg(not(feature = "vrl"))]
pub(crate) use absent::Runner;
#[cfg(not(feature = "vrl"))]
pub use absent::Transform;
pub(crate) use outcome::Outcome;
#[cfg(feature = "vrl")]
pub use program::Transform;
#[cfg(feature = "vrl")]
pub(crate) use runner::Runner;
pub(crate) use stack::{on_large_stack, spawn_with_large_stack};
