//! The `format` of date aggregations: writing and parsing times.
//!
//! A format is a pattern of letters as in Java's `DateTimeFormatter`, a name such as
//! `strict_date_optional_time`, or several of both separated by `||`: the first one writes, and all
//! are tried in order for reading. Weeks follow ISO 8601; names of months and days are English.

mod date_format;
mod fields;
mod named;
mod pattern;
mod print;
mod read;

pub(crate) use date_format::DateFormat;

#[cfg(test)]
mod tests;
