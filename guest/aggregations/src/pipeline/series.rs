//! Pipelines as functions of rows of numbers: one number for each bucket of a histogram, in order.
//!
//! In an input row, `None` is a bucket without such a number, and an undefined number is a gap. In
//! a result, `None` is a bucket that gets nothing, and an undefined number is shown as null.

use super::script::Script;
use super::types::Method;
use crate::numbers::{ExactSum, ExtendedStats, Spread};

pub(super) type Row = Vec<Option<f64>>;

/// Returns each number minus the previous one.
pub(super) fn derivative(row: &[Option<f64>]) -> Row {
    let before = std::iter::once(None).chain(row.iter().copied());
    let pairs = row.iter().zip(before);
    pairs.map(|(now, before)| Some((*now)? - before?)).collect()
}

/// Returns the sum of all numbers so far, exact and rounded once; gaps add nothing.
pub(super) fn cumulative_sum(row: &[Option<f64>]) -> Row {
    let mut sum = ExactSum::default();
    let sums = row.iter().map(|value| {
        // Numbers that are not finite are ignored.
        sum.add_f64(value.unwrap_or_default());
        Some(sum.to_f64())
    });
    sums.collect()
}

/// Returns each number minus the one `lag` buckets earlier.
pub(super) fn serial_diff(row: &[Option<f64>], lag: usize) -> Row {
    let before = std::iter::repeat_n(None, lag).chain(row.iter().copied());
    let pairs = row.iter().zip(before);
    let diff = |now: Option<f64>, before: Option<f64>| Some(now? - before?);
    pairs
        .map(|(now, before)| diff(*now, before).filter(|diff| !diff.is_nan()))
        .collect()
}

/// Applies a script to the values before each one. Gaps are removed before windows are formed, and
/// get nothing.
pub(super) fn moving(row: &[Option<f64>], script: &Script, window: usize, shift: i64) -> Row {
    let is_value = |value: &f64| !value.is_nan();
    let values: Vec<f64> = row.iter().flatten().copied().filter(is_value).collect();
    let window = i64::try_from(window).unwrap_or(i64::MAX);
    let clamp = |at: i64| usize::try_from(at).map_or(0, |at| at.min(values.len()));
    let mut at: i64 = 0;
    let results = row.iter().map(|value| {
        value.filter(is_value)?;
        let end = at.saturating_add(shift);
        let (from, to) = (clamp(end.saturating_sub(window)), clamp(end));
        at += 1;
        Some(script.number(&[], values.get(from..to).unwrap_or_default()))
    });
    results.collect()
}

/// Rescales each number relative to all of them; gaps are ignored and get nothing.
pub(super) fn normalize(row: &[Option<f64>], method: Method) -> Row {
    let mut stats = ExtendedStats::default();
    let values = || {
        row.iter()
            .flatten()
            .copied()
            .filter(|value| !value.is_nan())
    };
    values().for_each(|value| stats.add_repeated(value, 1));
    let end = |end: Option<crate::numbers::Number>| end.map_or(f64::NAN, |end| end.to_f64());
    let (min, max) = (end(stats.stats().min()), end(stats.stats().max()));
    let mean = stats.stats().avg().unwrap_or(f64::NAN);
    let sum = stats.stats().sum().to_f64();
    let deviation = stats.std_deviation(Spread::Sampling).unwrap_or(f64::NAN);
    // The largest exponent is 0, so none of them overflows.
    let power = |value: f64| libm::exp(value - max);
    let powers = match method {
        Method::Softmax => values().fold(0.0, |sum, value| sum + power(value)),
        _ => 0.0,
    };
    let of = |value: f64| match method {
        Method::Rescale01 => (value - min) / (max - min),
        Method::Rescale0100 => 100.0 * (value - min) / (max - min),
        Method::PercentOfSum => value / sum,
        Method::Mean => (value - mean) / (max - min),
        Method::ZScore => (value - mean) / deviation,
        Method::Softmax => power(value) / powers,
    };
    let value = |value: &Option<f64>| value.filter(|value| !value.is_nan());
    row.iter().map(|found| value(found).map(of)).collect()
}
