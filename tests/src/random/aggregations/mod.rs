//! Aggregations as the documentation of Elasticsearch has them, by going through the documents.
//!
//! ```text
//!   draw ──▶ JSON of a request ──┬──▶ engine ──▶ JSON ─┐
//!                                └──▶ scan ──▶ Expect ─┴─▶ the same?
//! ```
//!
//! The scan reads the request as it is sent. Sums are taken in whole numbers of any size and rounded once; times
//! are those of jiff's calendar.

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
