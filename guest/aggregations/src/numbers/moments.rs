//! Count, sum, average, extremes and spread of numbers. Names and meanings are those of
//! Elasticsearch's `stats` and `extended_stats`.

use serde::{Deserialize, Serialize};

use super::number::Number;
use super::sum::{ExactSum, Head, Magnitude, exact_variance_numerator};

#[cfg(test)]
mod tests;

/// Count, sum, minimum and maximum, all exact.
///
/// Infinite and undefined values are ignored. Equal multisets give equal values with equal
/// serializations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stats {
    count: u64,
    sum: ExactSum,
    extremes: Option<(Number, Number)>,
}

impl Stats {
    /// Adds a value `count` times.
    pub(crate) fn add_repeated(&mut self, value: impl Into<Number>, count: u64) {
        let value = value.into();
        if count > 0 && value.is_finite() {
            self.sum.add_number_repeated(value, count);
            self.note(count, value, value);
        }
    }

    /// Adds each value of a slice.
    pub(crate) fn extend_f64(&mut self, values: &[f64]) {
        self.sum.extend_f64(values);
        let (mut count, mut min, mut max) = (0_u64, f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            // Without branches, so that the loop can be vectorized.
            let finite = value.is_finite();
            count += u64::from(finite);
            min = if finite && *value < min { *value } else { min };
            max = if finite && *value > max { *value } else { max };
        }
        if count > 0 {
            self.note(count, min.into(), max.into());
        }
    }

    /// Adds each value of a slice.
    pub(crate) fn extend_i64(&mut self, values: &[i64]) {
        self.sum.extend_i64(values);
        if let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) {
            self.note(values.len() as u64, (*min).into(), (*max).into());
        }
    }

    /// Adds each value of a slice.
    pub(crate) fn extend_u64(&mut self, values: &[u64]) {
        self.sum.extend_u64(values);
        if let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) {
            self.note(values.len() as u64, (*min).into(), (*max).into());
        }
    }

    /// Adds `count` integers with the given sum, minimum and maximum.
    pub(crate) fn add_integers(&mut self, count: u64, sum: i128, min: i128, max: i128) {
        if count > 0 {
            self.sum.add_integer(sum);
            self.note(count, Number::Integer(min), Number::Integer(max));
        }
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.sum.merge(&other.sum);
        if let Some((min, max)) = other.extremes {
            self.note(other.count, min, max);
        }
    }

    fn note(&mut self, count: u64, min: Number, max: Number) {
        self.count = self.count.saturating_add(count);
        self.extremes = Some(match self.extremes {
            None => (min, max),
            Some((least, most)) => (least.smaller(min), most.larger(max)),
        });
    }

    /// Returns the number of values.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum.
    pub(crate) fn sum(&self) -> &ExactSum {
        &self.sum
    }

    /// Returns the smallest value, exactly.
    pub(crate) fn min(&self) -> Option<Number> {
        self.extremes.map(|(min, _)| min)
    }

    /// Returns the largest value, exactly.
    pub(crate) fn max(&self) -> Option<Number> {
        self.extremes.map(|(_, max)| max)
    }

    /// Returns the average, rounded once; `None` without values.
    pub(crate) fn avg(&self) -> Option<f64> {
        self.sum.divided_by_count(self.count)
    }
}

/// Divisor of a variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    /// `n`: the values are the whole population, as in Elasticsearch's `variance` and
    /// `std_deviation`.
    Population,
    /// `n - 1`: the values are a sample.
    Sampling,
}

/// Average minus and plus a multiple of the standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StdDeviationBounds {
    /// `avg - sigma · std_deviation`.
    pub(crate) lower: f64,
    /// `avg + sigma · std_deviation`.
    pub(crate) upper: f64,
}

/// [`Stats`] with the sum of squares, for the spread of values around their average.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ExtendedStats {
    stats: Stats,
    sum_of_squares: ExactSum,
}

impl ExtendedStats {
    #[cfg(test)]
    /// Adds a value.
    pub(crate) fn add(&mut self, value: impl Into<Number>) {
        self.add_repeated(value, 1);
    }

    /// Adds a value `count` times.
    pub(crate) fn add_repeated(&mut self, value: impl Into<Number>, count: u64) {
        let value = value.into();
        self.stats.add_repeated(value, count);
        self.sum_of_squares.add_number_square_repeated(value, count);
    }

    /// Adds each value of a slice.
    pub(crate) fn extend_f64(&mut self, values: &[f64]) {
        self.stats.extend_f64(values);
        self.sum_of_squares.extend_f64_square(values);
    }

    /// Adds each value of a slice.
    pub(crate) fn extend_i64(&mut self, values: &[i64]) {
        self.stats.extend_i64(values);
        self.extend_squares(values.iter().map(|value| value.unsigned_abs()));
    }

    /// Adds each value of a slice.
    pub(crate) fn extend_u64(&mut self, values: &[u64]) {
        self.stats.extend_u64(values);
        self.extend_squares(values.iter().copied());
    }

    fn extend_squares(&mut self, magnitudes: impl Iterator<Item = u64>) {
        let mut total = 0_u128;
        for magnitude in magnitudes {
            let square = u128::from(magnitude) * u128::from(magnitude);
            total = match total.checked_add(square) {
                Some(total) => total,
                None => {
                    self.sum_of_squares.add_magnitude(total);
                    square
                }
            };
        }
        self.sum_of_squares.add_magnitude(total);
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.stats.merge(&other.stats);
        self.sum_of_squares.merge(&other.sum_of_squares);
    }

    /// Returns count, sum, average and extremes.
    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Returns the exact sum of squares.
    pub(crate) fn sum_of_squares(&self) -> &ExactSum {
        &self.sum_of_squares
    }

    /// Returns the variance, rounded once; `None` without values, and for a sample of one.
    pub(crate) fn variance(&self, spread: Spread) -> Option<f64> {
        Some(self.exact_variance(spread)?.round(false))
    }

    /// Returns the square root of the variance, within one unit in the last place. It does not
    /// overflow or underflow where the variance does. Returns `None` without values, and for a
    /// sample of one.
    pub(crate) fn std_deviation(&self, spread: Spread) -> Option<f64> {
        Some(self.exact_variance(spread)?.sqrt())
    }

    /// Returns the average minus and plus `sigma` standard deviations, computed from the rounded
    /// values of both.
    pub(crate) fn std_deviation_bounds(
        &self,
        sigma: f64,
        spread: Spread,
    ) -> Option<StdDeviationBounds> {
        let (avg, reach) = (self.stats.avg()?, sigma * self.std_deviation(spread)?);
        Some(StdDeviationBounds {
            lower: avg - reach,
            upper: avg + reach,
        })
    }

    fn exact_variance(&self, spread: Spread) -> Option<Head> {
        let count = self.stats.count;
        let free = match spread {
            Spread::Population => count,
            Spread::Sampling => count.checked_sub(1)?,
        };
        let divisor = Magnitude::whole(count).times(&Magnitude::whole(free));
        exact_variance_numerator(count, &self.stats.sum, &self.sum_of_squares).ratio(&divisor)
    }
}
