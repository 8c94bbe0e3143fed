//! Pipelines on rows: comparison with simple loops.

use proptest::prelude::*;

use super::script::{Names, Script, WindowFunction};
use super::series;
use super::sibling::nearest;
use super::types::Method;

/// Generates small integers, so that sums are exact in any order, with missing numbers and gaps.
fn rows() -> impl Strategy<Value = Vec<Option<f64>>> {
    let value = prop_oneof![
        6 => (-9..10i32).prop_map(|value| Some(f64::from(value))),
        1 => Just(None),
        1 => Just(Some(f64::NAN)),
    ];
    prop::collection::vec(value, 0..20)
}

/// Compares rows; undefined numbers equal each other.
fn same(left: &[Option<f64>], right: &[Option<f64>]) -> bool {
    let is_same = |(left, right): (&Option<f64>, &Option<f64>)| match (left, right) {
        (Some(left), Some(right)) => left == right || (left.is_nan() && right.is_nan()),
        (left, right) => left == right,
    };
    left.len() == right.len() && left.iter().zip(right).all(is_same)
}

fn moving(source: &str) -> Script {
    let names = Names {
        has_window: true,
        constants: vec![("k", 2.0)],
        ..Names::default()
    };
    Script::parse(source, &names).unwrap()
}

proptest! {
    #[test]
    fn a_derivative_is_the_difference_of_neighbours(row in rows()) {
        let mut expected = Vec::new();
        for at in 0..row.len() {
            expected.push(match at {
                0 => None,
                _ => match (row[at - 1], row[at]) {
                    (Some(before), Some(now)) => Some(now - before),
                    _ => None,
                },
            });
        }
        prop_assert!(same(&series::derivative(&row), &expected));
    }

    #[test]
    fn a_cumulative_sum_has_a_number_in_every_bucket(row in rows()) {
        let mut sum = 0.0;
        let mut expected = Vec::new();
        for value in &row {
            if let Some(value) = value && !value.is_nan() {
                sum += value;
            }
            expected.push(Some(sum));
        }
        prop_assert!(same(&series::cumulative_sum(&row), &expected));
    }

    #[test]
    fn a_serial_diff_is_over_the_lag_and_none_across_gaps(row in rows(), lag in 1..25usize) {
        let mut expected = vec![None; row.len()];
        for at in lag..row.len() {
            if let (Some(before), Some(now)) = (row[at - lag], row[at])
                && !before.is_nan() && !now.is_nan()
            {
                expected[at] = Some(now - before);
            }
        }
        prop_assert!(same(&series::serial_diff(&row, lag), &expected));
    }

    #[test]
    fn windows_count_values_and_not_buckets(row in rows(), window in 1..6usize, shift in -4..5i64) {
        let values: Vec<f64> = row.iter().flatten().copied().filter(|value| !value.is_nan()).collect();
        let mut expected = Vec::new();
        let mut at = 0;
        for value in &row {
            if value.is_none_or(f64::is_nan) {
                expected.push(None);
                continue;
            }
            let mut sum = 0.0;
            for place in (at + shift - window as i64)..(at + shift) {
                if place >= 0 && (place as usize) < values.len() {
                    sum += values[place as usize];
                }
            }
            expected.push(Some(sum));
            at += 1;
        }
        let script = moving("MovingFunctions.sum(values)");
        prop_assert!(same(&series::moving(&row, &script, window, shift), &expected));
    }

    #[test]
    fn functions_of_a_window_are_what_their_names_say(
        window in prop::collection::vec(-9..10i32, 1..10), alpha in 0.0..1.0f64, beta in 0.0..1.0f64,
    ) {
        let window: Vec<f64> = window.into_iter().map(f64::from).collect();
        let of = |function: WindowFunction| function.of(&window, alpha, beta);
        let (mut min, mut max, mut sum) = (window[0], window[0], 0.0);
        let (mut weighted, mut weights) = (0.0, 1.0);
        let mut smooth = window[0];
        let (mut levels, mut trends) = (vec![window[0]], vec![0.0]);
        for (place, value) in window.iter().enumerate() {
            if *value < min { min = *value; }
            if *value > max { max = *value; }
            sum += value;
            weighted += value * (place + 1) as f64;
            weights += (place + 1) as f64;
            if place > 0 {
                smooth = value * alpha + smooth * (1.0 - alpha);
                let level = alpha * value + (1.0 - alpha) * (levels[place - 1] + trends[place - 1]);
                trends.push(beta * (level - levels[place - 1]) + (1.0 - beta) * trends[place - 1]);
                levels.push(level);
            }
        }
        prop_assert_eq!(of(WindowFunction::Min), min);
        prop_assert_eq!(of(WindowFunction::Max), max);
        prop_assert_eq!(of(WindowFunction::Sum), sum);
        prop_assert_eq!(of(WindowFunction::UnweightedAvg), sum / window.len() as f64);
        prop_assert_eq!(of(WindowFunction::LinearWeightedAvg), weighted / weights);
        prop_assert_eq!(of(WindowFunction::Ewma), smooth);
        prop_assert_eq!(of(WindowFunction::Holt), *levels.last().unwrap());
        let mean = sum / window.len() as f64;
        let squares: f64 = window.iter().map(|value| (value - mean).powi(2)).sum();
        let expected = (squares / window.len() as f64).sqrt();
        let found = WindowFunction::StdDev.of(&window, mean, 0.0);
        prop_assert!((found - expected).abs() <= 1e-12 * expected.max(1.0));
    }

    #[test]
    fn a_percentile_is_one_of_the_numbers(
        mut values in prop::collection::vec(-9..10i32, 1..20), percent in 0..=100u32,
    ) {
        values.sort_unstable();
        let sorted: Vec<f64> = values.iter().copied().map(f64::from).collect();
        // The rank times 200, so that the half is an integer.
        let rank = (2 * percent as usize * (values.len() - 1) + 100) / 200;
        prop_assert_eq!(nearest(&sorted, f64::from(percent)), Some(sorted[rank]));
    }

    #[test]
    fn shares_of_a_row_add_up_to_one(row in rows()) {
        let values: Vec<f64> = row.iter().flatten().copied().filter(|value| !value.is_nan()).collect();
        for method in [Method::PercentOfSum, Method::Softmax] {
            let result = series::normalize(&row, method);
            for (value, result) in row.iter().zip(&result) {
                prop_assert_eq!(value.is_none_or(f64::is_nan), result.is_none());
            }
            let total: f64 = result.iter().flatten().sum();
            let is_shared = method == Method::Softmax || values.iter().sum::<f64>() != 0.0;
            if !values.is_empty() && is_shared {
                prop_assert!((total - 1.0).abs() < 1e-9, "{:?}: {}", method, total);
            }
        }
    }
}

#[test]
fn an_empty_window_has_a_sum_and_nothing_else() {
    for function in ["max", "min", "unweightedAvg", "linearWeightedAvg"] {
        let script = moving(&format!("MovingFunctions.{function}(values)"));
        assert!(script.number(&[], &[]).is_nan(), "{function}");
    }
    for source in [
        "MovingFunctions.stdDev(values, MovingFunctions.unweightedAvg(values))",
        "MovingFunctions.stdDev(values, 0)",
        "MovingFunctions.ewma(values, 0.5)",
        "MovingFunctions.holt(values, 0.5, 0.5)",
    ] {
        assert!(moving(source).number(&[], &[]).is_nan(), "{source}");
    }
    assert_eq!(moving("MovingFunctions.sum(values)").number(&[], &[]), 0.0);
}

#[test]
fn functions_of_a_window_stand_in_expressions() {
    let script = moving(
        "values.length > 1 ? params.k * (MovingFunctions.max(values) - MovingFunctions.min(values)) : -1",
    );
    assert_eq!(script.number(&[], &[3.0, 8.0, 5.0]), 10.0);
    assert_eq!(script.number(&[], &[3.0]), -1.0);
}

/// The examples from Elasticsearch's documentation.
#[test]
fn rows_are_rescaled_as_documented() {
    let row: Vec<Option<f64>> = [5.0, 5.0, 10.0, 50.0, 10.0, 20.0].map(Some).to_vec();
    let check = |method: Method, expected: [f64; 6]| {
        let found = series::normalize(&row, method);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found.unwrap() - expected).abs() < 0.006,
                "{method:?}: {found:?}, {expected}"
            );
        }
    };
    check(Method::Rescale01, [0.0, 0.0, 0.1111, 1.0, 0.1111, 0.3333]);
    check(
        Method::Rescale0100,
        [0.0, 0.0, 11.111, 100.0, 11.111, 33.333],
    );
    check(Method::PercentOfSum, [0.05, 0.05, 0.1, 0.5, 0.1, 0.2]);
    check(
        Method::Mean,
        [-0.2593, -0.2593, -0.1481, 0.7407, -0.1481, 0.0741],
    );
    check(Method::ZScore, [-0.68, -0.68, -0.39, 1.94, -0.39, 0.19]);
    check(Method::Softmax, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
}
