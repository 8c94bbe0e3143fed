//! Aggregations, beside a scan and plain tantivy.
//!
//! One program for all of them: linking is most of what a test program takes to build.

mod aggregation_findings;
mod aggregation_page;
mod aggregation_values;
mod anomalies;
mod many_keys;
