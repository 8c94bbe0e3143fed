//! Sums: comparison with integers of any size, in units of 2^-2148.

use num_bigint::{BigInt, Sign};
use proptest::prelude::*;

use super::super::number::Number;
use super::*;
use rounding::nearest;

/// Rounding, checked by its definition in integer arithmetic.
mod rounding {
    use num_bigint::BigInt;

    fn scaled(value: f64) -> BigInt {
        super::scaled(value, 2148)
    }

    /// Returns whether `value` is the nearest `f64` to `numerator / divisor`, with the numerator in
    /// units of 2^-2148.
    pub(super) fn nearest(value: f64, numerator: &BigInt, divisor: &BigInt) -> bool {
        let zero = BigInt::ZERO;
        if *numerator == zero {
            return value.to_bits() == 0;
        }
        let (numerator, divisor) = if *divisor < zero {
            (-numerator, -divisor)
        } else {
            (numerator.clone(), divisor.clone())
        };
        // The next number after the largest, with an unlimited exponent.
        let step = |value: f64| {
            if value.is_infinite() {
                BigInt::from(1) << (1024 + 2148)
            } else {
                scaled(value)
            }
        };
        let (magnitude, target) = (
            value.abs(),
            if numerator < zero {
                -numerator.clone()
            } else {
                numerator.clone()
            },
        );
        if (numerator < zero) != value.is_sign_negative() {
            return false;
        }
        let at = step(magnitude);
        let up = if magnitude.is_infinite() {
            None
        } else {
            Some(step(magnitude.next_up()))
        };
        let down = if magnitude == 0.0 {
            None
        } else {
            Some(step(magnitude.next_down()))
        };
        let even = magnitude.to_bits() & 1 == 0;
        // Compares twice the number with the sum of two neighbours.
        let twice: BigInt = target * 2;
        let below = up.is_none_or(|up| {
            let edge = (&at + up) * &divisor;
            twice < edge || (even && twice == edge)
        });
        let above = down.is_none_or(|down| {
            let edge = (&at + down) * &divisor;
            twice > edge || (even && twice == edge)
        });
        below && above
    }
}

/// Returns the integer `value · 2^unit`. It is computed by doubling, to be independent of the bit
/// operations in the sum.
fn scaled(value: f64, unit: usize) -> BigInt {
    let (mut value, mut doubled) = (value, 0);
    while value != value.trunc() {
        value *= 2.0;
        doubled += 1;
    }
    let mut halved = 0;
    while value.abs() >= 9e18 {
        value /= 2.0;
        halved += 1;
    }
    BigInt::from(value as i64) << (unit + halved - doubled)
}

fn big(value: f64) -> BigInt {
    scaled(value, 2148)
}

fn square(value: f64) -> BigInt {
    scaled(value, 1074).pow(2)
}

fn finite() -> impl Strategy<Value = f64> {
    let any_bits = any::<u64>()
        .prop_map(f64::from_bits)
        .prop_filter("finite", |value| value.is_finite());
    let subnormal = (any::<bool>(), 0_u64..1 << 52)
        .prop_map(|(negative, bits)| f64::from_bits(bits | u64::from(negative) << 63));
    prop_oneof![
        4 => any_bits,
        1 => subnormal,
        4 => -1e6..1e6_f64,
        2 => (-1000_i32..1000).prop_map(f64::from),
        1 => Just(0.0), 1 => Just(-0.0), 1 => Just(f64::MAX), 1 => Just(-f64::MAX),
        1 => Just(f64::MIN_POSITIVE),
    ]
}

#[derive(Clone, Debug)]
enum Term {
    Float(f64),
    FloatTimes(f64, u64),
    FloatSquare(f64),
    FloatSquareTimes(f64, u64),
    Integer(i128),
    IntegerTimes(i128, u64),
    IntegerSquare(i128),
    IntegerSquareTimes(i128, u64),
    Product(f64, f64),
    NumberProduct(i128, f64),
}

fn integer() -> impl Strategy<Value = i128> {
    prop_oneof![
        any::<i64>().prop_map(i128::from),
        any::<u64>().prop_map(i128::from),
        any::<i128>(),
        Just(i128::MIN),
        Just(i128::MAX),
        -10..10_i128,
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..5_u64]
}

fn term() -> impl Strategy<Value = Term> {
    prop_oneof![
        4 => finite().prop_map(Term::Float),
        1 => (finite(), count()).prop_map(|(value, count)| Term::FloatTimes(value, count)),
        1 => finite().prop_map(Term::FloatSquare),
        1 => (finite(), count()).prop_map(|(value, count)| Term::FloatSquareTimes(value, count)),
        2 => integer().prop_map(Term::Integer),
        1 => (integer(), count()).prop_map(|(value, count)| Term::IntegerTimes(value, count)),
        1 => integer().prop_map(Term::IntegerSquare),
        1 => (integer(), count()).prop_map(|(value, count)| Term::IntegerSquareTimes(value, count)),
        1 => (finite(), finite()).prop_map(|(left, right)| Term::Product(left, right)),
        1 => (integer(), finite()).prop_map(|(left, right)| Term::NumberProduct(left, right)),
    ]
}

impl Term {
    fn add_to(&self, sum: &mut ExactSum) {
        match *self {
            Self::Float(value) => sum.add_f64(value),
            Self::FloatTimes(value, count) => sum.add_f64_repeated(value, count),
            Self::FloatSquare(value) => sum.add_f64_square(value),
            Self::FloatSquareTimes(value, count) => sum.add_f64_square_repeated(value, count),
            Self::Integer(value) => sum.add_integer(value),
            Self::IntegerTimes(value, count) => sum.add_integer_repeated(value, count),
            Self::IntegerSquare(value) => sum.add_integer_square(value),
            Self::IntegerSquareTimes(value, count) => sum.add_integer_square_repeated(value, count),
            Self::Product(left, right) => sum.add_product(left, right),
            Self::NumberProduct(left, right) => {
                sum.add_number_product(Number::Integer(left), Number::Float(right));
            }
        }
    }

    fn exact(&self) -> BigInt {
        let whole = |value: i128| BigInt::from(value) << 2148;
        match *self {
            Self::Float(value) => big(value),
            Self::FloatTimes(value, count) => big(value) * count,
            Self::FloatSquare(value) => square(value),
            Self::FloatSquareTimes(value, count) => square(value) * count,
            Self::Integer(value) => whole(value),
            Self::IntegerTimes(value, count) => whole(value) * count,
            Self::IntegerSquare(value) => whole(value) * value,
            Self::IntegerSquareTimes(value, count) => whole(value) * value * count,
            Self::Product(left, right) => scaled(left, 1074) * scaled(right, 1074),
            Self::NumberProduct(left, right) => big(right) * left,
        }
    }
}

fn sum_of(terms: &[Term]) -> ExactSum {
    let mut sum = ExactSum::default();
    terms.iter().for_each(|term| term.add_to(&mut sum));
    sum
}

fn exact_of(terms: &[Term]) -> BigInt {
    terms.iter().map(Term::exact).sum()
}

fn one() -> BigInt {
    BigInt::from(1)
}

fn bytes(sum: &ExactSum) -> Vec<u8> {
    postcard::to_allocvec(sum).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_sum_of_any_terms_is_rounded_once(terms in prop::collection::vec(term(), 0..20)) {
        let (sum, exact) = (sum_of(&terms), exact_of(&terms));
        prop_assert!(nearest(sum.to_f64(), &exact, &one()), "{} for {}", sum.to_f64(), exact);
        prop_assert_eq!(sum.is_zero(), exact == BigInt::ZERO);
    }

    #[test]
    fn large_terms_that_cancel_leave_the_small_ones(
        terms in prop::collection::vec(term(), 1..12),
        small in finite(),
        extra in prop::collection::vec(finite(), 0..3),
    ) {
        let mut sum = sum_of(&terms);
        let mut opposite = ExactSum::default();
        for term in &terms {
            match *term {
                Term::Float(value) => opposite.add_f64(-value),
                Term::FloatTimes(value, count) => opposite.add_f64_repeated(-value, count),
                Term::Product(left, right) => opposite.add_product(-left, right),
                _ => {
                    // Removes the term itself by adding its value with the opposite sign.
                    let mut alone = ExactSum::default();
                    term.add_to(&mut alone);
                    let (negative, total) = alone.total();
                    for (at, digit) in total.digits().iter().enumerate() {
                        let place = total.place() + at as i32;
                        opposite.add_term(!negative, u128::from(*digit), place * 32);
                    }
                }
            }
        }
        sum.add_f64(small);
        sum.extend_f64(&extra);
        sum.merge(&opposite);
        let mut rest = ExactSum::default();
        rest.extend_f64(&extra);
        rest.add_f64(small);
        prop_assert_eq!(&sum, &rest);
        prop_assert_eq!(bytes(&sum), bytes(&rest));
        let exact: BigInt = big(small) + extra.iter().map(|value| big(*value)).sum::<BigInt>();
        prop_assert!(nearest(sum.to_f64(), &exact, &one()));
    }

    #[test]
    fn state_depends_neither_on_order_nor_on_division(
        terms in prop::collection::vec(term(), 0..24),
        keys in prop::collection::vec((any::<u32>(), 0_usize..4), 24),
    ) {
        let whole = sum_of(&terms);
        let mut shuffled: Vec<_> = terms.iter().zip(&keys).collect();
        shuffled.sort_by_key(|(_, key)| key.0);
        let mut parts = vec![ExactSum::default(); 4];
        for (term, (_, part)) in shuffled {
            term.add_to(&mut parts[*part]);
        }
        // Some parts are serialized before they are merged.
        let mut merged: ExactSum = postcard::from_bytes(&bytes(&parts[3])).unwrap();
        merged.merge(&parts[1]);
        let mut others = parts[0].clone();
        others.merge(&postcard::from_bytes(&bytes(&parts[2])).unwrap());
        merged.merge(&others);
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(bytes(&merged), bytes(&whole));
        prop_assert_eq!(merged.to_f64().to_bits(), whole.to_f64().to_bits());
    }

    #[test]
    fn a_slice_adds_up_to_its_values(values in prop::collection::vec(finite(), 0..40), first in finite()) {
        let (mut slice, mut single) = (ExactSum::default(), ExactSum::default());
        slice.add_f64(first);
        slice.extend_f64(&values);
        values.iter().for_each(|value| single.add_f64(*value));
        single.add_f64(first);
        prop_assert_eq!(slice, single);
        let (mut slice, mut single) = (ExactSum::default(), ExactSum::default());
        slice.extend_f64_square(&values);
        values.iter().for_each(|value| single.add_f64_square(*value));
        prop_assert_eq!(slice, single);
    }

    #[test]
    fn slices_of_whole_numbers_add_up(signed in prop::collection::vec(any::<i64>(), 0..20),
                                      unsigned in prop::collection::vec(any::<u64>(), 0..20)) {
        let mut sum = ExactSum::default();
        sum.extend_i64(&signed);
        sum.extend_u64(&unsigned);
        let exact = signed.iter().map(|value| i128::from(*value)).sum::<i128>()
            + unsigned.iter().map(|value| i128::from(*value)).sum::<i128>();
        prop_assert_eq!(sum.to_f64(), exact as f64);
    }

    #[test]
    fn quotients_are_rounded_once(terms in prop::collection::vec(term(), 1..8),
                                  divisor in prop::collection::vec(term(), 1..4), count in 1..=u64::MAX) {
        let (sum, exact) = (sum_of(&terms), exact_of(&terms));
        prop_assert!(nearest(sum.divided_by_count(count).unwrap(), &exact, &BigInt::from(count)));
        let (divisor, by) = (sum_of(&divisor), exact_of(&divisor));
        match sum.divided_by(&divisor) {
            None => prop_assert_eq!(by, BigInt::ZERO),
            Some(quotient) => prop_assert!(nearest(quotient, &(exact << 2148), &by)),
        }
    }

    #[test]
    fn averages_of_short_sums_are_rounded_once(first in any::<i64>(), scale in 0..200_i32,
                                               count in 1..=u64::MAX,
                                               small in 1..1000_u64) {
        let value = first as f64 * 2_f64.powi(-scale);
        let mut sum = ExactSum::default();
        sum.extend_f64(&[value, value / 8.0, 0.0]);
        let exact = big(value) + big(value / 8.0);
        for count in [count, small, 1] {
            let average = sum.divided_by_count(count).unwrap();
            prop_assert!(nearest(average, &exact, &BigInt::from(count)));
        }
    }

    #[test]
    fn variance_numerators_are_exact_until_rounded(values in prop::collection::vec(finite(), 0..12)) {
        let (mut sum, mut squares) = (ExactSum::default(), ExactSum::default());
        values.iter().for_each(|value| { sum.add_f64(*value); squares.add_f64_square(*value) });
        let count = values.len() as u64;
        let total: BigInt = values.iter().map(|value| scaled(*value, 1074)).sum();
        let exact = values.iter().map(|value| square(*value)).sum::<BigInt>() * count - total.pow(2);
        prop_assert!(exact.sign() != Sign::Minus);
        prop_assert!(nearest(variance_numerator(count, &sum, &squares), &exact, &one()));
    }

    #[test]
    fn hostile_bytes_are_refused_or_read_to_what_is_written_again(
        bytes_in in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        if let Ok((sum, rest)) = postcard::take_from_bytes::<ExactSum>(&bytes_in) {
            let again: ExactSum = postcard::from_bytes(&bytes(&sum)).unwrap();
            prop_assert_eq!(&again, &sum);
            prop_assert!(bytes(&sum).len() <= bytes_in.len() - rest.len());
            let mut twice = sum.clone();
            twice.merge(&sum);
            let _ = (twice.to_f64(), variance_numerator(u64::MAX, &sum, &twice), sum.divided_by(&twice));
        }
    }

    #[test]
    fn damaged_sums_do_not_panic(terms in prop::collection::vec(term(), 1..6),
                                 at in any::<prop::sample::Index>(),
                                 byte in any::<u8>()) {
        let mut damaged = bytes(&sum_of(&terms));
        let at = at.index(damaged.len());
        damaged[at] = byte;
        if let Ok((sum, rest)) = postcard::take_from_bytes::<ExactSum>(&damaged) {
            let read = damaged.len() - rest.len();
            // Shorter if a length was written in more bytes than necessary.
            let written = bytes(&sum);
            prop_assert!(written == damaged[..read] || written.len() < read);
        }
    }
}

#[test]
fn a_claimed_length_beyond_the_longest_sum_is_refused() {
    let mut claim = vec![0x88, 0x01, 0xff, 0xff, 0xff, 0xff, 0x0f];
    claim.resize(5000, 1);
    assert!(postcard::from_bytes::<ExactSum>(&claim).is_err());
}

#[test]
fn a_small_whole_sum_is_a_few_bytes_long() {
    let mut sum = ExactSum::default();
    sum.extend_i64(&[2, 3, -10]);
    assert_eq!(bytes(&sum), [0x89, 0x01, 1, 5]);
    assert_eq!(bytes(&ExactSum::default()), [0, 0]);
}

#[test]
fn infinite_and_undefined_terms_are_left_out() {
    let mut sum = ExactSum::default();
    sum.extend_f64(&[1.5, f64::INFINITY, f64::NAN, 2.0, f64::NEG_INFINITY]);
    sum.add_f64_square(f64::NAN);
    sum.add_product(f64::INFINITY, 2.0);
    assert_eq!(sum.to_f64(), 3.5);
}

#[test]
fn sums_beyond_the_largest_number_are_infinite_and_come_back() {
    let mut sum = ExactSum::default();
    sum.extend_f64(&[f64::MAX, f64::MAX]);
    assert_eq!(sum.to_f64(), f64::INFINITY);
    sum.add_f64(-f64::MAX);
    assert_eq!(sum.to_f64(), f64::MAX);
}

#[test]
fn carries_are_handed_on_before_a_limb_overflows() {
    // Adds as many terms as limbs permit, by doubling.
    let mut window = Window::default();
    for _ in 0..40 {
        let other = window.clone();
        window.add(true, u128::MAX, 31);
        window.merge(&other);
    }
    let sum = ExactSum {
        far: Some(Box::new(window)),
        ..ExactSum::default()
    };
    let exact = -(BigInt::from(u128::MAX) * ((1_u64 << 40) - 1)) << (31 + 2148);
    assert!(nearest(sum.to_f64(), &exact, &one()));
}

#[test]
fn a_window_hands_on_carries_when_its_terms_are_used_up() {
    let mut window = Window::default();
    window.add(true, u128::MAX, 7);
    window.use_up_terms();
    window.add(true, u128::MAX, 7);
    window.use_up_terms();
    window.add(false, 1, 7);
    let sum = ExactSum {
        far: Some(Box::new(window)),
        ..ExactSum::default()
    };
    let exact: BigInt = (BigInt::from(1) - BigInt::from(u128::MAX) * 2) << (7 + 2148);
    assert!(nearest(sum.to_f64(), &exact, &one()));
}
