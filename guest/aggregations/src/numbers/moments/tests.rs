//! Statistics: comparison with integer arithmetic, and with published values.

use proptest::prelude::*;

use super::super::weighted::WeightedAverage;
use super::*;

fn extended(values: &[f64]) -> ExtendedStats {
    let mut stats = ExtendedStats::default();
    stats.extend_f64(values);
    stats
}

fn bytes(stats: &ExtendedStats) -> Vec<u8> {
    postcard::to_allocvec(stats).unwrap()
}

#[test]
fn moments_of_a_known_list_are_known() {
    let stats = extended(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
    assert_eq!((stats.stats().count(), stats.stats().avg()), (8, Some(5.0)));
    assert_eq!(
        (
            stats.stats().sum().to_f64(),
            stats.sum_of_squares().to_f64()
        ),
        (40.0, 232.0)
    );
    assert_eq!(stats.stats().min(), Some(Number::from(2.0)));
    assert_eq!(stats.stats().max(), Some(Number::from(9.0)));
    assert_eq!(stats.variance(Spread::Population), Some(4.0));
    assert_eq!(stats.variance(Spread::Sampling), Some(32.0 / 7.0));
    assert_eq!(stats.std_deviation(Spread::Population), Some(2.0));
    let bounds = StdDeviationBounds {
        lower: -1.0,
        upper: 11.0,
    };
    assert_eq!(
        stats.std_deviation_bounds(3.0, Spread::Population),
        Some(bounds)
    );
}

#[test]
fn nothing_has_no_average_and_one_value_no_sampling_variance() {
    let none = ExtendedStats::default();
    assert_eq!((none.stats().avg(), none.stats().min()), (None, None));
    assert_eq!(
        (
            none.variance(Spread::Population),
            none.variance(Spread::Sampling)
        ),
        (None, None)
    );
    let one = extended(&[0.1]);
    assert_eq!(one.stats().avg(), Some(0.1));
    assert_eq!(
        (
            one.variance(Spread::Population),
            one.variance(Spread::Sampling)
        ),
        (Some(0.0), None)
    );
}

#[test]
fn deviations_survive_where_squares_leave_the_range() {
    assert_eq!(
        extended(&[1e300, -1e300]).std_deviation(Spread::Population),
        Some(1e300)
    );
    let small = f64::from_bits(3);
    assert_eq!(
        extended(&[small, -small]).std_deviation(Spread::Population),
        Some(small)
    );
    assert_eq!(
        extended(&[1e300, -1e300]).variance(Spread::Population),
        Some(f64::INFINITY)
    );
}

#[test]
fn values_that_are_not_finite_are_not_counted() {
    let mut stats = extended(&[f64::NAN, 1.0, f64::INFINITY, -0.0]);
    stats.add(f64::NEG_INFINITY);
    stats.add_repeated(5.0, 0);
    assert_eq!((stats.stats().count(), stats.stats().avg()), (2, Some(0.5)));
    let Some(Number::Float(min)) = stats.stats().min() else {
        panic!()
    };
    assert_eq!(min.to_bits(), 0);
}

#[test]
fn the_largest_whole_numbers_stay_exact() {
    let mut stats = Stats::default();
    stats.extend_u64(&[u64::MAX, u64::MAX - 1]);
    stats.extend_i64(&[i64::MIN]);
    assert_eq!(stats.max(), Some(Number::from(u64::MAX)));
    assert_eq!(stats.min(), Some(Number::from(i64::MIN)));
    let mut wide = ExtendedStats::default();
    wide.extend_u64(&[u64::MAX, u64::MAX, u64::MAX]);
    assert_eq!(wide.variance(Spread::Population), Some(0.0));
}

#[test]
fn a_weighted_average_is_exact_until_its_division() {
    let mut average = WeightedAverage::default();
    assert_eq!(average.value(), None);
    average.add(1e308, 1e308);
    average.add(3.0, 1e-320);
    average.add(-1e308, 1e308);
    average.add(f64::NAN, 1.0);
    average.add(0.0, -1e308);
    average.add_number(Number::from(7_i64), Number::from(0_i64));
    let mut other = WeightedAverage::default();
    other.add_number(Number::from(0_i64), Number::from(-1e308));
    average.merge(&other);
    assert_eq!(average.value(), Some(3.0));
    let read: WeightedAverage =
        postcard::from_bytes(&postcard::to_allocvec(&average).unwrap()).unwrap();
    assert_eq!(read, average);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn moments_of_whole_numbers_are_those_of_integers(
        values in prop::collection::vec(-1000_i64..1000, 2..40),
    ) {
        let mut stats = ExtendedStats::default();
        stats.extend_i64(&values);
        let n = values.len() as i64;
        let (sum, squares) = (values.iter().sum::<i64>(), values.iter().map(|v| v * v).sum::<i64>());
        let spread = n * squares - sum * sum;
        prop_assert_eq!(stats.stats().avg(), Some(sum as f64 / n as f64));
        prop_assert_eq!(stats.variance(Spread::Population), Some(spread as f64 / (n * n) as f64));
        prop_assert_eq!(stats.variance(Spread::Sampling), Some(spread as f64 / (n * (n - 1)) as f64));
        let root = (spread as f64 / (n * n) as f64).sqrt();
        prop_assert_eq!(stats.std_deviation(Spread::Population), Some(root));
        let mut floats = ExtendedStats::default();
        values.iter().for_each(|value| floats.add(*value as f64));
        prop_assert_eq!(floats.variance(Spread::Population), stats.variance(Spread::Population));
        prop_assert_eq!(floats, stats);
    }

    #[test]
    fn bytes_depend_neither_on_order_nor_on_division(
        values in prop::collection::vec(
            (any::<u64>().prop_map(f64::from_bits), any::<i64>(), 0..3_usize),
            0..40,
        ),
    ) {
        let mut whole = ExtendedStats::default();
        let mut parts = vec![ExtendedStats::default(); 3];
        for (float, integer, part) in &values {
            whole.add(*float);
            whole.add(*integer);
            parts[*part].extend_f64(&[*float]);
        }
        for (_, integer, part) in values.iter().rev() {
            parts[2 - *part].extend_i64(&[*integer]);
        }
        let mut merged: ExtendedStats = postcard::from_bytes(&bytes(&parts[2])).unwrap();
        merged.merge(&parts[0]);
        merged.merge(&parts[1]);
        prop_assert_eq!(bytes(&merged), bytes(&whole));
    }

    #[test]
    fn hostile_statistics_do_not_panic(input in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Ok(mut stats) = postcard::from_bytes::<ExtendedStats>(&input) {
            let copy = stats.clone();
            stats.merge(&copy);
            let _ = (stats.stats().avg(), stats.std_deviation_bounds(2.0, Spread::Sampling));
            prop_assert!(stats.variance(Spread::Population).is_none_or(|variance| variance >= 0.0));
        }
    }
}
