//! Components of finite numbers.

use super::super::number::Number;

/// Finite number as `± mantissa · 2^exponent`.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    pub(super) negative: bool,
    pub(super) mantissa: u64,
    pub(super) exponent: i32,
}

impl Parts {
    #[inline]
    pub(super) fn of(value: f64) -> Option<Self> {
        let bits = value.to_bits();
        let field = (bits >> 52 & 0x7ff) as i32;
        if field == 0x7ff {
            return None;
        }
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers have the exponent of the smallest normal ones, without a leading one.
        // Zero is one of them and frequent, so this has no branch.
        let mantissa = fraction | u64::from(field != 0) << 52;
        let exponent = field.max(1);
        Some(Self {
            negative: bits >> 63 != 0,
            mantissa,
            exponent: exponent - 1075,
        })
    }

    /// Returns the same number without trailing zeros in its mantissa, which keeps products short.
    pub(super) fn shortened(self) -> Self {
        let zeros = self.mantissa.trailing_zeros();
        if zeros >= u64::BITS {
            return Self {
                exponent: 0,
                ..self
            };
        }
        Self {
            mantissa: self.mantissa >> zeros,
            exponent: self.exponent.saturating_add_unsigned(zeros),
            ..self
        }
    }
}

/// Returns sign, mantissa and exponent of a finite number.
pub(super) fn wide_parts(value: Number) -> Option<(bool, u128, i32)> {
    match value {
        Number::Integer(value) => Some((value < 0, value.unsigned_abs(), 0)),
        Number::Float(value) => {
            let parts = Parts::of(value)?.shortened();
            Some((parts.negative, u128::from(parts.mantissa), parts.exponent))
        }
    }
}
