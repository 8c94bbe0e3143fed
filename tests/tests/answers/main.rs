//! Answers of searches, compared with a scan, with plain tantivy and with each other.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod alike;
mod answers;
mod api;
mod buckets;
mod calls;
mod categories;
mod clauses;
mod client_made;
mod completions;
mod composed;
mod counting;
mod drawn_mappings;
mod dsl_differences;
mod dsl_edges;
mod elastic_hits;
mod elastic_values;
mod exact_values;
mod kql;
mod many_searches;
mod mutated;
mod nested;
mod open_words;
mod orders;
mod places;
mod positional;
mod random_queries;
mod ranges;
mod rare_words;
mod recorded;
mod scanned_documents;
mod scrolls;
mod several_indexes;
mod spans;
mod sub_fields;
mod term_counts;
mod time_bounds;
mod vectors;
mod whole_values;
mod words_in_values;
