//! Answers of searches, compared with a scan, with plain tantivy and with each other.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod answers;
mod api;
mod calls;
mod clauses;
mod counting;
mod dsl_differences;
mod dsl_edges;
mod elastic_hits;
mod exact_values;
mod kql;
mod many_searches;
mod nested;
mod open_words;
mod orders;
mod places;
mod random_queries;
mod ranges;
mod scanned_documents;
mod scrolls;
mod several_indexes;
mod term_counts;
mod time_bounds;
mod whole_values;
