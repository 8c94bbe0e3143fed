//! The accumulators of metrics: exact sums, moments and quantiles. Every one of them depends on the
//! multiset of values alone, neither on their order nor on how they are divided before a merge, and
//! gives the same bits on every host. Not here: which values are fed in, and how an answer is
//! written.

mod bounded;
mod magnitude;
mod window;

mod number;
mod strings;
mod sum;

mod moments;
mod weighted;

mod buckets;
mod quantiles;

pub(crate) use moments::{ExtendedStats, Spread, Stats};
pub(crate) use number::Number;
pub(crate) use quantiles::QuantileSketch;
pub(crate) use strings::StringStats;
pub(crate) use sum::ExactSum;
pub(crate) use weighted::WeightedAverage;
