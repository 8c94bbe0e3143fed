//! `MovingFunctions`: functions of a window of values. Values are in the order of their buckets,
//! and none is undefined.

use super::math::{larger, smaller};

/// Function of a window and up to two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowFunction {
    Max,
    Min,
    Sum,
    StdDev,
    UnweightedAvg,
    LinearWeightedAvg,
    Ewma,
    Holt,
}

const FUNCTIONS: [(&str, WindowFunction); 8] = [
    ("max", WindowFunction::Max),
    ("min", WindowFunction::Min),
    ("sum", WindowFunction::Sum),
    ("stdDev", WindowFunction::StdDev),
    ("unweightedAvg", WindowFunction::UnweightedAvg),
    ("linearWeightedAvg", WindowFunction::LinearWeightedAvg),
    ("ewma", WindowFunction::Ewma),
    ("holt", WindowFunction::Holt),
];

impl WindowFunction {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let found = FUNCTIONS.iter().find(|(known, _)| *known == name);
        found.map(|(_, function)| *function)
    }

    /// Returns the names of all functions, for error messages.
    pub(crate) fn names() -> String {
        let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Returns the number of parameters besides the window.
    pub(crate) fn num_numbers(self) -> usize {
        match self {
            Self::StdDev | Self::Ewma => 1,
            Self::Holt => 2,
            _ => 0,
        }
    }

    /// Applies the function. For an empty window, the sum is 0, and all others are undefined.
    pub(crate) fn of(self, window: &[f64], first: f64, second: f64) -> f64 {
        let count = window.len() as f64;
        let sum = || window.iter().fold(0.0, |sum, value| sum + value);
        match self {
            Self::Max => window.iter().copied().reduce(larger).unwrap_or(f64::NAN),
            Self::Min => window.iter().copied().reduce(smaller).unwrap_or(f64::NAN),
            Self::Sum => sum(),
            Self::UnweightedAvg => sum() / count,
            Self::StdDev => {
                let squares = window.iter().map(|value| (value - first) * (value - first));
                libm::sqrt(squares.fold(0.0, |sum, square| sum + square) / count)
            }
            Self::LinearWeightedAvg => linear_weighted_avg(window),
            Self::Ewma => ewma(window, first),
            Self::Holt => holt(window, first, second),
        }
    }
}

/// Returns the average in which the first value counts once, the second twice and so on. The
/// divisor is one more than the sum of these weights, as in Elasticsearch, so that figures compare.
fn linear_weighted_avg(window: &[f64]) -> f64 {
    if window.is_empty() {
        return f64::NAN;
    }
    let (mut sum, mut weight, mut divisor) = (0.0, 0.0, 1.0);
    for value in window {
        weight += 1.0;
        divisor += weight;
        sum += value * weight;
    }
    sum / divisor
}

/// Returns the exponentially weighted average: `alpha` is the weight of each further value.
fn ewma(window: &[f64], alpha: f64) -> f64 {
    let values = window.iter().copied();
    let average = values.reduce(|average, value| value * alpha + average * (1.0 - alpha));
    average.unwrap_or(f64::NAN)
}

/// Returns the level of a series with a trend: `alpha` is the weight of each further value in the
/// level, `beta` that of each further slope in the trend.
fn holt(window: &[f64], alpha: f64, beta: f64) -> f64 {
    let Some((first, others)) = window.split_first() else {
        return f64::NAN;
    };
    let (mut level, mut trend) = (*first, 0.0);
    for value in others {
        let next = alpha * value + (1.0 - alpha) * (level + trend);
        trend = beta * (next - level) + (1.0 - beta) * trend;
        level = next;
    }
    level
}
