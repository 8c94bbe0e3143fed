//! The `format` of date aggregations: how times are written and read.
//!
//! A format is a pattern of letters as Java's `DateTimeFormatter` has them, a name such as
//! `strict_date_optional_time`, or several of both with `||` between them: the first writes, and all read, in
//! turn. Weeks are those of ISO 8601, names of months and days are English.

mod date_format;
mod fields;
mod named;
mod pattern;
mod print;
mod read;

pub(crate) use date_format::DateFormat;

#[cfg(test)]
mod tests;
