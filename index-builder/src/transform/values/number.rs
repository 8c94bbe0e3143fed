//! Numbers: those that VRL can represent, and those that it would change.

use vrl::value::Value;

/// A JSON number.
pub(super) enum Number {
    /// The program computes with it.
    Held(Value),
    /// VRL would change it.
    Exact,
}

/// Number of digits that any 64-bit number preserves.
const SAFE_DIGITS: usize = 15;

/// Parses a number; `None` if the text is not one.
pub(super) fn read_number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_written_well = !digits.starts_with('0') || digits == "0";
    // `-0` is a floating-point number to serde_json too.
    if is_integer && is_written_well && !digits.is_empty() && text != "-0" {
        return Some(match text.parse::<i64>() {
            Ok(number) => Number::Held(Value::Integer(number)),
            Err(_) => checked(text)?,
        });
    }
    checked(text)
}

/// Checks a number that is not a 64-bit integer.
fn checked(text: &str) -> Option<Number> {
    // The bounds and the grammar of the doc mapping.
    let number = serde_json::from_str::<f64>(text).ok()?;
    let held = Decimal::of(text);
    let is_held = match held.digits.len() {
        0 => true,
        len if len <= SAFE_DIGITS && number.abs() >= f64::MIN_POSITIVE => true,
        // The shortest number that parses to this one.
        _ => held == Decimal::of(&format!("{number:e}")),
    };
    let is_integer = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    // A larger integer would be written with a decimal point.
    match is_held && (!is_integer || text == "-0") {
        true => Some(Number::Held(Value::from_f64_or_zero(number))),
        false => Some(Number::Exact),
    }
}

/// A number of any length: `0.digits * 10^exponent`.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    is_negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Parses a text that is a number.
    fn of(text: &str) -> Decimal {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let num_zeros = all.iter().take_while(|digit| **digit == b'0').count();
        let mut digits: Vec<u8> = all.into_iter().skip(num_zeros).collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let len = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
        let exponent = exponent.parse::<i64>().unwrap_or_default();
        Decimal {
            is_negative,
            exponent: match digits.is_empty() {
                true => 0,
                false => exponent
                    .saturating_add(len(whole.len()))
                    .saturating_sub(len(num_zeros)),
            },
            digits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, read_number};

    fn is_held(text: &str) -> Option<bool> {
        read_number(text).map(|number| matches!(number, Number::Held(_)))
    }

    #[test]
    fn numbers_that_would_become_others_are_told_from_those_that_are_held() {
        for held in [
            "0",
            "-0",
            "1",
            "-1",
            "9223372036854775807",
            "-9223372036854775808",
            "0.1",
            "1e3",
            "1.50",
            "1E+2",
            "-0.0",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "5e-324",
            "0e999999",
            "2.2250738585072014e-308",
        ] {
            assert_eq!(is_held(held), Some(true), "{held}");
        }
        for exact in [
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551615",
            "100000000000000000000",
            "0.100000000000000000000000000001",
            "0.1000000000000000055511151231257827",
            "1e-400",
            "4.9e-324",
            "123456789.123456789123",
            "0.10000000000000001",
        ] {
            assert_eq!(is_held(exact), Some(false), "{exact}");
        }
        for none in [
            "1e400", "01", "1.", ".5", "+1", "-", "", "1e", "0x10", "NaN", "--1", "1-",
        ] {
            assert_eq!(is_held(none), None, "{none}");
        }
    }
}
