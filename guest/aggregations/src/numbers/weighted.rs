//! Weighted average.

use serde::{Deserialize, Serialize};

use super::number::Number;
use super::sum::ExactSum;

/// `Σ value · weight / Σ weight`, with both sums exact. Equal sums give equal values and equal
/// serializations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WeightedAverage {
    products: ExactSum,
    weights: ExactSum,
}

impl WeightedAverage {
    #[cfg(test)]
    /// Adds a value with its weight. Ignores the pair if one of them is infinite or undefined.
    pub(crate) fn add(&mut self, value: f64, weight: f64) {
        if value.is_finite() && weight.is_finite() {
            self.products.add_product(value, weight);
            self.weights.add_f64(weight);
        }
    }

    /// Adds a value with its weight, both exactly.
    pub(crate) fn add_number(&mut self, value: Number, weight: Number) {
        if value.is_finite() && weight.is_finite() {
            self.products.add_number_product(value, weight);
            self.weights.add_number_repeated(weight, 1);
        }
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.products.merge(&other.products);
        self.weights.merge(&other.weights);
    }

    /// Returns the average, rounded once; `None` if the weights add up to zero, as they initially
    /// do.
    pub(crate) fn value(&self) -> Option<f64> {
        self.products.divided_by(&self.weights)
    }
}
