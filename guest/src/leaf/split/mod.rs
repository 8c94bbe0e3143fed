//! Results of one split: its matching documents, the best of them, and their aggregations.

pub(super) mod aggregate;
mod frequencies;
pub(super) mod search;
pub(super) mod statistics;
mod term_docs;
mod term_scores;
pub(super) mod times;
mod windows;

pub(crate) use frequencies::{Frequencies, count_words};
