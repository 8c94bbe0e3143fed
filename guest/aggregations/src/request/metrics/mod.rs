//! Aggregations without buckets, by kind.

mod rate;
mod read;
mod top;

pub(super) use rate::check_rates;
pub(super) use read::metric;
pub(crate) use read::{percents, sigma};
