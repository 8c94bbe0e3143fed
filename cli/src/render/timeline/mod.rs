//! The requests of searches over time: one bar per request, wave by wave.
//!
//! ```text
//!   SearchResponse + attempts ──▶ Chart ─┬─▶ text    rows for a terminal
//!                                        └─▶ svg     a picture
//! ```
//!
//! [`Chart`] decides what is shown, the others how. The phase of a wave follows from its reads: manifest and heads
//! belong to the plan, stored documents to the end, everything else to the leaves.

mod attempts;
mod chart;
mod file;
mod markup;
mod scale;
mod svg;
mod text;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use attempts::Attempts;
pub(crate) use chart::Chart;
pub(crate) use file::TimelineFile;
pub(super) use markup::Markup;
pub(super) use scale::round_step;
pub(super) use svg::{cut, px, write_rect};
pub(crate) use text::timeline;
pub(super) use words::short_name;
