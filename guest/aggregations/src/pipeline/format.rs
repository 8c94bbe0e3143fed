//! `format` of a pipeline: adds texts to its numbers.

use serde_json::{Map, Value};

use crate::calendar::{DateFormat, Zone};

/// Maximum length of a pattern in bytes.
const MAX_PATTERN_BYTES: usize = 100;

/// Format of numbers.
#[derive(Clone, Debug)]
pub(crate) enum Format {
    Decimal(Decimal),
    /// Numbers are milliseconds since 1970.
    Date(DateFormat),
}

/// Pattern such as `#,##0.00`, as in Java's `DecimalFormat`, with English symbols.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    prefix: String,
    suffix: String,
    /// Minimum number of digits before the point.
    min_whole: usize,
    /// Minimum and maximum number of digits after the point.
    min_fraction: usize,
    max_fraction: usize,
    /// Number of digits between two commas; 0 for none.
    group: usize,
    /// 100 for percent, 1,000 for per mille, else 1.
    factor: u16,
}

impl Format {
    /// Parses a pattern of digits (`0` and `#`), or else a date format.
    ///
    /// # Errors
    /// The pattern is invalid. The message describes a valid one.
    pub(crate) fn parse(pattern: &str) -> Result<Self, String> {
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(format!("a pattern has at most {MAX_PATTERN_BYTES} bytes"));
        }
        match pattern.contains(['0', '#']) {
            true => Decimal::parse(pattern).map(Self::Decimal),
            false => DateFormat::parse(pattern).map(Self::Date),
        }
    }

    /// Returns the text of a number.
    pub(crate) fn text(&self, number: f64) -> String {
        match self {
            Self::Decimal(decimal) => decimal.text(number),
            Self::Date(format) => {
                const MILLISECOND_NS: i64 = 1_000_000;
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "saturates, as times at the ends do"
                )]
                let time_ms = number as i64;
                format.format(time_ms.saturating_mul(MILLISECOND_NS), &Zone::utc())
            }
        }
    }

    /// Adds the texts of a result's numbers, except its `count`.
    pub(super) fn add_texts(&self, result: &mut Value) {
        let Value::Object(fields) = result else {
            return;
        };
        match fields.get_mut("values") {
            Some(Value::Object(values)) => self.add_to(values),
            Some(Value::Array(values)) => {
                let values = values.iter_mut().filter_map(Value::as_object_mut);
                values.for_each(|entry| {
                    let text = entry.get("value").and_then(Value::as_f64);
                    if let Some(text) = text.map(|number| self.text(number)) {
                        entry.insert("value_as_string".to_owned(), Value::from(text));
                    }
                });
            }
            _ => self.add_to(fields),
        }
    }

    fn add_to(&self, fields: &mut Map<String, Value>) {
        let mut texts: Vec<(String, Value)> = Vec::new();
        for (name, value) in fields.iter() {
            let text = match value {
                Value::Number(number) if name != "count" => {
                    number.as_f64().map(|number| Value::from(self.text(number)))
                }
                Value::Object(bounds) => {
                    let bounds = bounds.iter().filter_map(|(name, bound)| {
                        let text = self.text(bound.as_f64()?);
                        Some((name.clone(), Value::from(text)))
                    });
                    Some(Value::Object(bounds.collect()))
                }
                _ => None,
            };
            texts.extend(text.map(|text| (format!("{name}_as_string"), text)));
        }
        fields.extend(texts);
    }
}

const FORM: &str =
    "write it as in #,##0.00, with text in quotes before or behind it, and perhaps %";

impl Decimal {
    fn parse(pattern: &str) -> Result<Self, String> {
        let refused = |what: &str| format!("the pattern {pattern:?} {what}: {FORM}");
        let mut found = Self {
            prefix: String::new(),
            suffix: String::new(),
            min_whole: 0,
            min_fraction: 0,
            max_fraction: 0,
            group: 0,
            factor: 1,
        };
        let is_digit = |c: char| matches!(c, '0' | '#' | ',' | '.');
        let (mut digits, mut is_quoted, mut is_behind) = (String::new(), false, false);
        for c in pattern.chars() {
            if c == '\'' {
                is_quoted = !is_quoted;
                continue;
            }
            if !is_quoted && is_digit(c) && !is_behind {
                digits.push(c);
                continue;
            }
            match c {
                _ if is_quoted => {}
                '%' => found.factor = 100,
                '‰' => found.factor = 1_000,
                _ if is_digit(c) => return Err(refused("has digits in two places")),
                ';' => return Err(refused("has one for negative numbers, which is not taken")),
                'E' => return Err(refused("has an exponent, which is not taken")),
                _ => {}
            }
            is_behind = !digits.is_empty();
            match is_behind {
                true => found.suffix.push(c),
                false => found.prefix.push(c),
            }
        }
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let plain = whole.replace(',', "");
        let is_right = plain.trim_start_matches('#').chars().all(|c| c == '0')
            && fraction.trim_end_matches('#').chars().all(|c| c == '0');
        if is_quoted || !is_right || whole.ends_with(',') {
            return Err(refused("is none of a number"));
        }
        found.group = whole.rsplit_once(',').map_or(0, |(_, last)| last.len());
        found.min_whole = plain.matches('0').count();
        found.min_fraction = fraction.matches('0').count();
        found.max_fraction = fraction.len();
        // Without any 0, one digit before the point is required.
        if found.min_whole == 0 && found.min_fraction == 0 {
            found.min_whole = 1;
        }
        Ok(found)
    }

    /// Formats a number, rounding ties to even.
    fn text(&self, number: f64) -> String {
        let number = number * f64::from(self.factor);
        let digits = format!("{:.*}", self.max_fraction, number.abs());
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let mut fraction = fraction;
        while fraction.len() > self.min_fraction
            && let Some(shorter) = fraction.strip_suffix('0')
        {
            fraction = shorter;
        }
        let whole = whole.trim_start_matches('0');
        let whole = format!("{whole:0>width$}", width = self.min_whole);
        let mut text = String::new();
        if number < 0.0 {
            text.push('-');
        }
        text.push_str(&self.prefix);
        for (place, digit) in whole.chars().enumerate() {
            let left = whole.len().saturating_sub(place);
            if self.group > 0 && place > 0 && left.is_multiple_of(self.group) {
                text.push(',');
            }
            text.push(digit);
        }
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        text + &self.suffix
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_written_as_java_does() {
        for (pattern, number, expected) in [
            ("0.00", 1234.5, "1234.50"),
            ("0.00", 0.125, "0.12"),
            ("0.00", -0.375, "-0.38"),
            ("0", 2.5, "2"),
            ("#,##0.00", 1_234_567.891, "1,234,567.89"),
            ("#,##0", 999.0, "999"),
            ("#,##0", 0.0, "0"),
            ("#", 0.0, "0"),
            ("#.##", 0.5, "0.5"),
            ("#.00", 0.5, ".50"),
            ("0.0##", 1.25, "1.25"),
            ("000", 7.0, "007"),
            ("0.0%", 0.123, "12.3%"),
            ("'#'0", 3.0, "#3"),
            ("$#,##0.00", -1234.5, "-$1,234.50"),
            ("0 'ms'", 12.0, "12 ms"),
            ("yyyy-MM-dd", 1_709_250_000_000.0, "2024-02-29"),
        ] {
            let format = Format::parse(pattern).unwrap();
            assert_eq!(format.text(number), expected, "{pattern} of {number}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in [
            "0#",
            "0.#0",
            "0 0",
            "0;-0",
            "0E0",
            "'0",
            "0,",
            "qqq",
            &"0".repeat(101),
        ] {
            assert!(Format::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn every_number_but_the_count_has_a_text() {
        let format = Format::parse("0.0").unwrap();
        for (mut result, expected) in [
            (
                json!({"value": 1.0}),
                json!({"value": 1.0, "value_as_string": "1.0"}),
            ),
            (json!({"value": null}), json!({"value": null})),
            (
                json!({"count": 2, "min": 1}),
                json!({"count": 2, "min": 1, "min_as_string": "1.0"}),
            ),
            (
                json!({"values": {"50.0": 3.0}}),
                json!({"values": {"50.0": 3.0, "50.0_as_string": "3.0"}}),
            ),
            (
                json!({"values": [{"key": 50.0, "value": 3.0}]}),
                json!({"values": [{"key": 50.0, "value": 3.0, "value_as_string": "3.0"}]}),
            ),
        ] {
            format.add_texts(&mut result);
            assert_eq!(result, expected);
        }
    }
}
