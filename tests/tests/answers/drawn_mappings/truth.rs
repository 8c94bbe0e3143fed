//! The values that a field has of a document, by Elasticsearch's documentation of the field types.

use std::cmp::Ordering;
use std::net::{IpAddr, Ipv6Addr};

use jiff::civil::Date;
use serde_json::Value;

use super::fields::{Field, Kind};

/// A value as it is indexed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Own {
    Integer(i128),
    Float(f64),
    /// Nanoseconds since 1970.
    Date(i128),
    Bool(bool),
    Address(Ipv6Addr),
    Text(String),
}

impl Own {
    pub(super) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) | (Self::Date(one), Self::Date(other)) => {
                one.cmp(other)
            }
            (Self::Float(one), Self::Float(other)) => one.total_cmp(other),
            (Self::Bool(one), Self::Bool(other)) => one.cmp(other),
            (Self::Address(one), Self::Address(other)) => one.cmp(other),
            (Self::Text(one), Self::Text(other)) => one.as_bytes().cmp(other.as_bytes()),
            _ => panic!("{self:?} and {other:?} are of one field"),
        }
    }
}

/// A value that the field does not accept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Malformed;

type Read<T> = Result<T, Malformed>;

/// All values at a path of a document, in order: names may have dots, lists and lists in lists are their elements.
pub(super) fn given<'d>(document: &'d Value, path: &str) -> Vec<&'d Value> {
    let mut found = Vec::new();
    collect(document, path, &mut found);
    found
}

fn collect<'d>(value: &'d Value, path: &str, found: &mut Vec<&'d Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| collect(value, path, found)),
        value if path.is_empty() => found.push(value),
        Value::Object(object) => {
            for (name, value) in object {
                match path.strip_prefix(name.as_str()) {
                    Some("") => collect(value, "", found),
                    Some(rest) if rest.starts_with('.') => collect(value, &rest[1..], found),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

/// The values of a field, in the order of the document; or that the document is refused.
pub(super) fn values(field: &Field, source: &str, document: &Value) -> Read<Vec<Own>> {
    let mut values = Vec::new();
    let copied = field.sources.iter().flat_map(|path| given(document, path));
    values.extend(copied.filter_map(text_of).map(Own::Text));
    for given in given(document, source) {
        match read(field, given) {
            Ok(value) => values.extend(value),
            Err(Malformed) if field.ignores_malformed => {}
            Err(Malformed) => return Err(Malformed),
        }
    }
    Ok(values)
}

/// Whether a field ignores a value of a document.
pub(super) fn ignores(field: &Field, source: &str, document: &Value) -> bool {
    let mut given = given(document, source).into_iter();
    given.any(|value| is_too_long(field, value) || read(field, value).is_err())
}

fn is_too_long(field: &Field, value: &Value) -> bool {
    match (&field.kind, text_of(value)) {
        (
            Kind::Keyword {
                ignore_above: Some(most),
                ..
            },
            Some(text),
        ) => text.encode_utf16().count() > *most,
        _ => false,
    }
}

/// The text of a scalar, as it is written.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

pub(super) fn read(field: &Field, value: &Value) -> Read<Option<Own>> {
    let value = match (value, &field.null_value) {
        (Value::Null, None) => return Ok(None),
        (Value::Null, Some(other)) => other,
        (Value::String(text), other) if text.is_empty() && field.kind.is_number() => {
            match (field.coerces, other) {
                (false, _) => return Err(Malformed),
                (true, None) => return Ok(None),
                (true, Some(other)) => other,
            }
        }
        (value, _) => value,
    };
    if matches!(value, Value::Object(_)) {
        return Err(Malformed);
    }
    let text = text_of(value).ok_or(Malformed)?;
    let own = match &field.kind {
        kind if kind.is_integer() => Own::Integer(integer(field, value)?),
        kind if kind.is_float() => Own::Float(float(field, value)?),
        Kind::Boolean => Own::Bool(match value {
            Value::Bool(flag) => *flag,
            Value::String(text) if text == "true" => true,
            Value::String(text) if text == "false" || text.is_empty() => false,
            _ => return Err(Malformed),
        }),
        Kind::Ip => match value {
            Value::String(text) => Own::Address(address(text).ok_or(Malformed)?),
            _ => return Err(Malformed),
        },
        Kind::Date(_) | Kind::DateNanos => {
            if matches!(value, Value::Bool(_)) {
                return Err(Malformed);
            }
            Own::Date(date(&field.kind, &text).ok_or(Malformed)?)
        }
        Kind::Keyword {
            ignore_above,
            lowercase,
        } => {
            if ignore_above.is_some_and(|most| text.encode_utf16().count() > most) {
                return Ok(None);
            }
            Own::Text(if *lowercase {
                text.to_lowercase()
            } else {
                text
            })
        }
        _ => Own::Text(text),
    };
    Ok(Some(own))
}

pub(super) fn address(text: &str) -> Option<Ipv6Addr> {
    match text.parse().ok()? {
        IpAddr::V4(four) => Some(four.to_ipv6_mapped()),
        IpAddr::V6(six) => Some(six),
    }
}

fn integer(field: &Field, value: &Value) -> Read<i128> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) if field.coerces => text.clone(),
        _ => return Err(Malformed),
    };
    let number = match text.parse::<i128>() {
        Ok(number) => number,
        Err(_) => {
            let float: f64 = text.parse().map_err(|_| Malformed)?;
            // More digits than a double has.
            let exact = text
                .split_once('.')
                .and_then(|(whole, _)| whole.parse().ok());
            let is_whole = float.fract() == 0.0;
            // OpenSearch's test 90_unsigned_long.yml cuts a fraction off; Elasticsearch refuses it.
            let is_below = field.kind == Kind::UnsignedLong && float < 0.0;
            if !float.is_finite() || is_below || (!field.coerces && !is_whole) {
                return Err(Malformed);
            }
            exact.unwrap_or(float.trunc() as i128)
        }
    };
    let range = match field.kind {
        Kind::Byte => i128::from(i8::MIN)..=i128::from(i8::MAX),
        Kind::Short => i128::from(i16::MIN)..=i128::from(i16::MAX),
        Kind::Integer => i128::from(i32::MIN)..=i128::from(i32::MAX),
        Kind::Long => i128::from(i64::MIN)..=i128::from(i64::MAX),
        _ => 0..=i128::from(u64::MAX),
    };
    match range.contains(&number) {
        true => Ok(number),
        false => Err(Malformed),
    }
}

fn float(field: &Field, value: &Value) -> Read<f64> {
    let number: f64 = match value {
        Value::Number(number) => number.as_f64().ok_or(Malformed)?,
        Value::String(text) if field.coerces => text.parse().map_err(|_| Malformed)?,
        _ => return Err(Malformed),
    };
    let number = rounded(&field.kind, number);
    match number.is_finite() {
        true => Ok(number),
        false => Err(Malformed),
    }
}

/// The value of a floating point field that is nearest to a number.
pub(super) fn rounded(kind: &Kind, number: f64) -> f64 {
    let number = match kind {
        Kind::Float => f64::from(number as f32),
        Kind::HalfFloat => half(number),
        // Halves go up, as Java's `Math.round` does.
        Kind::Scaled(factor) => (number * factor + 0.5).floor() / factor,
        _ => number,
    };
    number + 0.0
}

/// The nearest number of 16 bits: 11 significant ones; of two at the same distance, the even one.
fn half(number: f64) -> f64 {
    let number = f64::from(number as f32);
    if number == 0.0 {
        return 0.0;
    }
    let exponent = (number.abs().log2().floor() as i32).max(-14);
    let unit = 2_f64.powi(exponent - 10);
    let nearest = (number / unit).round_ties_even() * unit;
    match nearest.abs() > 65_504.0 {
        true => f64::INFINITY * nearest.signum(),
        false => nearest,
    }
}

const SECOND: i128 = 1_000_000_000;

/// Reads a date in the formats of a field, one after the other.
pub(super) fn date(kind: &Kind, text: &str) -> Option<i128> {
    let formats = match kind {
        Kind::Date("") => "strict_date_optional_time||epoch_millis",
        Kind::Date(formats) => formats,
        _ => "strict_date_optional_time_nanos||epoch_millis",
    };
    let mut formats = formats.split("||");
    let ns = formats.find_map(|format| match format {
        "epoch_millis" => epoch(text, 1_000_000),
        "epoch_second" => epoch(text, SECOND),
        "yyyy-MM-dd" if text.len() == 10 => iso(text),
        "yyyy-MM-dd HH:mm:ss" if text.len() == 19 && text.contains(' ') => {
            iso(&text.replace(' ', "T"))
        }
        format if format.starts_with("strict_date") && !text.contains(' ') => iso(text),
        _ => None,
    })?;
    // Columns have 64 bits of nanoseconds: documented.
    i64::try_from(ns).ok()?;
    Some(match kind {
        // A `date` has milliseconds; fractions before 1970 are cut off towards it: documented.
        Kind::Date(_) => ns / 1_000_000 * 1_000_000,
        _ => ns,
    })
}

/// Reads a number of units, which may have a fraction of nanoseconds.
fn epoch(text: &str, unit_ns: i128) -> Option<i128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let ns = whole.parse::<i128>().ok()? * unit_ns;
    let digits = format!("{fraction:0<18}").parse::<i128>().ok()?;
    let fraction = digits * unit_ns / 1_000_000_000_000_000_000;
    Some(if whole.starts_with('-') {
        ns - fraction
    } else {
        ns + fraction
    })
}

/// Reads a year, month, day and time, of which the later ones may be missing, in UTC.
fn iso(text: &str) -> Option<i128> {
    let (day, time) = text.split_once('T').unwrap_or((text, ""));
    let parts: Vec<&str> = day.split('-').collect();
    let lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    if !matches!(lens.as_slice(), [4] | [4, 2] | [4, 2, 2]) {
        return None;
    }
    let number = |nth: usize| {
        parts
            .get(nth)
            .map_or(Some(1), |part| part.parse::<i16>().ok())
    };
    let day = Date::new(number(0)?, number(1)? as i8, number(2)? as i8).ok()?;
    let epoch = Date::new(1970, 1, 1).ok()?;
    let days = day.since(epoch).ok()?.get_days();
    let time = time.strip_suffix('Z').unwrap_or(time);
    let mut ns = i128::from(days) * 86_400 * SECOND;
    let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
    let units = [3_600, 60, 1];
    for (part, unit) in whole.split(':').zip(units) {
        let number = if part.is_empty() {
            0
        } else {
            part.parse::<i128>().ok()?
        };
        ns += number * unit * SECOND;
    }
    if !fraction.is_empty() {
        let digits = format!("{fraction:0<9}");
        ns += digits.get(..9)?.parse::<i128>().ok()?;
    }
    Some(ns)
}
