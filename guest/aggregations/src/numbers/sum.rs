//! Sums without rounding: of floating-point numbers and integers of any size, their squares and
//! products. They are rounded once, for the answer. Counts, averages and other combinations of sums
//! are elsewhere.
//!
//! ```text
//!   value = near · 2^unit  +  far
//!           128 bits          32-bit digits over the range in use, created on first use
//! ```
//! Terms of about the same size as the first one are added to `near`, in a few instructions and
//! without allocation; all others are added to `far`. The order of terms determines the division
//! between the two, which never shows: sums are compared, written and rounded as one sequence of
//! digits.

use super::number::Number;
use parts::{Parts, wide_parts};

mod magnitude;
mod parts;
#[cfg(test)]
mod tests;
mod window;
mod wire;

pub(super) use self::magnitude::{Head, Magnitude};
use self::window::Window;

/// Number of zero bits left below the first term of `near`, for smaller terms.
const ROOM_BELOW: u32 = 24;

/// Number of zero bits left above it, for a trillion terms of its size.
const ROOM_ABOVE: u32 = 40;

/// Exact sum, zero by default.
///
/// Infinite and undefined terms are ignored: the sum is that of the finite ones. Equal sums have
/// equal serializations. A sum of a few terms of similar size takes 32 bytes; one over the whole
/// range of `f64`, up to 2 KB.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExactSum {
    near: i128,
    unit: i32,
    far: Option<Box<Window>>,
}

impl ExactSum {
    /// Adds a number.
    #[inline]
    pub(crate) fn add_f64(&mut self, value: f64) {
        if let Some(parts) = Parts::of(value) {
            self.add_term(parts.negative, u128::from(parts.mantissa), parts.exponent);
        }
    }

    /// Adds each number of a slice.
    pub(crate) fn extend_f64(&mut self, values: &[f64]) {
        // Keeps `near` in registers, and handles only terms that just need a shift.
        let (mut near, mut unit) = (self.near, self.unit);
        for value in values {
            let Some(parts) = Parts::of(*value) else {
                continue;
            };
            let sign = -i64::from(parts.negative);
            let mantissa = (parts.mantissa.cast_signed() ^ sign).wrapping_sub(sign);
            // Zero may be added at any unit.
            let exponent = if mantissa == 0 { unit } else { parts.exponent };
            let shift = exponent.wrapping_sub(unit).cast_unsigned();
            // 53 bits shifted by less than 64 leave the sign bit alone.
            let sum = if shift < 64 && (near != 0 || mantissa == 0) {
                near.checked_add(i128::from(mantissa) << shift)
            } else {
                None
            };
            if let Some(sum) = sum {
                near = sum;
                continue;
            }
            (self.near, self.unit) = (near, unit);
            self.add_term(parts.negative, u128::from(parts.mantissa), parts.exponent);
            (near, unit) = (self.near, self.unit);
        }
        (self.near, self.unit) = (near, unit);
    }

    /// Adds a number `count` times.
    pub(crate) fn add_f64_repeated(&mut self, value: f64, count: u64) {
        if let Some(parts) = Parts::of(value) {
            self.add_term(
                parts.negative,
                u128::from(parts.mantissa) * u128::from(count),
                parts.exponent,
            );
        }
    }

    #[cfg(test)]
    /// Adds the square of a number.
    pub(crate) fn add_f64_square(&mut self, value: f64) {
        self.add_product(value, value);
    }

    /// Adds the squares of numbers.
    pub(crate) fn extend_f64_square(&mut self, values: &[f64]) {
        // 256 bits in registers. A square has 106 bits and is shifted by less than 96, so each adds
        // less than 2^75 to the upper half, which no slice is long enough to fill.
        let (mut low, mut high) = (0_u128, 0_u128);
        let mut unit = None;
        for value in values {
            let Some(parts) = Parts::of(*value) else {
                continue;
            };
            let square = u128::from(parts.mantissa) * u128::from(parts.mantissa);
            let exponent = 2 * parts.exponent;
            if square == 0 {
                continue;
            }
            let unit = *unit.get_or_insert(exponent - 48);
            let shift = exponent.wrapping_sub(unit).cast_unsigned();
            if shift >= 96 {
                self.add_term(false, square, exponent);
                continue;
            }
            let (sum, carry) = low.overflowing_add(square << shift);
            low = sum;
            // In two steps, because a shift by 128 is undefined.
            high = high.wrapping_add((square >> 1 >> (127 - shift)) + u128::from(carry));
        }
        let unit = unit.unwrap_or(0);
        self.add_term(false, low, unit);
        self.add_term(false, high, unit + 128);
    }

    /// Adds the square of a number `count` times.
    pub(crate) fn add_f64_square_repeated(&mut self, value: f64, count: u64) {
        if let Some(parts) = Parts::of(value).map(Parts::shortened) {
            let square = u128::from(parts.mantissa) * u128::from(parts.mantissa);
            self.add_wide(false, square, u128::from(count), 2 * parts.exponent);
        }
    }

    #[cfg(test)]
    /// Adds the product of two numbers; ignored if one of them is not finite.
    pub(crate) fn add_product(&mut self, left: f64, right: f64) {
        let parts = |value| Parts::of(value).map(Parts::shortened);
        if let (Some(left), Some(right)) = (parts(left), parts(right)) {
            let product = u128::from(left.mantissa) * u128::from(right.mantissa);
            self.add_term(
                left.negative != right.negative,
                product,
                left.exponent + right.exponent,
            );
        }
    }

    /// Adds an integer.
    pub(crate) fn add_integer(&mut self, value: i128) {
        self.add_term(value < 0, value.unsigned_abs(), 0);
    }

    /// Adds each number of a slice.
    pub(crate) fn extend_i64(&mut self, values: &[i64]) {
        // No slice is long enough to overflow 128 bits.
        self.add_integer(
            values
                .iter()
                .fold(0, |sum: i128, value| sum.wrapping_add(i128::from(*value))),
        );
    }

    /// Adds each number of a slice.
    pub(crate) fn extend_u64(&mut self, values: &[u64]) {
        self.add_integer(
            values
                .iter()
                .fold(0, |sum: i128, value| sum.wrapping_add(i128::from(*value))),
        );
    }

    /// Adds an integer `count` times.
    pub(crate) fn add_integer_repeated(&mut self, value: i128, count: u64) {
        self.add_wide(value < 0, value.unsigned_abs(), u128::from(count), 0);
    }

    #[cfg(test)]
    /// Adds the square of an integer of any size.
    pub(crate) fn add_integer_square(&mut self, value: i128) {
        self.add_wide(false, value.unsigned_abs(), value.unsigned_abs(), 0);
    }

    /// Adds the square of an integer of any size `count` times.
    pub(crate) fn add_integer_square_repeated(&mut self, value: i128, count: u64) {
        let magnitude = value.unsigned_abs();
        if let Some(square) = magnitude.checked_mul(magnitude) {
            self.add_wide(false, square, u128::from(count), 0);
        } else if let Some(product) = magnitude.checked_mul(u128::from(count)) {
            self.add_wide(false, product, magnitude, 0);
        } else {
            // Splits the value into halves: (h + l)² = h² + 2hl + l², each of them short enough to
            // repeat.
            let (high, low) = halves(magnitude);
            self.add_wide(false, high * high, u128::from(count), 128);
            self.add_wide(false, high * low, u128::from(count), 65);
            self.add_wide(false, low * low, u128::from(count), 0);
        }
    }

    /// Adds a number `count` times.
    pub(crate) fn add_number_repeated(&mut self, value: Number, count: u64) {
        match value {
            Number::Integer(value) => self.add_integer_repeated(value, count),
            Number::Float(value) => self.add_f64_repeated(value, count),
        }
    }

    /// Adds the square of a number `count` times.
    pub(crate) fn add_number_square_repeated(&mut self, value: Number, count: u64) {
        match value {
            Number::Integer(value) => self.add_integer_square_repeated(value, count),
            Number::Float(value) => self.add_f64_square_repeated(value, count),
        }
    }

    /// Adds the product of two numbers; ignored if one of them is not finite.
    pub(crate) fn add_number_product(&mut self, left: Number, right: Number) {
        if let (Some(left), Some(right)) = (wide_parts(left), wide_parts(right)) {
            self.add_wide(left.0 != right.0, left.1, right.1, left.2 + right.2);
        }
    }

    /// Adds an integer beyond the range of `i128`.
    pub(super) fn add_magnitude(&mut self, value: u128) {
        self.add_term(false, value, 0);
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_term(other.near < 0, other.near.unsigned_abs(), other.unit);
        if let Some(far) = &other.far {
            self.far.get_or_insert_default().merge(far);
        }
    }

    /// Returns the nearest `f64`, rounding ties to even; infinity if the sum exceeds the largest
    /// `f64` by half a unit in the last place or more. A sum of zero is +0.0.
    pub(crate) fn to_f64(&self) -> f64 {
        if self.far.is_none() {
            let head = Head {
                bits: self.near.unsigned_abs(),
                exponent: self.unit,
            };
            return head.round(self.near < 0);
        }
        let (negative, total) = self.total();
        total.head().round(negative)
    }

    /// Returns `self / divisor`, rounded once; `None` if the divisor is zero.
    pub(crate) fn divided_by(&self, divisor: &Self) -> Option<f64> {
        let ((negative, total), (opposite, divisor)) = (self.total(), divisor.total());
        Some(
            total
                .ratio(&divisor)?
                .round(negative != opposite && !total.is_zero()),
        )
    }

    /// Returns `self / count`, rounded once; `None` if the count is zero.
    pub(crate) fn divided_by_count(&self, count: u64) -> Option<f64> {
        if count == 0 {
            return None;
        }
        if self.far.is_none() && self.near != 0 {
            // One division: with the dividend's highest bit at the top, the quotient has at least
            // 64 bits.
            let near = self.near.unsigned_abs();
            let zeros = near.leading_zeros();
            let (dividend, count) = (near << zeros, u128::from(count));
            let bits = (dividend / count) | u128::from(!dividend.is_multiple_of(count));
            let exponent = self.unit.saturating_sub_unsigned(zeros);
            return Some(Head { bits, exponent }.round(self.near < 0));
        }
        let (negative, total) = self.total();
        Some(total.ratio(&Magnitude::whole(count))?.round(negative))
    }

    #[cfg(test)]
    /// Returns whether the sum is zero.
    pub(crate) fn is_zero(&self) -> bool {
        if self.far.is_none() {
            self.near == 0
        } else {
            self.total().1.is_zero()
        }
    }

    /// Returns the sum as a sign and digits; zero is not negative.
    pub(super) fn total(&self) -> (bool, Magnitude) {
        let mut all = self.far.as_deref().cloned().unwrap_or_default();
        all.add(self.near < 0, self.near.unsigned_abs(), self.unit);
        all.into_total()
    }

    /// Adds `± left · right · 2^exponent`.
    fn add_wide(&mut self, negative: bool, left: u128, right: u128, exponent: i32) {
        if let Some(product) = left.checked_mul(right) {
            return self.add_term(negative, product, exponent);
        }
        let ((left_high, left_low), (right_high, right_low)) = (halves(left), halves(right));
        self.add_term(negative, left_high * right_high, exponent + 128);
        self.add_term(negative, left_high * right_low, exponent + 64);
        self.add_term(negative, left_low * right_high, exponent + 64);
        self.add_term(negative, left_low * right_low, exponent);
    }

    /// Adds `± term · 2^exponent`.
    fn add_term(&mut self, negative: bool, term: u128, exponent: i32) {
        if term == 0 || self.add_near(negative, term, exponent) {
            return;
        }
        self.far
            .get_or_insert_default()
            .add(negative, term, exponent);
    }

    /// Adds a term to `near`; returns whether it fits there.
    fn add_near(&mut self, negative: bool, term: u128, exponent: i32) -> bool {
        let zeros = term.leading_zeros();
        if self.near == 0 {
            let Some(room) = zeros.checked_sub(ROOM_ABOVE) else {
                return false;
            };
            // Integers stay at a unit of one, where an average is cheap.
            let room = if exponent == 0 {
                0
            } else {
                room.min(ROOM_BELOW)
            };
            self.unit = exponent.saturating_sub_unsigned(room);
        } else if exponent < self.unit {
            let down = self.unit.abs_diff(exponent);
            if self.near.unsigned_abs().leading_zeros() < down.saturating_add(ROOM_ABOVE) {
                return false;
            }
            self.near <<= down;
            self.unit = exponent;
        }
        let shift = exponent.abs_diff(self.unit);
        if shift.saturating_add(1) >= zeros {
            return false;
        }
        let term = (term << shift).cast_signed();
        match self.near.checked_add(if negative { -term } else { term }) {
            Some(sum) => self.near = sum,
            None => {
                // Full: `near` moves to `far`, and the term starts anew.
                let full = std::mem::take(&mut self.near);
                let far = self.far.get_or_insert_default();
                far.add(full < 0, full.unsigned_abs(), self.unit);
                self.near = if negative { -term } else { term };
            }
        }
        true
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        self.total() == other.total()
    }
}

impl Eq for ExactSum {}

#[cfg(test)]
/// Returns `(count · sum_of_squares - sum²)`, computed exactly and rounded once: `count²` times the
/// variance of a population. Inconsistent sums that would give a negative result give zero.
pub(crate) fn variance_numerator(count: u64, sum: &ExactSum, sum_of_squares: &ExactSum) -> f64 {
    exact_variance_numerator(count, sum, sum_of_squares)
        .head()
        .round(false)
}

/// Returns [`variance_numerator`] before rounding.
pub(super) fn exact_variance_numerator(
    count: u64,
    sum: &ExactSum,
    sum_of_squares: &ExactSum,
) -> Magnitude {
    let ((_, sum), (negative, squares)) = (sum.total(), sum_of_squares.total());
    if negative {
        return Magnitude::default();
    }
    squares
        .times(&Magnitude::whole(count))
        .minus(&sum.times(&sum))
        .unwrap_or_default()
}

fn halves(value: u128) -> (u128, u128) {
    (value >> 64, value & u128::from(u64::MAX))
}
