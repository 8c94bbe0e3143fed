//! The query string: `level:error AND (timeout OR "connection reset") AND size:>4`.
//!
//! The text becomes a tree in one pass: [`cursor`] reads characters and tracks positions, [`leaf`] reads terms,
//! [`parser`] reads clauses and groups, and [`clauses`] applies operators. Quickwit's and Lucene's languages differ in
//! details, see [`Dialect`].

mod clauses;
mod cursor;
mod kql;
mod leaf;
mod parser;
#[cfg(test)]
mod tests;

pub(super) use cursor::Cursor;
pub(crate) use kql::{KqlOptions, parse_kql};
#[cfg(test)]
use parser::parse_words;
pub(super) use parser::{WordForm, check_len, parse_in_form, too_many_clauses};
pub(crate) use parser::{parse_query, parse_query_at};

/// The language whose rules apply where the two differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::query) enum Dialect {
    /// Directly before a wildcard, a literal backslash is written as four. Single quotes are quotes, too, and `&&`, `||`
    /// and `!` are text. A space must follow the first clause of a group.
    Quickwit,
    /// A backslash makes the next character literal, wherever it is, and `\u00e9` is the character with this number.
    /// `&&`, `||` and `!` are operators. Single quotes are text. See
    /// <https://lucene.apache.org/core/9_11_1/queryparser/org/apache/lucene/queryparser/classic/package-summary.html>.
    Lucene,
}
