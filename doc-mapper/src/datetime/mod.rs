//! All date formats: those of documents, hits and queries.
//!
//! This module reads no clock: a pattern without a year is refused when the config is loaded,
//! because the year could only be guessed.

mod format;
mod named_zone;
mod parse;
mod partial;
mod rfc3339;

pub use format::DateOutput;
pub use parse::{DateInput, DateParseError, parse_datetime_literal};
pub(crate) use parse::{parse_millis, parse_number, parse_str};
pub(crate) use partial::completed;
pub use rfc3339::{infer_date, infer_day, infer_rfc3339, parse_seconds};

pub(crate) use format::rfc3339_string;

#[cfg(test)]
mod tests;
