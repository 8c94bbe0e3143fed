//! Aggregations, compared with a scan and with plain tantivy.
//!
//! All of them are one program, because linking takes most of the build time of a test program.

mod aggregation_edges;
mod aggregation_page;
mod aggregation_values;
mod anomalies;
mod many_keys;
