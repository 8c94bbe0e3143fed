//! Integer or floating-point number, in one exact order.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

/// Integer or floating-point number.
///
/// Both kinds are ordered together by exact value: 2^53 + 1 is larger than the float 2^53. `2`
/// equals `2.0`, and -0.0 equals 0.0. An undefined float is above all numbers and equal to itself.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "Wire")]
pub(crate) enum Number {
    /// Integer.
    Integer(i128),
    /// Floating-point number.
    Float(f64),
}

/// Serialized form, in which zero may have a sign.
#[derive(Deserialize)]
#[serde(rename = "Number")]
enum Wire {
    Integer(i128),
    Float(f64),
}

impl From<Wire> for Number {
    fn from(wire: Wire) -> Self {
        match wire {
            Wire::Integer(value) => value.into(),
            Wire::Float(value) => value.into(),
        }
    }
}

impl Number {
    /// Returns the nearest `f64`, rounding ties to even.
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Returns the equal integer, if an integer column can contain it.
    pub(crate) fn as_whole(self) -> Option<i128> {
        const LEAST: f64 = -9_223_372_036_854_775_808.0;
        const BEYOND: f64 = 18_446_744_073_709_551_616.0;
        match self {
            Self::Integer(value) => Some(value),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it was checked to be whole and within the range"
            )]
            Self::Float(value) if value.fract() == 0.0 && (LEAST..BEYOND).contains(&value) => {
                Some(value as i128)
            }
            Self::Float(_) => None,
        }
    }

    /// Returns whether the number is neither infinite nor undefined.
    pub(crate) fn is_finite(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(value) => value.is_finite(),
        }
    }

    /// Returns the smaller number; of an integer and an equal float, the integer.
    pub(crate) fn smaller(self, other: Self) -> Self {
        if other.precedes(self, Ordering::Less) {
            other
        } else {
            self
        }
    }

    /// Returns the larger number; of an integer and an equal float, the integer.
    pub(crate) fn larger(self, other: Self) -> Self {
        if other.precedes(self, Ordering::Greater) {
            other
        } else {
            self
        }
    }

    fn precedes(self, other: Self, wanted: Ordering) -> bool {
        let order = self.cmp(&other);
        order == wanted || (order == Ordering::Equal && matches!(self, Self::Integer(_)))
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        // -0.0 + 0.0 is 0.0; all other numbers stay the same.
        Self::Float(value + 0.0)
    }
}

impl From<i128> for Number {
    fn from(value: i128) -> Self {
        Self::Integer(value)
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Integer(value.into())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self::Integer(value.into())
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(&right),
            (Self::Integer(left), Self::Float(right)) => integer_to_float(left, right),
            (Self::Float(left), Self::Integer(right)) => integer_to_float(right, left).reverse(),
            (Self::Float(left), Self::Float(right)) => left
                .partial_cmp(&right)
                .unwrap_or_else(|| left.is_nan().cmp(&right.is_nan())),
        }
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

fn integer_to_float(integer: i128, float: f64) -> Ordering {
    const BEYOND: f64 = (1_u128 << 127) as f64;
    if float.is_nan() || float >= BEYOND {
        return Ordering::Less;
    }
    if float < -BEYOND {
        return Ordering::Greater;
    }
    let whole = float.trunc();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within the range of `i128`"
    )]
    let order = integer.cmp(&(whole as i128));
    // For equal integer parts, the fraction decides, which has the float's sign.
    order.then_with(|| {
        0.0_f64
            .partial_cmp(&(float - whole))
            .unwrap_or(Ordering::Equal)
    })
}
