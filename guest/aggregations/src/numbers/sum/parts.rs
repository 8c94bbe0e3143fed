//! Finite numbers taken apart.

use super::super::number::Number;

/// A finite number as `± mantissa · 2^exponent`.
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
        // Subnormal numbers have the exponent of the smallest normal ones and no leading one. Zero
        // is among them and frequent, and so there is no branch.
        let mantissa = fraction | u64::from(field != 0) << 52;
        let exponent = field.max(1);
        Some(Self {
            negative: bits >> 63 != 0,
            mantissa,
            exponent: exponent - 1075,
        })
    }

    /// The same number without zeros at the end of its mantissa, which makes products short.
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

/// A finite number as sign, mantissa and exponent.
pub(super) fn wide_parts(value: Number) -> Option<(bool, u128, i32)> {
    match value {
        Number::Integer(value) => Some((value < 0, value.unsigned_abs(), 0)),
        Number::Float(value) => {
            let parts = Parts::of(value)?.shortened();
            Some((parts.negative, u128::from(parts.mantissa), parts.exponent))
        }
    }
}
