//! Accumulators of metrics: exact sums, moments and quantiles. Each one depends only on the
//! multiset of values, neither on their order nor on their division before a merge, and gives the
//! same bits on every host. The selection of values and the writing of answers are elsewhere.

mod bounded;

mod number;
mod strings;
mod sum;

mod moments;
mod weighted;

mod quantiles;

pub(crate) use moments::{ExtendedStats, Spread, Stats};
pub(crate) use number::Number;
pub(crate) use quantiles::{BOXPLOT, HdrHistogram, QuantileSketch};
pub(crate) use strings::StringStats;
pub(crate) use sum::ExactSum;
pub(crate) use weighted::WeightedAverage;
