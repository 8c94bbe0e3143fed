//! Quantiles: exact for few distinct values, and approximated by buckets for more. The buckets are
//! the leading bits of the values, so no logarithm is needed. The selection of quantiles is
//! elsewhere.
//!
//! A set of at most `MAX_EXACT` distinct values is always stored exactly, and a larger one always
//! in buckets. The state therefore depends only on the multiset, neither on its order nor on its
//! division.
//!
//! # Errors
//! In exact form, answers equal those from the sorted list. In buckets, a value in an answer is off
//! by at most 1/256 of itself (see `middle_of` in `buckets.rs` for the proof), or by less than
//! 2^-1029 if it is smaller than the smallest normal number, 2^-1022. Minimum and maximum are
//! exact, and bound all answers.

use std::borrow::Cow;

use points::Points;

mod buckets;
mod hdr;
mod points;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use hdr::HdrHistogram;

use self::buckets::{Buckets, bucket_of, edges_of, merge_sorted, middle_of};

/// Maximum number of distinct values in exact form.
const MAX_EXACT: usize = 128;

/// Names of the numbers of a box plot.
pub(crate) const BOXPLOT: [&str; 7] = ["min", "max", "q1", "q2", "q3", "lower", "upper"];

/// Number of entries in the cache in front of exact values; a power of two.
const CACHED: usize = 128;

/// Minimum length of slices for which setting up that cache pays.
const MIN_CACHED_LEN: usize = 32;

/// Minimum length of slices that convert buckets to pages.
const HOT_LEN: usize = 256;

/// Distribution of numbers, empty by default.
///
/// It takes 16 bytes for each distinct value in exact form; afterwards 16 bytes for each bucket, or
/// 1 KB for each power of two and sign: see `buckets.rs`. Infinite and undefined values are
/// ignored, and -0.0 counts as 0.0.
#[derive(Clone, Debug)]
pub(crate) struct QuantileSketch {
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    /// Distinct values in order, with their counts.
    Exact(Vec<(Ordered, u64)>),
    Bucketed {
        min: f64,
        max: f64,
        buckets: Buckets,
    },
}

/// Finite number as an integer with the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ordered(i64);

impl Ordered {
    fn of(value: f64) -> Self {
        let bits = value.to_bits().cast_signed();
        // Inverts the magnitude of negative numbers.
        Self(if bits < 0 { bits ^ i64::MAX } else { bits })
    }

    fn value(self) -> f64 {
        f64::from_bits(
            (if self.0 < 0 {
                self.0 ^ i64::MAX
            } else {
                self.0
            })
            .cast_unsigned(),
        )
    }
}

impl Default for QuantileSketch {
    fn default() -> Self {
        Self {
            form: Form::Exact(Vec::new()),
        }
    }
}

impl QuantileSketch {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: f64) {
        self.add_repeated(value, 1);
    }

    /// Adds a value `count` times.
    pub(crate) fn add_repeated(&mut self, value: f64, count: u64) {
        if !value.is_finite() || count == 0 {
            return;
        }
        // -0.0 + 0.0 is 0.0.
        let value = value + 0.0;
        match &mut self.form {
            Form::Exact(values) => {
                let key = Ordered::of(value);
                match values.binary_search_by_key(&key, |pair| pair.0) {
                    Ok(at) => {
                        if let Some((_, counted)) = values.get_mut(at) {
                            *counted = counted.saturating_add(count);
                        }
                    }
                    Err(at) => {
                        values.insert(at, (key, count));
                        self.settle();
                    }
                }
            }
            Form::Bucketed { min, max, buckets } => {
                *min = min.min(value);
                *max = max.max(value);
                buckets.add(value, count);
            }
        }
    }

    /// Adds each value of a slice.
    pub(crate) fn extend(&mut self, values: &[f64]) {
        let rest = if values.len() < MIN_CACHED_LEN {
            values.iter().for_each(|value| self.add(*value));
            return;
        } else if matches!(self.form, Form::Exact(_)) {
            self.extend_exact(values)
        } else {
            values
        };
        let Form::Bucketed { min, max, buckets } = &mut self.form else {
            return;
        };
        if rest.len() < HOT_LEN {
            rest.iter().for_each(|value| self.add(*value));
            return;
        }
        let pages = buckets.pages();
        let (mut least, mut most) = (*min, *max);
        for value in rest {
            if value.is_finite() {
                least = if *value < least { *value } else { least };
                most = if *value > most { *value } else { most };
                pages.add(value.to_bits(), 1);
            }
        }
        // Zeros may have a negative sign.
        (*min, *max) = (least + 0.0, most + 0.0);
    }

    /// Adds values until they leave the exact form, and returns the rest. A small cache collects
    /// the counts of recent values, because each update of the sorted list needs a search.
    fn extend_exact<'a>(&mut self, values: &'a [f64]) -> &'a [f64] {
        let mut cache = [(0.0_f64, 0_u64); CACHED];
        let mut rest = values.iter();
        while matches!(self.form, Form::Exact(_)) {
            let Some(value) = rest.next() else { break };
            let value = *value + 0.0;
            // The multiplier is 2^64 divided by the golden ratio, which spreads bits upwards.
            let slot = (value.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 57) as usize;
            let Some(entry) = cache.get_mut(slot) else {
                continue;
            };
            if entry.0 == value {
                entry.1 += 1;
            } else {
                let (old, count) = std::mem::replace(entry, (value, 1));
                self.add_repeated(old, count);
            }
        }
        cache
            .iter()
            .for_each(|(value, count)| self.add_repeated(*value, *count));
        rest.as_slice()
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (&mut self.form, &other.form) {
            (Form::Exact(values), Form::Exact(more)) => {
                *values = merge_sorted(values, more);
                self.settle();
            }
            (Form::Bucketed { .. }, Form::Exact(more)) => {
                more.iter()
                    .for_each(|(key, count)| self.add_repeated(key.value(), *count));
            }
            (Form::Exact(values), Form::Bucketed { .. }) => {
                let values = std::mem::take(values);
                *self = other.clone();
                values
                    .iter()
                    .for_each(|(key, count)| self.add_repeated(key.value(), *count));
            }
            (
                Form::Bucketed { min, max, buckets },
                Form::Bucketed {
                    min: least,
                    max: most,
                    buckets: more,
                },
            ) => {
                *min = min.min(*least);
                *max = max.max(*most);
                buckets.merge(more);
            }
        }
    }

    /// Converts exact values to buckets if there are too many.
    fn settle(&mut self) {
        let Form::Exact(values) = &self.form else {
            return;
        };
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return;
        };
        if values.len() <= MAX_EXACT {
            return;
        }
        let mut pairs: Vec<(i32, u64)> = Vec::new();
        for (key, count) in values {
            let bucket = bucket_of(key.value());
            match pairs.last_mut() {
                Some((last, counted)) if *last == bucket => {
                    *counted = counted.saturating_add(*count)
                }
                _ => pairs.push((bucket, *count)),
            }
        }
        let (min, max) = (first.0.value(), last.0.value());
        self.form = Form::Bucketed {
            min,
            max,
            buckets: Buckets::Sorted(pairs),
        };
    }

    #[cfg(test)]
    /// Returns the number of values.
    pub(crate) fn count(&self) -> u64 {
        fn total<K>(pairs: &[(K, u64)]) -> u64 {
            pairs
                .iter()
                .fold(0, |total: u64, pair| total.saturating_add(pair.1))
        }
        match &self.form {
            Form::Exact(values) => total(values),
            Form::Bucketed { buckets, .. } => total(&buckets.sorted()),
        }
    }

    #[cfg(test)]
    /// Returns whether answers are exact.
    pub(crate) fn is_exact(&self) -> bool {
        matches!(self.form, Form::Exact(_))
    }

    /// Returns the smallest value, exactly.
    pub(crate) fn min(&self) -> Option<f64> {
        match &self.form {
            Form::Exact(values) => values.first().map(|pair| pair.0.value()),
            Form::Bucketed { min, .. } => Some(*min),
        }
    }

    /// Returns the largest value, exactly.
    pub(crate) fn max(&self) -> Option<f64> {
        match &self.form {
            Form::Exact(values) => values.last().map(|pair| pair.0.value()),
            Form::Bucketed { max, .. } => Some(*max),
        }
    }

    /// Returns the value below which a fraction `q` of the values lies; `None` without values, or
    /// if `q` is outside of 0 to 1.
    ///
    /// The result is interpolated linearly between the two values next to rank `q · (n - 1)`, counted from 0, which is
    /// numpy's method `linear`. In buckets, each of the two has the error stated in the module documentation.
    pub(crate) fn quantile(&self, q: f64) -> Option<f64> {
        self.quantiles(&[q]).first().copied().flatten()
    }

    /// Returns [`Self::quantile`] for each of `qs`, at the cost of about one.
    pub(crate) fn quantiles(&self, qs: &[f64]) -> Vec<Option<f64>> {
        let points = self.points();
        qs.iter().map(|q| points.quantile(*q)).collect()
    }

    /// Returns the percentage of values less than or equal to `value`; `None` without values, or
    /// for an undefined `value`.
    ///
    /// In exact form, only the division rounds. In buckets, the result is interpolated within the
    /// bucket of `value`, as if its numbers were evenly spread: the error is less than the share of
    /// that bucket, and values beyond minimum and maximum are exact.
    pub(crate) fn rank(&self, value: f64) -> Option<f64> {
        let points = self.points();
        if points.total == 0 || value.is_nan() {
            return None;
        }
        let total = points.total as f64;
        match &self.form {
            Form::Exact(_) => Some(points.up_to(|point| point <= value) as f64 / total * 100.0),
            Form::Bucketed { min, max, buckets } => {
                if value < *min {
                    return Some(0.0);
                }
                if value >= *max {
                    return Some(100.0);
                }
                let bucket = bucket_of(value);
                let pairs = buckets.sorted();
                let at = pairs.partition_point(|pair| pair.0 < bucket);
                let below = pairs
                    .iter()
                    .take(at)
                    .fold(0_u64, |sum, pair| sum.saturating_add(pair.1));
                let within = pairs
                    .get(at)
                    .filter(|pair| pair.0 == bucket)
                    .map_or(0, |pair| pair.1);
                let (low, high) = edges_of(bucket);
                let (low, high) = (low.max(*min), high.min(*max));
                let part = if high > low {
                    ((value - low) / (high - low)).clamp(0.0, 1.0)
                } else {
                    1.0
                };
                Some((below as f64 + within as f64 * part) / total * 100.0)
            }
        }
    }

    /// Returns the numbers of [`BOXPLOT`]; `None` without values. The whiskers are the values that are farthest out, but no
    /// farther from the box than 1.5 times its length. Apart from minimum and maximum, each number has the error of
    /// [`Self::quantile`].
    pub(crate) fn boxplot(&self) -> Option<[f64; 7]> {
        const REACH: f64 = 1.5;
        let points = self.points();
        let [q1, q2, q3] = [0.25, 0.5, 0.75].map(|q| points.quantile(q));
        let (q1, q2, q3) = (q1?, q2?, q3?);
        let reach = REACH * (q3 - q1);
        // In buckets, the ends are those of the values.
        let mut values = points
            .pairs
            .iter()
            .map(|pair| pair.0)
            .chain([points.min, points.max])
            .filter(|value| (q1 - reach..=q3 + reach).contains(value));
        let first = values.next()?;
        let ends = values.fold((first, first), |(lower, upper), value| {
            (lower.min(value), upper.max(value))
        });
        Some([points.min, points.max, q1, q2, q3, ends.0, ends.1])
    }

    /// Returns the median of the distances from the median; `None` without values.
    ///
    /// Both medians are interpolated as in [`Self::quantile`]. In exact form, only `f64` rounding is inexact. In buckets,
    /// the result is off by at most 1/256 of itself plus 1/128 of `m`, the larger of the two values in the middle: a value
    /// `x` at distance `d` from the median has an error of `|x| / 256`, which is at most `(m + d) / 256`, and the median
    /// one of `m / 256`.
    pub(crate) fn median_absolute_deviation(&self) -> Option<f64> {
        let points = self.points();
        let median = points.quantile(0.5)?;
        let mut distances = points.pairs.into_owned();
        for (value, _) in &mut distances {
            *value = (*value - median).abs();
        }
        canter_sorting::sort_by(&mut distances, |left, right| left.0.total_cmp(&right.0));
        let smallest = distances.first().map_or(0.0, |pair| pair.0);
        let largest = distances.last().map_or(0.0, |pair| pair.0);
        Points {
            pairs: Cow::Owned(distances),
            min: smallest,
            max: largest,
            ..points
        }
        .quantile(0.5)
    }

    /// Returns the known values in order.
    fn points(&self) -> Points<'static> {
        let pairs: Vec<(f64, u64)> = match &self.form {
            Form::Exact(values) => values
                .iter()
                .map(|(key, count)| (key.value(), *count))
                .collect(),
            Form::Bucketed { min, max, buckets } => {
                let middle = |bucket| middle_of(bucket).max(*min).min(*max);
                let sorted = buckets.sorted();
                sorted
                    .iter()
                    .map(|(bucket, count)| (middle(*bucket), *count))
                    .collect()
            }
        };
        let total = pairs
            .iter()
            .fold(0_u64, |total, pair| total.saturating_add(pair.1));
        let (min, max) = (self.min().unwrap_or(0.0), self.max().unwrap_or(0.0));
        Points {
            pairs: Cow::Owned(pairs),
            total,
            min,
            max,
        }
    }
}
