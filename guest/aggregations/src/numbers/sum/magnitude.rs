//! Non-negative numbers of arbitrary size, as 32-bit digits: the form of exact sums in an answer.
//! They are multiplied, subtracted and divided exactly, and rounded to an `f64` once.

use std::cmp::Ordering;

#[cfg(test)]
mod tests;

/// Number of bits in a digit.
pub(crate) const DIGIT_BITS: i32 = 32;

/// Number of bits that [`Magnitude::ratio`] computes: at least two more than an `f64` holds, with
/// room for the remainder's flag below them.
const QUOTIENT_BITS: i32 = 66;

/// `Σ digits[i] · 2^(32 · (place + i))`, without zeros at either end. Zero has no digits, and place 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Magnitude {
    place: i32,
    digits: Vec<u32>,
}

/// `bits · 2^exponent`. If the exact number has further bits below, the lowest bit is set, and the
/// bits above it suffice for correct rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) bits: u128,
    pub(crate) exponent: i32,
}

impl Magnitude {
    /// Creates a number from digits, the least significant first, at 2^(32 · place).
    pub(crate) fn new(place: i32, mut digits: Vec<u32>) -> Self {
        while digits.last() == Some(&0) {
            digits.pop();
        }
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        digits.drain(..zeros);
        if digits.is_empty() {
            return Self::default();
        }
        Self {
            place: place.saturating_add(i32::try_from(zeros).unwrap_or(i32::MAX)),
            digits,
        }
    }

    /// Creates an integer.
    pub(crate) fn whole(value: u64) -> Self {
        let value = u128::from(value);
        Self::new(0, vec![digit_of(value), digit_of(value >> 32)])
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Returns the power of 2^32 of the lowest digit.
    pub(crate) fn place(&self) -> i32 {
        self.place
    }

    /// Returns the digits, the least significant first.
    pub(crate) fn digits(&self) -> &[u32] {
        &self.digits
    }

    /// Returns the place above the highest digit.
    fn top(&self) -> i32 {
        self.place
            .saturating_add(i32::try_from(self.digits.len()).unwrap_or(i32::MAX))
    }

    /// Returns the exponent of the highest bit, plus one.
    fn bit_top(&self) -> i32 {
        let zeros = self.digits.last().map_or(0, |digit| digit.leading_zeros());
        self.top()
            .saturating_mul(DIGIT_BITS)
            .saturating_sub_unsigned(zeros)
    }

    fn digit(&self, place: i32) -> u32 {
        usize::try_from(place.saturating_sub(self.place))
            .ok()
            .and_then(|at| self.digits.get(at))
            .copied()
            .unwrap_or(0)
    }

    /// Returns the exact product.
    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut digits = vec![0_u32; self.digits.len() + other.digits.len()];
        for (at, left) in self.digits.iter().enumerate() {
            let mut carry = 0_u64;
            let right = other.digits.iter().copied().chain(std::iter::once(0));
            for (digit, right) in digits.iter_mut().skip(at).zip(right) {
                // At most (2^32 - 1)² + 2 · (2^32 - 1) = 2^64 - 1.
                let sum = u64::from(*left) * u64::from(right) + u64::from(*digit) + carry;
                *digit = low(sum);
                carry = sum >> 32;
            }
        }
        Self::new(self.place.saturating_add(other.place), digits)
    }

    /// Returns `self - other`, or `None` if that is negative.
    pub(crate) fn minus(&self, other: &Self) -> Option<Self> {
        if other.is_zero() {
            return Some(self.clone());
        }
        if (self as &Self).cmp(other) == Ordering::Less {
            return None;
        }
        let from = self.place.min(other.place);
        let mut borrow = 0_i64;
        let digits = (from..self.top()).map(|place| {
            let difference = i64::from(self.digit(place)) - i64::from(other.digit(place)) + borrow;
            borrow = difference >> 32;
            low(difference.cast_unsigned())
        });
        Some(Self::new(from, digits.collect()))
    }

    /// Returns the highest bits, with a flag for further bits below.
    pub(crate) fn head(&self) -> Head {
        let skipped = self.digits.len().saturating_sub(3);
        let (rest, head) = self.digits.split_at(skipped);
        let bits = head
            .iter()
            .rev()
            .fold(0, |bits, digit| bits << 32 | u128::from(*digit));
        let more = rest.iter().any(|digit| *digit != 0);
        let place = self
            .place
            .saturating_add(i32::try_from(skipped).unwrap_or(i32::MAX));
        Head {
            bits: bits | u128::from(more),
            exponent: place.saturating_mul(DIGIT_BITS),
        }
    }

    /// Returns `self / divisor`, to more bits than an `f64` holds, with a flag for a non-zero
    /// remainder, or `None` if the divisor is zero.
    pub(crate) fn ratio(&self, divisor: &Self) -> Option<Head> {
        if divisor.is_zero() {
            return None;
        }
        if self.is_zero() {
            return Some(Head {
                bits: 0,
                exponent: 0,
            });
        }
        // The divisor is shifted until its highest bit is level with the dividend's, in digits of
        // the same places.
        let shift = self.bit_top().saturating_sub(divisor.bit_top());
        let moved = divisor.shifted(shift);
        let from = self.place.min(moved.place);
        // One more digit, because the remainder is doubled in each step.
        let row = |of: &Self| {
            (from..=self.top())
                .map(|place| of.digit(place))
                .collect::<Vec<_>>()
        };
        let (mut remainder, divisor) = (row(self), row(&moved));
        let mut bits = 0_u128;
        for _ in 0..QUOTIENT_BITS {
            bits <<= 1;
            if remainder.iter().rev().cmp(divisor.iter().rev()) != Ordering::Less {
                subtract(&mut remainder, &divisor);
                bits |= 1;
            }
            double(&mut remainder);
        }
        let more = remainder.iter().any(|digit| *digit != 0);
        // The first bit stands for 2^shift. One more bit is appended for the flag.
        let exponent = shift.saturating_sub(QUOTIENT_BITS);
        Some(Head {
            bits: bits << 1 | u128::from(more),
            exponent,
        })
    }

    /// Returns `self · 2^bits`.
    fn shifted(&self, bits: i32) -> Self {
        let within = bits.rem_euclid(DIGIT_BITS);
        let mut carry = 0_u64;
        let mut digits: Vec<u32> = Vec::with_capacity(self.digits.len() + 1);
        for digit in &self.digits {
            let moved = u64::from(*digit) << within | carry;
            digits.push(low(moved));
            carry = moved >> 32;
        }
        digits.push(low(carry));
        Self::new(
            self.place.saturating_add(bits.div_euclid(DIGIT_BITS)),
            digits,
        )
    }
}

impl Ord for Magnitude {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        self.top().cmp(&other.top()).then_with(|| {
            // The last digit is never zero, so the longer of two numbers with equal leading digits
            // is larger.
            self.digits.iter().rev().cmp(other.digits.iter().rev())
        })
    }
}

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Head {
    /// Returns the nearest `f64`, rounding ties to even; infinity if the number is too large.
    pub(crate) fn round(self, negative: bool) -> f64 {
        let magnitude = f64::from_bits(self.round_bits());
        if negative { -magnitude } else { magnitude }
    }

    /// Returns the square root, rounded at most twice, without the overflow and underflow of the
    /// number itself as an `f64`.
    pub(crate) fn sqrt(self) -> f64 {
        // Dividing by an even power of two leaves a number near one.
        let top = self
            .exponent
            .saturating_add_unsigned(128 - self.bits.leading_zeros());
        let half = top.div_euclid(2);
        let near_one = Head {
            bits: self.bits,
            exponent: self.exponent.saturating_sub(half.saturating_mul(2)),
        };
        libm::ldexp(near_one.round(false).sqrt(), half)
    }

    fn round_bits(self) -> u64 {
        const INFINITE: u64 = 0x7ff << 52;
        if self.bits == 0 {
            return 0;
        }
        let len = i64::from(128 - self.bits.leading_zeros());
        let exponent = i64::from(self.exponent);
        // Exponent of the last bit kept: that of the 53rd, or of the smallest subnormal number.
        let last = (exponent + len - 53).max(-1074);
        if last > 971 {
            return INFINITE;
        }
        let kept = match u32::try_from(last - exponent) {
            Ok(dropped) => half_even(self.bits, dropped),
            // Fewer bits than an `f64` has; the shift is less than 53.
            Err(_) => self.bits << (exponent - last),
        };
        let kept = u64::try_from(kept).unwrap_or(0);
        // A leading bit at 2^52 adds one to the exponent field, which is 0 for a subnormal number,
        // and a carry into 2^53 adds another, up to infinity.
        let field = u64::try_from(last + 1074).unwrap_or(0) << 52;
        field + kept
    }
}

/// Returns `bits / 2^dropped`, rounded half to even.
fn half_even(bits: u128, dropped: u32) -> u128 {
    let Some(half_at) = dropped.checked_sub(1) else {
        return bits;
    };
    let Some(half) = 1_u128.checked_shl(half_at) else {
        return 0;
    };
    let kept = bits.checked_shr(dropped).unwrap_or(0);
    let rest = bits & (half | (half - 1));
    let up = match rest.cmp(&half) {
        Ordering::Less => 0,
        Ordering::Equal => kept & 1,
        Ordering::Greater => 1,
    };
    kept + up
}

/// Returns the lowest digit of a `u64`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low half is what is asked for"
)]
pub(crate) const fn low(value: u64) -> u32 {
    value as u32
}

/// Returns the lowest digit of a `u128`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the low quarter is what is asked for"
)]
pub(crate) const fn digit_of(value: u128) -> u32 {
    value as u32
}

/// Subtracts `other` from `row`, which is not smaller.
fn subtract(row: &mut [u32], other: &[u32]) {
    let mut borrow = 0_i64;
    for (digit, other) in row.iter_mut().zip(other) {
        let difference = i64::from(*digit) - i64::from(*other) + borrow;
        *digit = low(difference.cast_unsigned());
        borrow = difference >> 32;
    }
}

/// Doubles `row`, whose highest bit is clear.
fn double(row: &mut [u32]) {
    let mut carry = 0;
    for digit in row {
        let next = *digit >> 31;
        *digit = *digit << 1 | carry;
        carry = next;
    }
}
