//! Histograms of dates that are more than a mapping from values to buckets.

mod auto;
mod runs;

pub(in crate::collect) use auto::AutoDates;
pub(in crate::collect) use runs::Runs;
