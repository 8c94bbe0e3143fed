//! Options of numbers. Fields may have fewer digits than 64 bits have, as Elasticsearch's `byte`, `half_float` and
//! `scaled_float`; all are stored in 64 bits.

use serde::ser::SerializeMap;

/// Options of `i64`, `u64` and `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumericKind {
    /// True if numbers in strings are accepted.
    pub coerce: bool,
    /// True if hits show the number as a string.
    pub output_as_string: bool,
    /// Digits of its numbers, if these are fewer than 64 bits have.
    pub width: Option<Width>,
}

impl NumericKind {
    /// Serializes the options of a number.
    pub(crate) fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("coerce", &self.coerce)?;
        if let Some(Width::Scaled(factor)) = self.width {
            map.serialize_entry("scaling_factor", &factor)?;
        }
        if let Some(name) = self.width.and_then(Width::name) {
            map.serialize_entry("width", name)?;
        }
        let format = match self.output_as_string {
            true => "string",
            false => "number",
        };
        map.serialize_entry("output_format", format)
    }
}

/// Digits of a field's numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// Integers of 8 bits.
    I8,
    /// Integers of 16 bits.
    I16,
    /// Integers of 32 bits.
    I32,
    /// Floating point numbers of 16 bits.
    F16,
    /// Floating point numbers of 32 bits.
    F32,
    /// Multiples of a fraction, which this is the denominator of.
    Scaled(f64),
}

impl Width {
    /// Widths that have a name in a config, for integers and for floating point numbers.
    pub(crate) const INTEGERS: [(&str, Option<Width>); 3] = [
        ("i8", Some(Width::I8)),
        ("i16", Some(Width::I16)),
        ("i32", Some(Width::I32)),
    ];
    pub(crate) const FLOATS: [(&str, Option<Width>); 2] =
        [("f16", Some(Width::F16)), ("f32", Some(Width::F32))];

    /// Returns the name in a config, unless it is a number there.
    pub(crate) fn name(self) -> Option<&'static str> {
        let mut all = Self::INTEGERS.iter().chain(&Self::FLOATS);
        all.find(|(_, width)| *width == Some(self))
            .map(|(name, _)| *name)
    }

    /// Returns whether a field of this width has an integer.
    pub(crate) fn holds(self, number: i64) -> bool {
        match self {
            Width::I8 => i8::try_from(number).is_ok(),
            Width::I16 => i16::try_from(number).is_ok(),
            Width::I32 => i32::try_from(number).is_ok(),
            _ => true,
        }
    }

    /// Returns the number of this width that is nearest to a number; infinity beyond all of them.
    #[must_use]
    pub fn rounded(self, number: f64) -> f64 {
        match self {
            Width::F16 => half(number),
            Width::F32 => f64::from(single(number)),
            // Halves go up, as Elasticsearch has it.
            Width::Scaled(factor) => (number * factor + 0.5).floor() / factor,
            _ => number,
        }
    }

    /// Returns the end of a range in a query that numbers of this width are compared with.
    #[must_use]
    pub fn rounded_end(self, number: f64) -> f64 {
        match self {
            Width::Scaled(_) => number,
            _ => self.rounded(number),
        }
    }

    /// Returns a number of a document as hits show it: with no more digits than it needs in this width.
    pub(crate) fn shown(self, number: f64) -> f64 {
        match self {
            Width::F16 | Width::F32 => single(number).to_string().parse().unwrap_or(number),
            _ => number,
        }
    }
}

fn single(number: f64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it becomes the nearest number of 32 bits"
    )]
    let number = number as f32;
    number
}

/// Returns the nearest number of 16 bits; of two at the same distance, the even one.
fn half(number: f64) -> f64 {
    /// Numbers from here on are nearer to infinity.
    const TOO_LARGE: f32 = 65_520.0;
    const FRACTION_BITS: u32 = f32::MANTISSA_DIGITS - 1;
    /// Exponent of the least number with all 11 digits, as in 32 bits.
    const LEAST_EXPONENT: u32 = 127 - 14;
    let number = single(number);
    if number.abs() >= TOO_LARGE {
        return f64::from(number.signum() * f32::INFINITY);
    }
    let exponent = (number.abs().to_bits() >> FRACTION_BITS).max(LEAST_EXPONENT);
    // The distance to the next number: ten binary digits below the first.
    let unit = f32::from_bits((exponent - 10) << FRACTION_BITS);
    f64::from((number / unit).round_ties_even() * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_their_width() {
        for (width, number, expect) in [
            (Width::F16, 0.1, 0.099_975_585_937_5),
            (Width::F16, 1.0, 1.0),
            (Width::F16, 2049.0, 2048.0),
            (Width::F16, 2051.0, 2052.0),
            (Width::F16, 65_519.0, 65_504.0),
            (Width::F16, -65_520.0, f64::NEG_INFINITY),
            (Width::F16, 6e-8, 5.960_464_477_539_063e-8),
            (Width::F16, 1e-9, 0.0),
            (Width::F32, 0.1, f64::from(0.1_f32)),
            (Width::F32, 1e300, f64::INFINITY),
            (Width::Scaled(100.0), 0.125, 0.13),
            (Width::Scaled(100.0), -0.125, -0.12),
            (Width::Scaled(10.0), 0.29, 0.3),
            (Width::I8, 300.0, 300.0),
        ] {
            assert_eq!(width.rounded(number), expect, "{width:?} {number}");
        }
        assert_eq!(Width::Scaled(100.0).rounded_end(0.125), 0.125);
        assert_eq!(Width::F32.shown(f64::from(0.1_f32)), 0.1);
        assert!(Width::I8.holds(-128) && !Width::I8.holds(128));
    }
}
