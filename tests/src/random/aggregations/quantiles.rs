//! Quantiles: exact for few distinct values, approximate for many.

use serde_json::Value;

use super::expect::Expect;

/// Maximum number of distinct values for exact quantiles.
const EXACT_QUANTILES: usize = 128;

/// Sorted numbers.
pub(super) struct Quantiles {
    values: Vec<f64>,
    is_exact: bool,
}

impl Quantiles {
    pub(super) fn new(values: Vec<f64>) -> Quantiles {
        let mut distinct = values.clone();
        distinct.dedup();
        Quantiles {
            is_exact: distinct.len() <= EXACT_QUANTILES,
            values,
        }
    }

    /// Interpolates between the two values next to the rank.
    fn interpolated(values: &[f64], q: f64) -> (f64, f64) {
        let rank = q * (values.len() - 1) as f64;
        let (low, high) = (values[rank.floor() as usize], values[rank.ceil() as usize]);
        let part = rank.fract();
        (
            low * (1.0 - part) + high * part,
            (low.abs() + high.abs()) * 1e-14 + 1e-300,
        )
    }

    /// Returns the larger of the two values next to a rank, regardless of signs: errors are shares of it.
    fn scale(values: &[f64], q: f64) -> f64 {
        let rank = q * (values.len() - 1) as f64;
        values[rank.floor() as usize]
            .abs()
            .max(values[rank.ceil() as usize].abs())
    }

    pub(super) fn at(&self, q: f64) -> Expect {
        if self.values.is_empty() {
            return Expect::Is(Value::Null);
        }
        let (value, tolerance) = Quantiles::interpolated(&self.values, q);
        if self.is_exact {
            return Expect::near(value, tolerance);
        }
        let off = Quantiles::scale(&self.values, q) / 255.0 + 1e-300;
        Expect::near(value, off)
    }

    pub(super) fn rank(&self, value: f64) -> Expect {
        if self.values.is_empty() {
            return Expect::Is(Value::Null);
        }
        let share = |value: f64| {
            let num = self.values.iter().filter(|other| **other <= value).count();
            num as f64 / self.values.len() as f64 * 100.0
        };
        let reach = if self.is_exact {
            0.0
        } else {
            value.abs() / 64.0 + 1e-300
        };
        Expect::Between(share(value - reach) - 1e-9, share(value + reach) + 1e-9)
    }

    pub(super) fn deviation(&self) -> Expect {
        if self.values.is_empty() {
            return Expect::Is(Value::Null);
        }
        let distances = |median: f64| {
            let mut distances: Vec<f64> = self
                .values
                .iter()
                .map(|value| (value - median).abs())
                .collect();
            distances.sort_by(f64::total_cmp);
            distances
        };
        let (median, tolerance) = Quantiles::interpolated(&self.values, 0.5);
        let distances = distances(median);
        let (value, more) = Quantiles::interpolated(&distances, 0.5);
        if self.is_exact {
            return Expect::near(value, tolerance * 2.0 + more * 2.0);
        }
        let scale = |values: &[f64]| Quantiles::scale(values, 0.5);
        Expect::near(
            value,
            scale(&distances) / 255.0 + scale(&self.values) / 127.0,
        )
    }
}
