//! Long arithmetic: comparison with another library.

use num_bigint::BigUint;
use proptest::prelude::*;

use super::*;

fn big(magnitude: &Magnitude) -> BigUint {
    BigUint::new(magnitude.digits().to_vec()) << (32 * (magnitude.place() + 20))
}

fn magnitude() -> impl Strategy<Value = Magnitude> {
    let digit = prop_oneof![any::<u32>(), Just(0), Just(u32::MAX), Just(1)];
    (-10..10_i32, prop::collection::vec(digit, 0..8))
        .prop_map(|(place, digits)| Magnitude::new(place, digits))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn products_differences_and_order_are_exact(left in magnitude(), right in magnitude()) {
        let (exact_left, exact_right) = (big(&left), big(&right));
        prop_assert_eq!(big(&left.times(&right)) << 640, &exact_left * &exact_right);
        prop_assert_eq!(left.cmp(&right), exact_left.cmp(&exact_right));
        match left.minus(&right) {
            None => prop_assert!(exact_left < exact_right),
            Some(difference) => prop_assert_eq!(big(&difference) + exact_right, exact_left),
        }
    }

    #[test]
    fn quotients_have_enough_bits_and_note_the_remainder(left in magnitude(), right in magnitude()) {
        let Some(head) = left.ratio(&right) else {
            prop_assert!(right.is_zero());
            return Ok(());
        };
        if left.is_zero() {
            prop_assert_eq!(head.bits, 0);
            return Ok(());
        }
        prop_assert!(head.bits >= 1 << 65);
        // bits · 2^exponent · right = left, or with the flag, between bits - 1 and bits + 1.
        let scale = |value: BigUint, by: i32| value << usize::try_from(2000 + by).unwrap();
        let product = |bits: u128| scale(BigUint::from(bits) * big(&right), head.exponent);
        let left = scale(big(&left), 0);
        if head.bits & 1 == 0 {
            prop_assert_eq!(product(head.bits), left);
        } else {
            prop_assert!(product(head.bits - 1) < left && left < product(head.bits + 1));
        }
    }
}

#[test]
fn halves_go_to_the_even_neighbour() {
    let round = |bits, exponent| Head { bits, exponent }.round(false);
    assert_eq!(round((1 << 53) + 1, 0), 9_007_199_254_740_992.0);
    assert_eq!(round((1 << 53) + 3, 0), 9_007_199_254_740_996.0);
    assert_eq!(round(1, -1075), 0.0);
    assert_eq!(round(3, -1075).to_bits(), 2);
    assert_eq!(round(u128::MAX, -128), 1.0);
    assert_eq!(round(u128::MAX, -1074 - 128).to_bits(), 1);
    assert_eq!(round(u128::MAX, -1074 - 129), 0.0);
    assert_eq!(round((1 << 54) - 1, 970), f64::INFINITY);
    assert_eq!(round((1 << 53) - 1, 971), f64::MAX);
}
