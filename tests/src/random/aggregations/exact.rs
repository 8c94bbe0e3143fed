//! Numbers without rounding: sums and quotients of integers of any size, rounded once at the end.

use num_bigint::{BigInt, BigUint, Sign};

use crate::random::truth::table::Scalar;

/// Every finite number is a multiple of 2^-1074.
const UNIT_BITS: usize = 1_074;

/// Returns a number in units of 2^-1074.
pub(super) fn scaled(value: &Scalar) -> BigInt {
    match value {
        Scalar::Int(int) => BigInt::from(*int) << UNIT_BITS,
        Scalar::Float(float) => of_float(*float),
        Scalar::Date(nanos) => of_float(*nanos as f64 / 1e6),
        other => panic!("{other:?} is no number"),
    }
}

fn of_float(float: f64) -> BigInt {
    let bits = float.to_bits();
    let (exponent, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let magnitude = match exponent {
        0 => BigInt::from(fraction),
        _ => BigInt::from(fraction | 1 << 52) << (exponent - 1),
    };
    if float < 0.0 { -magnitude } else { magnitude }
}

/// Returns `number / 2^1074`.
pub(super) fn of_units(number: &BigInt) -> f64 {
    ratio(number, &(BigInt::from(1) << UNIT_BITS))
}

/// Returns `number / 2^2148`, the unit of products.
pub(super) fn of_square_units(number: &BigInt) -> f64 {
    ratio(number, &square_units(&BigInt::from(1)))
}

/// Returns `number · 2^2148`.
pub(super) fn square_units(number: &BigInt) -> BigInt {
    number << (2 * UNIT_BITS)
}

/// Returns `number · 2^1074`.
pub(super) fn units(number: &BigInt) -> BigInt {
    number << UNIT_BITS
}

/// Returns a quotient rounded to the nearest number, with ties to even.
pub(super) fn ratio(numerator: &BigInt, denominator: &BigInt) -> f64 {
    let is_negative = (numerator.sign() == Sign::Minus) != (denominator.sign() == Sign::Minus);
    let (numerator, denominator) = (numerator.magnitude(), denominator.magnitude());
    if numerator.bits() == 0 {
        return 0.0;
    }
    let mut exponent = numerator.bits() as i64 - denominator.bits() as i64;
    let (left, right) = leveled(numerator, denominator, exponent);
    if left < right {
        exponent -= 1;
    }
    let grid = (exponent - 52).max(-1_074);
    let (left, right) = leveled(numerator, denominator, grid);
    let mut quotient = &left / &right;
    let rest = (left - &quotient * &right) << 1u32;
    if rest > right || (rest == right && quotient.bit(0)) {
        quotient += 1u32;
    }
    let quotient = u64::try_from(quotient).unwrap_or(u64::MAX) as f64;
    let value = match grid {
        ..-1_022 => quotient * f64::from_bits(1 << (grid + 1_074)),
        1_024.. => f64::INFINITY,
        _ => quotient * f64::from_bits(((grid + 1_023) as u64) << 52),
    };
    if is_negative { -value } else { value }
}

/// Scales both so that their quotient is that of the numbers divided by `2^exponent`.
fn leveled(numerator: &BigUint, denominator: &BigUint, exponent: i64) -> (BigUint, BigUint) {
    match exponent < 0 {
        true => (numerator << -exponent, denominator.clone()),
        false => (numerator.clone(), denominator << exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        for float in [
            1.0,
            -0.1,
            5e-324,
            -2.5e-310,
            1e300,
            f64::MAX,
            f64::MIN_POSITIVE,
            3.0,
        ] {
            assert_eq!(of_units(&scaled(&Scalar::Float(float))), float);
        }
        assert_eq!(ratio(&BigInt::from(1), &BigInt::from(3)), 1.0 / 3.0);
        assert_eq!(ratio(&BigInt::from(-2), &BigInt::from(3)), -2.0 / 3.0);
        // Halfway between two: to the even one.
        assert_eq!(
            ratio(&BigInt::from((1i64 << 53) + 1), &BigInt::from(1)),
            9_007_199_254_740_992.0
        );
    }
}
