//! Sum of terms of any size, as 32-bit digits over the range that the terms touch. Each digit is
//! stored in 64 bits, so that carries propagate only occasionally.

use super::magnitude::{DIGIT_BITS, Magnitude, digit_of};

/// Number of terms added before carries propagate: a limb stays below 2^32 · (2^29 + 2), far from
/// 2^63.
const TERMS_BETWEEN_CARRIES: u32 = 1 << 29;

/// Maximum number of digits that a 128-bit term touches.
const TERM_DIGITS: usize = 5;

/// `Σ limbs[i] · 2^(32 · (place + i))`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window {
    place: i32,
    terms: u32,
    limbs: Vec<i64>,
}

impl Window {
    /// Adds `± term · 2^exponent`.
    pub(crate) fn add(&mut self, negative: bool, term: u128, exponent: i32) {
        let shift = exponent.rem_euclid(DIGIT_BITS);
        let place = exponent.div_euclid(DIGIT_BITS);
        let low = term << shift;
        let high = if shift == 0 { 0 } else { term >> (128 - shift) };
        let digits =
            [low, low >> 32, low >> 64, low >> 96, high].map(|part| i64::from(digit_of(part)));
        let sign = -i64::from(negative);
        for (limb, digit) in self.limbs_at(place, TERM_DIGITS).iter_mut().zip(digits) {
            // Two's complement: the digit or its negative.
            *limb = limb.wrapping_add((digit ^ sign).wrapping_sub(sign));
        }
    }

    /// Adds another sum.
    pub(crate) fn merge(&mut self, other: &Self) {
        let mut carry = 0;
        let limbs = self.limbs_at(other.place, other.limbs.len() + 1);
        for (limb, added) in limbs
            .iter_mut()
            .zip(other.limbs.iter().chain(std::iter::once(&0)))
        {
            let (digit, next) = split(added.wrapping_add(carry));
            *limb = limb.wrapping_add(digit);
            carry = next;
        }
        // The last digit keeps the sign: it takes back its carry.
        if let Some(limb) = limbs.last_mut() {
            *limb = limb.wrapping_add(carry << 32);
        }
    }

    /// Returns the sum as a sign and digits; zero is not negative.
    pub(crate) fn into_total(mut self) -> (bool, Magnitude) {
        self.hand_on_carries();
        let negative = self.limbs.last().is_some_and(|limb| *limb < 0);
        if negative {
            self.limbs
                .iter_mut()
                .for_each(|limb| *limb = limb.wrapping_neg());
            self.hand_on_carries();
        }
        // All carries have propagated and the sum is not negative, so each limb is a digit.
        let digits = self
            .limbs
            .iter()
            .map(|limb| u32::try_from(*limb).unwrap_or(0))
            .collect();
        (negative, Magnitude::new(self.place, digits))
    }

    /// Returns `len` limbs from `place`, each ready for one addition.
    #[inline]
    fn limbs_at(&mut self, place: i32, len: usize) -> &mut [i64] {
        if self.terms >= TERMS_BETWEEN_CARRIES {
            self.hand_on_carries();
        }
        self.terms += 1;
        let fits = usize::try_from(place.wrapping_sub(self.place)).is_ok_and(|at| {
            at.checked_add(len)
                .is_some_and(|end| end <= self.limbs.len())
        });
        if !fits {
            self.widen(place, len);
        }
        let at = usize::try_from(place.wrapping_sub(self.place)).unwrap_or(usize::MAX);
        self.limbs
            .get_mut(at..)
            .and_then(|limbs| limbs.get_mut(..len))
            .unwrap_or_default()
    }

    #[cold]
    fn widen(&mut self, place: i32, len: usize) {
        if self.limbs.is_empty() {
            self.place = place;
        }
        let below = usize::try_from(self.place.saturating_sub(place)).unwrap_or(0);
        if below > 0 {
            self.limbs.splice(0..0, std::iter::repeat_n(0, below));
            self.place = place;
        }
        let at = usize::try_from(place.saturating_sub(self.place)).unwrap_or(0);
        let end = at.saturating_add(len);
        if end > self.limbs.len() {
            self.limbs.resize(end, 0);
        }
    }

    /// Propagates carries, so that all limbs but the last are digits. The last one keeps the sign
    /// and at most 32 bits.
    fn hand_on_carries(&mut self) {
        self.terms = 0;
        let Some(mut last) = self.limbs.pop() else {
            return;
        };
        let mut carry = 0;
        for limb in &mut self.limbs {
            let (digit, next) = split(limb.wrapping_add(carry));
            *limb = digit;
            carry = next;
        }
        last = last.wrapping_add(carry);
        while i32::try_from(last).is_err() {
            let (digit, next) = split(last);
            self.limbs.push(digit);
            last = next;
        }
        self.limbs.push(last);
    }
}

/// Splits a limb into a digit and its carry.
fn split(limb: i64) -> (i64, i64) {
    (limb & 0xffff_ffff, limb >> 32)
}

#[cfg(test)]
impl Window {
    /// Pretends that as many terms were added as are allowed between carries.
    pub(crate) fn use_up_terms(&mut self) {
        self.terms = TERMS_BETWEEN_CARRIES;
    }
}
