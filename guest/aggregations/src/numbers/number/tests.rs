//! Order of numbers: comparison with exact fractions.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        any::<i128>().prop_map(Number::from),
        any::<i64>().prop_map(Number::from),
        (-3_i64..3).prop_map(Number::from),
        any::<f64>()
            .prop_filter("finite", |value| value.is_finite())
            .prop_map(Number::from),
        (-6_i32..6).prop_map(|value| Number::from(f64::from(value) / 2.0)),
        any::<i64>().prop_map(|value| Number::from(value as f64)),
        any::<i128>().prop_map(|value| Number::from(value as f64)),
        Just(Number::from(i128::MIN)),
        Just(Number::from(i128::MAX)),
        Just(Number::from(i128::MIN as f64)),
        Just(Number::from(i128::MAX as f64)),
    ]
}

/// Returns the number in units of 2^-1074.
fn exact(number: Number) -> BigInt {
    match number {
        Number::Integer(value) => BigInt::from(value) << 1074,
        Number::Float(mut value) => {
            let (mut doubled, mut halved) = (0, 0);
            while value != value.trunc() {
                value *= 2.0;
                doubled += 1;
            }
            while value.abs() >= 9e18 {
                value /= 2.0;
                halved += 1;
            }
            BigInt::from(value as i64) << (1074 + halved - doubled)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn the_order_is_that_of_exact_values(left in number(), right in number()) {
        prop_assert_eq!(left.cmp(&right), exact(left).cmp(&exact(right)));
    }

    #[test]
    fn extremes_do_not_depend_on_order(left in number(), right in number()) {
        let bytes = |number: Number| postcard::to_allocvec(&number).unwrap();
        prop_assert_eq!(bytes(left.smaller(right)), bytes(right.smaller(left)));
        prop_assert_eq!(bytes(left.larger(right)), bytes(right.larger(left)));
        prop_assert!(left.smaller(right) <= left && left.larger(right) >= left);
    }

    #[test]
    fn a_number_is_read_as_it_was_written(number in number()) {
        let bytes = postcard::to_allocvec(&number).unwrap();
        let read: Number = postcard::from_bytes(&bytes).unwrap();
        prop_assert_eq!(read, number);
        prop_assert_eq!(postcard::to_allocvec(&read).unwrap(), bytes);
    }
}

#[test]
fn neighbours_that_round_to_one_float_are_different() {
    let float = Number::from(9_007_199_254_740_992.0);
    assert!(Number::from(9_007_199_254_740_993_i64) > float);
    assert_eq!(Number::from(9_007_199_254_740_992_i64), float);
    assert!(Number::from(u64::MAX) < Number::from(u64::MAX as f64));
}

#[test]
fn zero_has_no_sign_even_when_it_was_written_with_one() {
    assert!(matches!(Number::from(-0.0), Number::Float(zero) if zero.is_sign_positive()));
    let written = postcard::to_allocvec(&Number::Float(-0.0)).unwrap();
    let read: Number = postcard::from_bytes(&written).unwrap();
    assert_eq!(read.to_f64().to_bits(), 0);
}

#[test]
fn undefined_is_above_everything_and_infinity_above_whole_numbers() {
    let (nan, infinity) = (Number::from(f64::NAN), Number::from(f64::INFINITY));
    assert!(nan > infinity && infinity > Number::from(i128::MAX) && nan == nan);
    assert!(nan > Number::from(i128::MAX));
    assert!(Number::from(f64::NEG_INFINITY) < Number::from(i128::MIN));
}
