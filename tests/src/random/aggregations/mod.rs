//! Aggregations by Elasticsearch's documentation, computed by scanning the documents.
//!
//! ```text
//!   draw ──▶ JSON of a request ──┬──▶ engine ──▶ JSON ─┐
//!                                └──▶ scan ──▶ Expect ─┴─▶ the same?
//! ```
//!
//! The scan reads the request in the form that is sent. Sums are computed in integers of any size
//! and rounded once; times use jiff's calendar.

mod buckets;
mod draw;
mod exact;
mod expect;
mod histograms;
mod metrics;
mod quantiles;
mod scan;
mod shrink;
mod terms;
mod zones;

pub(super) use scan::Filters;
pub(super) use shrink::{signature, smaller};
