//! Histogram with a high dynamic range: counts of values, each known to a number of significant digits.
//!
//! Buckets are those of `HdrHistogram` for floating-point numbers. A power of two is divided into at least as many
//! equal buckets as the digits ask for, so their bounds depend on no other value:
//!
//! ```text
//!   3 digits: 1,024 buckets from 1 to 2, each 1/1,024 wide, 1,024 from 2 to 4, each 1/512 wide, and so on
//! ```
//!
//! Negative values, which `HdrHistogram` refuses, have the same buckets in reverse.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts of values, by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HdrHistogram {
    counts: BTreeMap<i64, u64>,
}

/// Number of buckets of a power of two.
fn num_parts(digits: u8) -> u64 {
    10u64.pow(u32::from(digits.min(5))).next_power_of_two()
}

/// Smallest power of two that is distinguished; values nearer to 0 count as 0.
const MIN_EXPONENT: i64 = -1_022;

/// Bits of a number behind its first one.
const FRACTION_BITS: u32 = 52;

/// Returns the bucket of a value: 0 for 0, ascending with the value.
fn bucket_of(value: f64, digits: u8) -> i64 {
    let bits = value.abs().to_bits();
    let exponent = i64::try_from(bits >> FRACTION_BITS).unwrap_or_default();
    if exponent == 0 {
        return 0;
    }
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    let part_bits = num_parts(digits).trailing_zeros();
    let part = i64::try_from(fraction >> (FRACTION_BITS - part_bits)).unwrap_or_default();
    let parts = i64::try_from(num_parts(digits)).unwrap_or(1);
    let bucket = (exponent - 1) * parts + part + 1;
    if value < 0.0 { -bucket } else { bucket }
}

/// Returns the smallest value of a bucket, and the width of the bucket, both for a positive one.
fn ends_of(bucket: i64, digits: u8) -> (f64, f64) {
    let parts = i64::try_from(num_parts(digits)).unwrap_or(1);
    let place = bucket.abs() - 1;
    let (exponent, part) = (place.div_euclid(parts), place.rem_euclid(parts));
    let power = power_of_two(exponent + MIN_EXPONENT);
    let width = power / parts as f64;
    (power + part as f64 * width, width)
}

/// Returns a power of two, exactly.
fn power_of_two(exponent: i64) -> f64 {
    let biased = u64::try_from(exponent + 1_023).unwrap_or_default();
    f64::from_bits(biased << FRACTION_BITS)
}

impl HdrHistogram {
    /// Adds a value `count` times; infinite and undefined ones are ignored.
    pub(crate) fn add(&mut self, value: f64, count: u64, digits: u8) {
        if value.is_finite() && count > 0 {
            let slot = self.counts.entry(bucket_of(value, digits)).or_default();
            *slot = slot.saturating_add(count);
        }
    }

    /// Adds the values of another histogram with as many digits.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.counts {
            let slot = self.counts.entry(*bucket).or_default();
            *slot = slot.saturating_add(*count);
        }
    }

    fn total(&self) -> u64 {
        self.counts
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the width of the narrowest bucket, which is the difference between a value and the next.
    fn unit(&self, digits: u8) -> f64 {
        let buckets = self.counts.keys().filter(|bucket| **bucket != 0);
        let least = buckets.min_by_key(|bucket| bucket.abs());
        least.map_or(0.0, |bucket| ends_of(*bucket, digits).1)
    }

    /// Returns the greatest value of the bucket in which a percentile is: the first up to which there are that
    /// many percent of all values. `None` without values.
    pub(crate) fn percentile(&self, percent: f64, digits: u8) -> Option<f64> {
        let total = self.total();
        let wanted = libm::ceil(percent / 100.0 * total as f64).max(1.0);
        let mut sum = 0u64;
        for (bucket, count) in &self.counts {
            sum = sum.saturating_add(*count);
            if sum as f64 >= wanted {
                let (least, width) = ends_of(*bucket, digits);
                return Some(match bucket.signum() {
                    0 => 0.0,
                    1 if percent == 0.0 => least,
                    1 => least + width - self.unit(digits),
                    _ => -least,
                });
            }
        }
        None
    }

    /// Returns the percentage of values in buckets up to that of a value; `None` without values.
    pub(crate) fn rank(&self, value: f64, digits: u8) -> Option<f64> {
        let total = self.total();
        let bucket = bucket_of(value, digits);
        let below = self.counts.range(..=bucket).map(|(_, count)| *count);
        let below: u64 = below.fold(0, u64::saturating_add);
        (total > 0).then(|| below as f64 / total as f64 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[f64], digits: u8) -> HdrHistogram {
        let mut histogram = HdrHistogram::default();
        values
            .iter()
            .for_each(|value| histogram.add(*value, 1, digits));
        histogram
    }

    #[test]
    fn percentiles_are_those_of_hdr_histogram() {
        // From the tests of OpenSearch's API.
        let histogram = of(&[1.0, 51.0, 101.0, 151.0], 3);
        for (percent, expected) in [
            (1.0, 1.0),
            (25.0, 1.0),
            (50.0, 51.030_273_437_5),
            (75.0, 101.061_523_437_5),
            (99.0, 151.124_023_437_5),
        ] {
            assert_eq!(
                histogram.percentile(percent, 3),
                Some(expected),
                "{percent}"
            );
        }
        assert_eq!(of(&[51.0, 101.0, 151.0], 3).percentile(1.0, 3), Some(51.0));
        assert_eq!(histogram.rank(51.0, 3), Some(50.0));
        assert_eq!(of(&[], 3).percentile(50.0, 3), None);
        assert_eq!(of(&[], 3).rank(50.0, 3), None);
    }

    #[test]
    fn a_value_is_known_to_its_digits() {
        for digits in 0..=5 {
            for value in [1e-300, 0.001, 0.999, 1.0, 3.7, 1e15, 1.5e300] {
                let found = of(&[value], digits).percentile(50.0, digits).unwrap();
                let error = (found - value).abs() / value;
                assert!(
                    error <= 10f64.powi(-i32::from(digits)),
                    "{digits} {value} {found}"
                );
                let found = of(&[-value], digits).percentile(50.0, digits).unwrap();
                let error = (found + value).abs() / value;
                assert!(
                    error <= 10f64.powi(-i32::from(digits)),
                    "{digits} -{value} {found}"
                );
            }
        }
        assert_eq!(of(&[0.0, -0.0, 1e-310], 2).percentile(100.0, 2), Some(0.0));
    }

    #[test]
    fn order_and_division_do_not_matter() {
        let values: Vec<f64> = (0..500)
            .map(|n| f64::from((n * 7919) % 1000) - 300.0)
            .collect();
        let whole = of(&values, 2);
        let (left, right) = values.split_at(123);
        let mut merged = of(right, 2);
        merged.merge(&of(left, 2));
        assert_eq!(merged, whole);
        assert!((whole.percentile(50.0, 2).unwrap() - 200.0).abs() < 5.0);
        assert!((whole.rank(200.0, 2).unwrap() - 50.0).abs() < 2.0);
    }
}
