//! What searches answer, beside a scan, plain tantivy and each other.
//!
//! One program for all of them: linking is most of what a test program takes to build.

mod answers;
mod api;
mod counting;
mod dsl_differences;
mod dsl_findings;
mod elastic_hits;
mod exact_values;
mod many_searches;
mod orders;
mod random_queries;
mod ranges;
mod scanned_documents;
mod scrolls;
mod several_indexes;
mod term_counts;
mod time_bounds;
