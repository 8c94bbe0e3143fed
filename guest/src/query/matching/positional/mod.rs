//! Words at positions that have a relation: the engine of `intervals` and the `span` clauses.
//!
//! ```text
//!   terms ──cursors.rs──▶ positions in a document ──source.rs, combine.rs──▶ intervals ──▶ match, score
//! ```
//!
//! The intervals of a document are computed as whole lists, one for each part of the condition. A list is never longer
//! than the positions it comes from, so a document costs its positions times the parts.
//!
//! Minimal intervals: C. L. A. Clarke, G. V. Cormack and F. J. Burkowski, "An algebra for structured text search", 1995;
//! their algorithms: P. Boldi and S. Vigna, "Efficient optimally lazy algorithms for minimal-interval semantics", 2016.

mod combine;
mod cursors;
mod query;
mod relate;
mod source;

#[cfg(test)]
mod tests;

pub(in crate::query) use query::{Condition, PositionalQuery};
pub(in crate::query) use source::{LeafTerms, Source};
