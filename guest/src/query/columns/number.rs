//! Numbers in queries, and ranges of numbers, compared exactly with the values of integer and floating
//! point columns.

use std::ops::{Bound, RangeInclusive};

use canter_doc_mapper::config::Width;
use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};

/// Larger than every 64-bit integer; whole parts saturate here.
const HUGE: i128 = 1 << 100;
/// Maximum number of digits of a whole part; with more it is huge.
const MAX_WHOLE_DIGITS: i64 = 30;

/// A number in decimal notation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    /// The largest integer that is not greater.
    floor: i128,
    /// True if the number is that integer.
    is_whole: bool,
    /// The nearest floating point number: the value of a document with this text in a floating point column.
    float: f64,
}

impl Number {
    /// Parses `7`, `-7.25`, `1e-3`, `inf`; not `NaN`, which compares with nothing.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let float: f64 = text.parse().ok().filter(|float: &f64| !float.is_nan())?;
        let (floor, is_whole) =
            match float.is_finite() || text.contains(|c: char| c.is_ascii_digit()) {
                true => whole_part(text)?,
                false if float > 0.0 => (HUGE, true),
                false => (-HUGE, true),
            };
        Some(Self {
            floor,
            is_whole,
            float,
        })
    }

    /// Returns the number that floating point numbers of a width are compared with.
    pub(super) fn in_width(self, width: Width) -> Self {
        let float = width.rounded_end(self.float);
        Self { float, ..self }
    }

    /// Parses a number in digits. `inf` and `infinity` are words where numbers and words mix.
    pub(super) fn parse_digits(text: &str) -> Option<Self> {
        let unsigned = text.trim_start_matches(['+', '-']);
        let has_digits = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        has_digits.then(|| Self::parse(text))?
    }

    /// Returns the smallest integer of a range that begins here.
    fn first_integer(self, is_included: bool) -> i128 {
        if is_included && self.is_whole {
            self.floor
        } else {
            self.floor + 1
        }
    }

    /// Returns the largest integer of a range that ends here.
    fn last_integer(self, is_included: bool) -> i128 {
        if self.is_whole && !is_included {
            self.floor - 1
        } else {
            self.floor
        }
    }
}

/// Returns the floor of a decimal, and whether it is an integer. No rounding: floating point numbers
/// cannot distinguish the integers above 2^53.
fn whole_part(text: &str) -> Option<(i128, bool)> {
    let is_negative = text.starts_with('-');
    let text = text.trim_start_matches(['+', '-']);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)),
        None => (text, 0),
    };
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [before, after].concat();
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some((0, true));
    }
    let num_zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let num_whole = i64::try_from(before.len()).ok()? - num_zeros + exponent;
    if num_whole > MAX_WHOLE_DIGITS {
        return Some((if is_negative { -HUGE } else { HUGE }, true));
    }
    let num_whole = usize::try_from(num_whole.max(0)).ok()?;
    let (whole, rest) = significant
        .split_at_checked(num_whole)
        .unwrap_or((significant, ""));
    let num_missing = u32::try_from(num_whole - whole.len()).ok()?;
    let magnitude = match whole {
        "" => 0,
        whole => whole.parse::<i128>().ok()? * 10_i128.checked_pow(num_missing)?,
    };
    // If the number begins after the point, none of its digits is whole.
    let is_whole = rest.bytes().all(|digit| digit == b'0');
    Some(match is_negative {
        false => (magnitude, is_whole),
        true if is_whole => (-magnitude, true),
        true => (-magnitude - 1, false),
    })
}

/// Parses an exponent; one with too many digits counts as the largest.
fn parse_exponent(text: &str) -> i64 {
    const LARGEST: i64 = 1 << 40;
    let parsed = text
        .parse::<i64>()
        .map(|exponent| exponent.clamp(-LARGEST, LARGEST));
    parsed.unwrap_or(if text.starts_with('-') {
        -LARGEST
    } else {
        LARGEST
    })
}

/// A range of numbers.
#[derive(Clone, Copy, Debug)]
pub(in crate::query) struct NumberRange {
    pub(super) lower: Bound<Number>,
    pub(super) upper: Bound<Number>,
}

impl NumberRange {
    /// Returns the range in the order-preserving form of columns and terms; `None` if it holds no value
    /// of that type, or the type is not numeric.
    pub(super) fn for_type(&self, column_type: ColumnType) -> Option<RangeInclusive<u64>> {
        match column_type {
            ColumnType::I64 => self.integers(i64::MIN.into(), i64::MAX.into(), |value| {
                i64::try_from(value).ok().map(i64::to_u64)
            }),
            ColumnType::U64 => self.integers(0, u64::MAX.into(), |value| u64::try_from(value).ok()),
            ColumnType::F64 => self.floats(),
            _ => None,
        }
    }

    fn integers(
        &self,
        min: i128,
        max: i128,
        map: impl Fn(i128) -> Option<u64>,
    ) -> Option<RangeInclusive<u64>> {
        let first = match self.lower {
            Bound::Included(number) => number.first_integer(true),
            Bound::Excluded(number) => number.first_integer(false),
            Bound::Unbounded => min,
        };
        let last = match self.upper {
            Bound::Included(number) => number.last_integer(true),
            Bound::Excluded(number) => number.last_integer(false),
            Bound::Unbounded => max,
        };
        let (first, last) = (first.max(min), last.min(max));
        (first <= last).then(|| Some(map(first)?..=map(last)?))?
    }

    /// Returns the range of floats. Columns distinguish -0.0 from 0.0 and sort it below; for a query they are equal.
    fn floats(&self) -> Option<RangeInclusive<u64>> {
        let is_zero = |number: Number| number.float == 0.0;
        let first = match self.lower {
            Bound::Included(number) if is_zero(number) => (-0.0_f64).to_u64(),
            Bound::Included(number) => number.float.to_u64(),
            Bound::Excluded(number) if is_zero(number) => 0.0_f64.to_u64().checked_add(1)?,
            Bound::Excluded(number) => number.float.to_u64().checked_add(1)?,
            Bound::Unbounded => f64::NEG_INFINITY.to_u64(),
        };
        let last = match self.upper {
            Bound::Included(number) if is_zero(number) => 0.0_f64.to_u64(),
            Bound::Included(number) => number.float.to_u64(),
            Bound::Excluded(number) if is_zero(number) => (-0.0_f64).to_u64().checked_sub(1)?,
            Bound::Excluded(number) => number.float.to_u64().checked_sub(1)?,
            Bound::Unbounded => f64::INFINITY.to_u64(),
        };
        (first <= last).then_some(first..=last)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_is_read_exactly() {
        for (text, floor, is_whole) in [
            ("0", 0, true),
            ("-0.0", 0, true),
            ("+7", 7, true),
            ("1.5", 1, false),
            ("-1.5", -2, false),
            ("-0.5", -1, false),
            (".5", 0, false),
            ("5.", 5, true),
            ("0.001", 0, false),
            ("1e3", 1_000, true),
            ("1.25e1", 12, false),
            ("125e-2", 1, false),
            ("-1e-300", -1, false),
            ("100e-2", 1, true),
            ("0e99999999999999999999", 0, true),
            ("9007199254740993", 9_007_199_254_740_993, true),
            ("9007199254740993.5", 9_007_199_254_740_993, false),
            ("9.007199254740993e15", 9_007_199_254_740_993, true),
            ("18446744073709551616", 1 << 64, true),
            ("1e400", HUGE, true),
            ("-1e400", -HUGE, true),
            ("-1e99999999999999999999", -HUGE, true),
            ("1e-99999999999999999999", 0, false),
            ("inf", HUGE, true),
            ("-inf", -HUGE, true),
        ] {
            let number = Number::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!((number.floor, number.is_whole), (floor, is_whole), "{text}");
        }
        for text in [
            "", "-", "NaN", "nan", "abc", "1 2", "0x10", "1_000", ".", "1e", "e5",
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
        for text in ["inf", "-infinity", "nan", "e5", ""] {
            assert_eq!(Number::parse_digits(text), None, "{text}");
        }
    }

    fn range(lower: Bound<&str>, upper: Bound<&str>) -> NumberRange {
        let number = |text: &str| Number::parse(text).unwrap();
        NumberRange {
            lower: lower.map(number),
            upper: upper.map(number),
        }
    }

    #[test]
    fn a_bound_outside_the_type_gives_nothing_or_everything() {
        use Bound::{Excluded, Unbounded};
        let above = range(Excluded("10000000000000000000"), Unbounded);
        assert_eq!(above.for_type(ColumnType::I64), None);
        assert_eq!(
            above.for_type(ColumnType::U64),
            Some(10_000_000_000_000_000_001..=u64::MAX)
        );
        let below = range(Unbounded, Excluded("10000000000000000000"));
        assert_eq!(below.for_type(ColumnType::I64), Some(0..=u64::MAX));
        let positive = range(Excluded("-1"), Unbounded);
        assert_eq!(positive.for_type(ColumnType::U64), Some(0..=u64::MAX));
        assert_eq!(
            range(Unbounded, Excluded("0")).for_type(ColumnType::U64),
            None
        );
        assert_eq!(
            range(Excluded("1e400"), Unbounded)
                .for_type(ColumnType::F64)
                .map(|r| { r.contains(&f64::MAX.to_u64()) }),
            None
        );
    }

    /// Returns whether `value` is in the range, by comparing floating point numbers, which is exact for small ones.
    fn contains(lower: Bound<f64>, upper: Bound<f64>, value: f64) -> bool {
        (match lower {
            Bound::Included(bound) => value >= bound,
            Bound::Excluded(bound) => value > bound,
            Bound::Unbounded => true,
        }) && match upper {
            Bound::Included(bound) => value <= bound,
            Bound::Excluded(bound) => value < bound,
            Bound::Unbounded => true,
        }
    }

    fn bound() -> impl Strategy<Value = Bound<f64>> {
        let numbers = prop_oneof![
            (-40_i32..40).prop_map(|quarters| f64::from(quarters) / 4.0),
            Just(-0.0),
            any::<i32>().prop_map(f64::from),
            any::<i16>().prop_map(|exponent| 10_f64.powi(i32::from(exponent) / 100)),
        ];
        prop_oneof![
            Just(Bound::Unbounded),
            numbers.clone().prop_map(Bound::Included),
            numbers.prop_map(Bound::Excluded),
        ]
    }

    proptest! {
        #[test]
        fn a_range_of_each_type_holds_the_values_between_its_bounds(
            lower in bound(),
            upper in bound(),
            small in -12_i32..12,
            fraction in 0_i32..4,
        ) {
            let number = |float: f64| Number::parse(&format!("{float:?}")).unwrap();
            let range = NumberRange { lower: lower.map(number), upper: upper.map(number) };
            let holds = |column_type, mapped: u64| {
                range.for_type(column_type).is_some_and(|range| range.contains(&mapped))
            };
            let whole = f64::from(small);
            let expected = contains(lower, upper, whole);
            prop_assert_eq!(holds(ColumnType::I64, i64::from(small).to_u64()), expected);
            if let Ok(unsigned) = u64::try_from(small) {
                prop_assert_eq!(holds(ColumnType::U64, unsigned), expected);
            }
            prop_assert_eq!(holds(ColumnType::F64, whole.to_u64()), expected);
            prop_assert_eq!(holds(ColumnType::F64, (-0.0_f64).to_u64()), contains(lower, upper, 0.0));
            let mixed = whole + f64::from(fraction) / 4.0;
            prop_assert_eq!(holds(ColumnType::F64, mixed.to_u64()), contains(lower, upper, mixed));
        }

        #[test]
        fn whatever_the_text_a_number_is_near_its_nearest_float(text in "[+-]?[0-9]{0,22}(\\.[0-9]{0,8})?(e-?[0-9]{1,2})?") {
            if let Some(number) = Number::parse(&text) {
                let near = number.float.clamp(-1e27, 1e27);
                let floor = number.floor.clamp(-(10_i128.pow(27)), 10_i128.pow(27)) as f64;
                prop_assert!((floor - near.floor()).abs() <= 1.0 + near.abs() * 1e-15, "{text}: {number:?}");
            }
        }
    }
}
