//! Spans: the values of range fields, as terms, and the ends that documents and queries write.
//!
//! ```text
//!   term: ┌────────────┬───────────┐   Each half is the code of a value that belongs to the span, with the most
//!         │ first code │ last code │   significant byte first: 8 bytes, or 16 for addresses. So terms are in the order
//!         └────────────┴───────────┘   of the first codes.
//! ```
//!
//! Splits contain the codes: never change them. This module does not compare spans; queries do.

use std::net::IpAddr;

use serde_json::Value;
use tantivy::columnar::MonotonicallyMappableToU64;
use tantivy::schema::IntoIpv6Addr;

use crate::config::{RangeKind, RangeOf};
use crate::datetime::{DateInput, DateParseError, completed, parse_millis};

/// Values from one code to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Code of the least value.
    pub first: u128,
    /// Code of the greatest value.
    pub last: u128,
}

/// End of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanEnd {
    /// True if it is the lower one.
    pub is_lower: bool,
    /// True if the value belongs to the span.
    pub is_included: bool,
}

/// Author of an end: documents are strict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Document,
    /// Document that has a JSON number.
    Number,
    Query,
}

impl Span {
    /// Returns the term.
    fn encode(self, of: RangeOf) -> Vec<u8> {
        let half = |code: u128| {
            let bytes = code.to_be_bytes();
            bytes.get(of.skipped()..).unwrap_or_default().to_vec()
        };
        [half(self.first), half(self.last)].concat()
    }

    /// Reads a term; returns `None` for bytes that are no term of a span.
    #[must_use]
    pub fn decode(term: &[u8]) -> Option<Self> {
        let (first, last) = term.split_at_checked(term.len() / 2)?;
        let code = |half: &[u8]| {
            let bytes = half.iter();
            bytes.fold(0, |code, byte| code << 8 | u128::from(*byte))
        };
        let is_known = matches!(term.len(), 16 | 32);
        is_known.then(|| Self {
            first: code(first),
            last: code(last),
        })
    }
}

impl RangeOf {
    /// Returns the number of leading bytes of a code that are always zero.
    fn skipped(self) -> usize {
        match self {
            RangeOf::Ip => 0,
            _ => 8,
        }
    }

    /// Returns the least and the greatest code, which stand for ends that are left open.
    #[must_use]
    pub fn limits(self) -> Span {
        let of_floats = || (float_code(f64::NEG_INFINITY), float_code(f64::INFINITY));
        let (first, last) = match self {
            RangeOf::Integer => (integer_code(i32::MIN.into()), integer_code(i32::MAX.into())),
            RangeOf::Long | RangeOf::Date => (0, u64::MAX.into()),
            RangeOf::Float | RangeOf::Double => of_floats(),
            RangeOf::Ip => (0, u128::MAX),
        };
        Span { first, last }
    }

    /// Returns the term that all terms of spans with this first code are at or above.
    #[must_use]
    pub fn least_term(self, first: u128) -> Vec<u8> {
        Span { first, last: 0 }.encode(self)
    }

    /// Returns the term that all terms of spans with this first code are at or below.
    #[must_use]
    pub fn greatest_term(self, first: u128) -> Vec<u8> {
        let last = u128::MAX;
        Span { first, last }.encode(self)
    }

    /// Returns the code of milliseconds since 1970 as an end of a span of dates; `None` beyond all dates.
    #[must_use]
    pub fn code_of_millis(millis: i64, end: SpanEnd) -> Option<u128> {
        stepped(integer_code(millis.into()), end)
    }
}

impl RangeKind {
    /// Reads an end in a query. Returns `None` if no value lies on this side of it.
    ///
    /// # Errors
    /// The text is no value of the field's type, as the end of a sentence that names the field.
    pub fn asked(&self, text: &str, end: SpanEnd) -> Result<Option<u128>, String> {
        let limits = self.of.limits();
        let code = self.code(text, end, By::Query)?;
        Ok(code.filter(|code| match end.is_lower {
            true => *code <= limits.last,
            false => *code >= limits.first,
        }))
    }

    /// Reads a span of a document as its term: an object of `gte` or `gt`, and `lte` or `lt`, or the network of addresses
    /// in a text.
    pub(crate) fn read(&self, value: &Value) -> Result<Vec<u8>, String> {
        let span = match value {
            Value::Object(ends) => {
                let mut span = self.of.limits();
                for (name, value) in ends {
                    let end = end_named(name).ok_or_else(|| {
                        format!("unknown parameter [{name}]: there are gte, gt, lte and lt")
                    })?;
                    let (text, by) = match value {
                        Value::Null => continue,
                        Value::String(text) => (text.clone(), By::Document),
                        Value::Number(number) => (number.to_string(), By::Number),
                        other => return Err(format!("{name}: {other} is no end of a range")),
                    };
                    let code = self.code(&text, end, by)?;
                    let limits = self.of.limits();
                    let code = code.filter(|code| (limits.first..=limits.last).contains(code));
                    let code = code.ok_or_else(|| format!("{name}: {text} is out of range"))?;
                    match end.is_lower {
                        true => span.first = code,
                        false => span.last = code,
                    }
                }
                span
            }
            Value::String(text) if self.of == RangeOf::Ip => {
                network(text).ok_or_else(|| format!("{text:?} is no network such as 10.0.0.0/8"))?
            }
            other => return Err(format!("{other} is no object of gte, gt, lte and lt")),
        };
        match span.first <= span.last {
            true => Ok(span.encode(self.of)),
            false => Err("its first value is greater than its last".to_owned()),
        }
    }

    /// Returns the code of the value next to an end, within the span; `None` if there is none.
    fn code(&self, text: &str, end: SpanEnd, by: By) -> Result<Option<u128>, String> {
        Ok(match self.of {
            RangeOf::Integer | RangeOf::Long => {
                let (floor, is_whole) = whole(text)?;
                if by != By::Query && i64::try_from(floor).is_err() {
                    return Ok(None);
                }
                match is_whole || by != By::Query {
                    // Documents' fractions are cut off, towards zero.
                    true => {
                        stepped_integer(floor.saturating_add((!is_whole && floor < 0).into()), end)
                    }
                    // The span begins above a fraction, and ends below.
                    false => {
                        stepped_integer(floor.saturating_add(end.is_lower.into()), end.included())
                    }
                }
            }
            RangeOf::Float => {
                let value: f32 = text.parse().map_err(|_| no_number(text))?;
                let next = match (end.is_included, end.is_lower) {
                    (true, _) => value,
                    (false, true) => value.next_up(),
                    (false, false) => value.next_down(),
                };
                float_end(text, value.into(), next.into(), end, by)?
            }
            RangeOf::Double => {
                let value: f64 = text.parse().map_err(|_| no_number(text))?;
                let next = match (end.is_included, end.is_lower) {
                    (true, _) => value,
                    (false, true) => value.next_up(),
                    (false, false) => value.next_down(),
                };
                float_end(text, value, next, end, by)?
            }
            RangeOf::Date => RangeOf::code_of_millis(self.millis(text, end, by)?, end),
            RangeOf::Ip => {
                let address: IpAddr = text
                    .parse()
                    .map_err(|_| format!("{text:?} is not an IP address"))?;
                stepped(address.into_ipv6_addr().to_bits(), end)
            }
        })
    }

    /// Reads a date in milliseconds. One that lacks parts is its first moment where the span begins with it or ends
    /// before it, and its last otherwise.
    fn millis(&self, text: &str, end: SpanEnd, by: By) -> Result<i64, String> {
        let text = text.trim_ascii();
        let at_start = end.is_lower == end.is_included;
        let mut formats = self.input_formats.iter();
        let has_parts = formats.any(DateInput::has_parts);
        // Four digits may be a year or a number.
        let is_completed = match by {
            By::Document => has_parts,
            By::Number => false,
            By::Query => has_parts || text.contains('-'),
        };
        let full = completed(text, at_start).filter(|_| is_completed);
        let parse_full = |text: &str| parse_millis(text, &[DateInput::Iso8601]);
        let read = match (parse_millis(text, &self.input_formats), full) {
            (Err(_), Some(full)) => parse_full(&full),
            // What the field's own formats read in another way is left to them.
            (Ok(own), Some(full)) => match completed(text, true) {
                Some(start) if parse_full(&start) == Ok(own) => parse_full(&full),
                _ => Ok(own),
            },
            (read, None) => read,
        };
        read.map_err(|error| match error {
            DateParseError::Range => format!("{text:?} is beyond the range of dates"),
            DateParseError::Format => {
                let formats = self.input_formats.iter().map(|format| format.as_str());
                let formats: Vec<&str> = formats.collect();
                format!("{text:?} is not a date ({})", formats.join(", "))
            }
        })
    }
}

impl SpanEnd {
    fn included(self) -> Self {
        Self {
            is_included: true,
            ..self
        }
    }
}

fn end_named(name: &str) -> Option<SpanEnd> {
    let (is_lower, is_included) = match name {
        "gte" | "from" => (true, true),
        "gt" => (true, false),
        "lte" | "to" => (false, true),
        "lt" => (false, false),
        _ => return None,
    };
    Some(SpanEnd {
        is_lower,
        is_included,
    })
}

/// Returns the code of an integer of 64 bits; other integers are above or below all codes.
fn integer_code(value: i128) -> u128 {
    let above = value.saturating_sub(i64::MIN.into()).max(0);
    above.unsigned_abs()
}

fn stepped_integer(value: i128, end: SpanEnd) -> Option<u128> {
    let value = match (end.is_included, end.is_lower) {
        (true, _) => value,
        (false, true) => value.saturating_add(1),
        (false, false) => value.saturating_sub(1),
    };
    // An end below all values leaves none below it.
    (end.is_lower || value >= i64::MIN.into()).then(|| integer_code(value))
}

fn stepped(code: u128, end: SpanEnd) -> Option<u128> {
    match (end.is_included, end.is_lower) {
        (true, _) => Some(code),
        (false, true) => code.checked_add(1),
        (false, false) => code.checked_sub(1),
    }
}

fn float_code(value: f64) -> u128 {
    // There is one zero.
    (value + 0.0).to_u64().into()
}

fn float_end(
    text: &str,
    value: f64,
    next: f64,
    end: SpanEnd,
    by: By,
) -> Result<Option<u128>, String> {
    if value.is_nan() || (by != By::Query && value.is_infinite()) {
        return Err(no_number(text));
    }
    // Nothing is above infinity.
    let has_next = end.is_included || value.is_finite() || next.is_finite();
    Ok(has_next.then(|| float_code(next)))
}

fn no_number(text: &str) -> String {
    format!("{text:?} is not a number")
}

/// Reads an integer, or the greatest one below a fraction, and returns whether it is the number itself.
fn whole(text: &str) -> Result<(i128, bool), String> {
    if let Ok(value) = text.parse() {
        return Ok((value, true));
    }
    let value: f64 = text.parse().map_err(|_| no_number(text))?;
    match value.is_nan() {
        true => Err(no_number(text)),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an integer beyond the range is at its end"
        )]
        false => Ok((value.floor() as i128, value.fract() == 0.0)),
    }
}

/// Returns the span of a network such as `10.0.0.0/8`.
fn network(text: &str) -> Option<Span> {
    let (address, len) = text.split_once('/')?;
    let (address, len): (IpAddr, u32) = (address.parse().ok()?, len.parse().ok()?);
    let num_free = match address {
        IpAddr::V4(_) => 32_u32.checked_sub(len)?,
        IpAddr::V6(_) => 128_u32.checked_sub(len)?,
    };
    let free = !u128::MAX.checked_shl(num_free).unwrap_or(0);
    let bits = address.into_ipv6_addr().to_bits();
    Some(Span {
        first: bits & !free,
        last: bits | free,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(of: RangeOf) -> RangeKind {
        RangeKind {
            of,
            input_formats: vec![DateInput::Iso8601, DateInput::UnixTimestamp],
        }
    }

    #[test]
    fn spans_are_alike_however_their_ends_are_written() {
        let check = |of: RangeOf, one: Value, other: Value| {
            let read = |value: &Value| Span::decode(&kind(of).read(value).unwrap()).unwrap();
            assert_eq!(read(&one), read(&other), "{one} {other}");
        };
        check(
            RangeOf::Integer,
            json!({"gt": 1, "lt": "5"}),
            json!({"gte": 2, "lte": 4}),
        );
        check(RangeOf::Integer, json!({"gte": i32::MIN}), json!({}));
        check(
            RangeOf::Long,
            json!({"gte": "2.7", "lte": 9}),
            json!({"gte": 2, "lte": 9.5}),
        );
        check(
            RangeOf::Float,
            json!({"gte": 0.1}),
            json!({"gte": "0.1000000015"}),
        );
        check(RangeOf::Double, json!({"gte": -0.0}), json!({"gte": 0}));
        check(
            RangeOf::Date,
            json!({"gte": "2024-02", "lte": "2024-02"}),
            json!({"gte": "2024-02-01T00:00:00Z", "lt": "2024-03-01"}),
        );
        check(
            RangeOf::Date,
            json!({"gt": "2024", "lt": "2026"}),
            json!({"gte": "2025-01-01", "lte": "2025-12-31T23:59:59.999Z"}),
        );
        check(
            RangeOf::Date,
            json!({"gte": "0001-01-01", "lte": "9999-12-31T10"}),
            json!({"gte": "0001-01-01T00:00:00.000Z", "lt": "9999-12-31T11:00:00+00:00"}),
        );
        check(
            RangeOf::Ip,
            json!("10.1.2.3/8"),
            json!({"gte": "10.0.0.0", "lt": "11.0.0.0"}),
        );
        check(RangeOf::Ip, json!("::/0"), json!({}));
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for (of, value) in [
            (RangeOf::Integer, json!({"gte": 5, "lte": 4})),
            (RangeOf::Integer, json!({"gte": 2_147_483_648_u64})),
            (RangeOf::Integer, json!({"gt": i32::MAX})),
            (RangeOf::Long, json!({"lt": i64::MIN})),
            (RangeOf::Long, json!({"lte": 1e30})),
            (RangeOf::Long, json!({"gte": -1e30})),
            (RangeOf::Long, json!({"gte": "-9223372036854775809"})),
            (RangeOf::Date, json!({"gte": 1500})),
            (RangeOf::Long, json!({"gte": "x"})),
            (RangeOf::Long, json!({"above": 1})),
            (RangeOf::Long, json!(5)),
            (RangeOf::Double, json!({"gte": "NaN"})),
            (RangeOf::Float, json!({"gte": "inf"})),
            (RangeOf::Date, json!({"gte": "yesterday"})),
            (RangeOf::Ip, json!("10.0.0.0/33")),
            (
                RangeOf::Ip,
                json!({"gt": "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}),
            ),
        ] {
            assert!(kind(of).read(&value).is_err(), "{of:?} {value}");
        }
    }

    #[test]
    fn only_formats_with_parts_complete_the_dates_of_documents() {
        let kind = |format: &str| RangeKind {
            of: RangeOf::Date,
            input_formats: vec![DateInput::parse(format).unwrap()],
        };
        let year = json!({"gte": "1500"});
        assert!(kind("iso8601").read(&year).is_ok());
        assert!(kind("rfc3339").read(&year).is_ok());
        assert!(kind("unix_timestamp").read(&year).is_err());
        assert!(kind("%d.%m.%Y").read(&year).is_err());
        let end = SpanEnd {
            is_lower: true,
            is_included: true,
        };
        assert!(kind("unix_timestamp").asked("2024-05", end).is_ok());
        assert!(kind("unix_timestamp").asked("1500", end).is_err());
    }

    #[test]
    fn terms_are_in_the_order_of_first_codes() {
        let term = |of, value: &Value| kind(of).read(value).unwrap();
        let (low, high) = (json!({"gte": -7, "lte": 9}), json!({"gte": -6, "lte": 0}));
        for of in [
            RangeOf::Integer,
            RangeOf::Long,
            RangeOf::Float,
            RangeOf::Double,
        ] {
            assert!(term(of, &low) < term(of, &high), "{of:?}");
            let first = Span::decode(&term(of, &low)).unwrap().first;
            assert!(of.least_term(first) <= term(of, &low));
            assert!(of.greatest_term(first) >= term(of, &low));
            assert!(of.greatest_term(first) < term(of, &high));
        }
        assert_eq!(Span::decode(b"short"), None);
    }

    #[test]
    fn ends_of_queries_lie_between_values() {
        let asked = |of, text: &str, is_lower, is_included| {
            let end = SpanEnd {
                is_lower,
                is_included,
            };
            kind(of).asked(text, end).unwrap()
        };
        let code = |value: i128| Some(integer_code(value));
        assert_eq!(asked(RangeOf::Long, "2.5", true, true), code(3));
        assert_eq!(asked(RangeOf::Long, "2.5", true, false), code(3));
        assert_eq!(asked(RangeOf::Long, "-2.5", false, false), code(-3));
        assert_eq!(asked(RangeOf::Long, "2", true, false), code(3));
        assert_eq!(asked(RangeOf::Integer, "3e9", true, true), None);
        assert_eq!(asked(RangeOf::Integer, "-3e9", false, true), None);
        assert_eq!(asked(RangeOf::Long, "-1e30", false, true), None);
        assert!(asked(RangeOf::Long, "-1e30", true, true).is_some());
        assert_eq!(asked(RangeOf::Double, "inf", true, false), None);
    }
}
