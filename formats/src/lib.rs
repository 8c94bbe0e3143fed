//! Formats of logs: a stream is recognised, cut into records, and converted to JSON objects.
//!
//! ```text
//! bytes ─► recognise ─► Cutter ─► record ─► Layout::parse ─► JSON objects
//!          (by the       (where   (some     (none of them is
//!          beginning)    it ends)  bytes)    the index's business)
//! ```
//!
//! This crate reads no file, no clock and no index config; the index builder passes it bytes and
//! makes documents of the result. It never buffers a stream: a cutter sees each byte once.
//!
//! Read in this order: [`Format`] (their names), [`recognise`], [`Cutter`], [`Layout`]; then
//! [`presets`], the index configs that fit them.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

// The samples depend on this crate, but unit tests here read them all the same.
#[cfg(test)]
extern crate self as canter_formats;

mod container;
mod cut;
mod failure;
mod json;
mod layout;
mod log_line;
mod nesting;
mod parse;
mod recognition;
#[cfg(test)]
#[path = "../../samples/src/lib.rs"]
pub mod samples;
#[cfg(test)]
mod tests;
mod time;

pub use cut::{Cut, Cutter};
pub use failure::{Failure, Sink};
pub use json::Members;
pub use layout::{Directive, Hints, Layout, ValueKind};
pub use log_line::HEAD_WORDS;
pub use log_line::time::{MonthDay, Zone};
pub use nesting::JsonNesting;
pub use recognition::dialect::Dialect;
pub use recognition::format::Format;
pub use recognition::presets;
pub use recognition::recognise::{BEGINNING_LEN, Recognised, recognise};
