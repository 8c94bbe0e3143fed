//! The query string: `level:error AND (timeout OR "connection reset") AND size:>4`.
//!
//! The text becomes a tree in one pass: [`cursor`] reads characters and tracks positions, [`leaf`] reads terms,
//! [`parser`] reads clauses and groups, and [`clauses`] applies operators.

mod clauses;
mod cursor;
mod leaf;
mod parser;
#[cfg(test)]
mod tests;

pub(super) use cursor::Cursor;
pub(crate) use parser::{parse_query, parse_query_at};
pub(super) use parser::{parse_words, too_many_clauses};
