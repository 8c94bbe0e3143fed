//! Kibana's query language: `level: error and not (host: web* or took >= 5)` → a query's tree.
//!
//! The language is documented at <https://www.elastic.co/docs/reference/query-languages/kql>; a summary of its grammar:
//!
//! ```text
//!   query  = and ("or" and)*          and    = not ("and" not)*         not  = "not" not | part
//!   part   = "(" query ")" | name ":" "{" query "}" | name ":" values | name ("<" | "<=" | ">" | ">=") value | value
//!   values = value | "(" values combined by "or", "and" and "not" ")"
//! ```
//!
//! Words beside each other are one value: any of them is enough in a text, and a field of whole values has all of them. A
//! word without a field is searched as in the query string. Errors name the column.

mod literal;
mod parser;
#[cfg(test)]
mod tests;

pub(crate) use parser::{KqlOptions, parse_kql};
