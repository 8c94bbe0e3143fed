//! Date histograms that are not simple mappings from values to buckets.

mod auto;
mod known;
mod runs;

pub(in crate::collect) use auto::AutoDates;
pub(crate) use known::is_known;
pub(in crate::collect) use known::known_runs;
pub(in crate::collect) use runs::{Ends, Runs, Times};
