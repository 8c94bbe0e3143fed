//! The meaning of a range's bounds, or of a single value, in a field.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr};
use std::ops::{Bound, RangeInclusive};

use canter_doc_mapper::config::{JsonKind, Width};
use canter_doc_mapper::tokenizers::{Extent, column_text};
use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::DateTime;
use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};
use tantivy::schema::{DateTimePrecision, IntoIpv6Addr};

use super::number::{Number, NumberRange};
use crate::query::build::{
    NO_POINT, decode_bytes, is_json_date, parse_date, parse_date_bound, parse_scalar,
};

/// A range of values of one kind.
#[derive(Clone, Debug)]
pub(in crate::query) enum ValueRange {
    /// Numbers, for any type of column.
    Numbers(NumberRange),
    /// Booleans or dates, in the order-preserving form of columns.
    Mapped(ColumnType, RangeInclusive<u64>),
    /// IP addresses; IPv4 addresses as columns store them.
    Addresses(RangeInclusive<Ipv6Addr>),
    /// Text, in the order of its bytes.
    Text(Bound<String>, Bound<String>),
    /// Bytes.
    Bytes(Bound<Vec<u8>>, Bound<Vec<u8>>),
}

type Bounds<T> = (Bound<T>, Bound<T>);

/// Returns the value ranges of a range in a field; none if it contains no value that the field can have.
///
/// # Errors
/// The problem with a bound, as the end of a sentence that names the field.
pub(in crate::query) fn value_ranges(
    field: &ResolvedField<'_>,
    lower: Bound<&str>,
    upper: Bound<&str>,
) -> Result<Vec<ValueRange>, String> {
    let range = match field.kind {
        FieldKind::U64(_) => numbers(ColumnType::U64, None, lower, upper)?,
        FieldKind::I64(_) => numbers(ColumnType::I64, None, lower, upper)?,
        FieldKind::F64(own) => numbers(ColumnType::F64, own.width, lower, upper)?,
        FieldKind::Bool => {
            let parse = |text: &str| parse_scalar::<bool>(text, "true or false");
            mapped(ColumnType::Bool, both(lower, upper, parse)?)
        }
        FieldKind::Date(_) => dates(field, lower, upper)?,
        FieldKind::Ip => {
            let parse = |text: &str| parse_scalar::<IpAddr>(text, "an IP address");
            addresses(both(lower, upper, parse)?)
        }
        FieldKind::GeoPoint(_) => return Err(NO_POINT.to_owned()),
        FieldKind::Vector(_) => return Err("it has vectors, which have no order".to_owned()),
        FieldKind::Range(_) => return Err("its values are ranges".to_owned()),
        FieldKind::Text(_) => Some(text(field, lower, upper)),
        FieldKind::Bytes(bytes) => {
            let (lower, upper) = both(lower, upper, |text| decode_bytes(bytes.input_format, text))?;
            Some(ValueRange::Bytes(lower, upper))
        }
        FieldKind::Json(json) => return json_ranges(field, json, lower, upper),
        FieldKind::Object(_) | FieldKind::Concatenate(_) => return Err(no_value()),
    };
    Ok(range.into_iter().collect())
}

/// Returns the ranges that contain exactly one value. In a JSON field, a numeric text may also have been
/// a text.
///
/// # Errors
/// As [`value_ranges`].
pub(in crate::query) fn equal_values(
    field: &ResolvedField<'_>,
    value: &str,
) -> Result<Vec<ValueRange>, String> {
    let value = &*in_width(field, value);
    let (lower, upper) = (Bound::Included(value), Bound::Included(value));
    let mut ranges = value_ranges(field, lower, upper)?;
    let has_text = ranges
        .iter()
        .any(|range| matches!(range, ValueRange::Text(..)));
    if matches!(field.kind, FieldKind::Json(_)) && !has_text {
        ranges.push(text(field, lower, upper));
    }
    Ok(ranges)
}

/// Returns a value as documents with it have it: rounded to the width of the field.
pub(in crate::query) fn in_width<'v>(field: &ResolvedField<'_>, value: &'v str) -> Cow<'v, str> {
    let width = match field.kind {
        FieldKind::F64(own) => own.width,
        _ => None,
    };
    match (width, value.parse::<f64>()) {
        (Some(width), Ok(number)) => width.rounded(number).to_string().into(),
        _ => value.into(),
    }
}

fn no_value() -> String {
    "it is an object: name a field inside it".to_owned()
}

fn both<T>(
    lower: Bound<&str>,
    upper: Bound<&str>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Bounds<T>, String> {
    let one = |bound: Bound<&str>| {
        Ok::<_, String>(match bound {
            Bound::Included(text) => Bound::Included(parse(text)?),
            Bound::Excluded(text) => Bound::Excluded(parse(text)?),
            Bound::Unbounded => Bound::Unbounded,
        })
    };
    Ok((one(lower)?, one(upper)?))
}

fn numbers(
    column_type: ColumnType,
    width: Option<Width>,
    lower: Bound<&str>,
    upper: Bound<&str>,
) -> Result<Option<ValueRange>, String> {
    let parse = |text: &str| {
        let number = Number::parse(text).ok_or_else(|| format!("{text:?} is not a number"))?;
        Ok(width.map_or(number, |width| number.in_width(width)))
    };
    let (lower, upper) = both(lower, upper, parse)?;
    let range = NumberRange { lower, upper };
    let is_empty = range.for_type(column_type).is_none();
    Ok((!is_empty).then_some(ValueRange::Numbers(range)))
}

fn mapped<T: MonotonicallyMappableToU64>(
    column_type: ColumnType,
    (lower, upper): Bounds<T>,
) -> Option<ValueRange> {
    let first = match lower {
        Bound::Included(value) => value.to_u64(),
        Bound::Excluded(value) => value.to_u64().checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let last = match upper {
        Bound::Included(value) => value.to_u64(),
        Bound::Excluded(value) => value.to_u64().checked_sub(1)?,
        // All numbers above it parse as true.
        Bound::Unbounded if column_type == ColumnType::Bool => true.to_u64(),
        Bound::Unbounded => u64::MAX,
    };
    (first <= last).then_some(ValueRange::Mapped(column_type, first..=last))
}

/// Returns the range of a date in the timestamp field: its whole second, as if it were a term.
///
/// # Errors
/// As [`value_ranges`].
pub(in crate::query) fn second_of(
    field: &ResolvedField<'_>,
    text: &str,
) -> Result<ValueRange, String> {
    /// The last nanosecond of a second.
    const LAST_NS: i64 = 999_999_999;
    // Dates are truncated towards 1970.
    let date = parse_date(field, text)?.truncate(DateTimePrecision::Seconds);
    let second = date.into_timestamp_nanos();
    let (first, last) = match second {
        0 => (-LAST_NS, LAST_NS),
        1.. => (second, second.saturating_add(LAST_NS)),
        _ => (second.saturating_sub(LAST_NS), second),
    };
    let column = |ns| DateTime::from_timestamp_nanos(ns).to_u64();
    let range = column(first)..=column(last);
    Ok(ValueRange::Mapped(ColumnType::DateTime, range))
}

/// Returns a range of dates. Bounds are truncated to the precision of the compared values: columns to
/// `fast_precision`, terms to seconds. Columns of JSON fields have full precision.
fn dates(
    field: &ResolvedField<'_>,
    lower: Bound<&str>,
    upper: Bound<&str>,
) -> Result<Option<ValueRange>, String> {
    let precision = match field.kind {
        _ if !field.is_fast() => DateTimePrecision::Seconds,
        FieldKind::Date(date) => date.precision,
        _ => DateTimePrecision::Nanoseconds,
    };
    let parse = |text: &str| {
        let date = parse_date_bound(field, text)?;
        Ok(date.truncate(precision))
    };
    Ok(mapped(ColumnType::DateTime, both(lower, upper, parse)?))
}

fn addresses((lower, upper): Bounds<IpAddr>) -> Option<ValueRange> {
    let number = |address: IpAddr| address.into_ipv6_addr().to_bits();
    let first = match lower {
        Bound::Included(address) => number(address),
        Bound::Excluded(address) => number(address).checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let last = match upper {
        Bound::Included(address) => number(address),
        Bound::Excluded(address) => number(address).checked_sub(1)?,
        Bound::Unbounded => u128::MAX,
    };
    let range = Ipv6Addr::from_bits(first)..=Ipv6Addr::from_bits(last);
    (first <= last).then_some(ValueRange::Addresses(range))
}

/// Returns a range of texts. Bounds are normalized like the values: by the normalizer of the column, or by the
/// tokenizer's transformations of letters for terms.
fn text(field: &ResolvedField<'_>, lower: Bound<&str>, upper: Bound<&str>) -> ValueRange {
    let normalised = |text: &str| match field.fast {
        Some(normalizer) => {
            column_text(&normalizer.letters().apply(text, Extent::Whole)).to_owned()
        }
        None => field.letters.apply(text, Extent::Whole),
    };
    ValueRange::Text(lower.map(normalised), upper.map(normalised))
}

/// Returns the ranges in a JSON field, whose values have the types they came with; the form of the bounds determines
/// the type. A day may be the start of that day or a text, because only full timestamps become dates.
fn json_ranges(
    field: &ResolvedField<'_>,
    json: &JsonKind,
    lower: Bound<&str>,
    upper: Bound<&str>,
) -> Result<Vec<ValueRange>, String> {
    if field.json_path.is_empty() {
        return Err(no_value());
    }
    let wrong = |_: &str| Err(String::new());
    let number = |text: &str| Number::parse_digits(text).map_or_else(|| wrong(text), Ok);
    if let Ok((lower, upper)) = both(lower, upper, number) {
        return Ok(vec![ValueRange::Numbers(NumberRange { lower, upper })]);
    }
    let boolean = |text: &str| parse_scalar::<bool>(text, "true or false");
    if let Ok(bounds) = both(lower, upper, boolean) {
        return Ok(mapped(ColumnType::Bool, bounds).into_iter().collect());
    }
    let is_number = |bound: Bound<&str>| match bound {
        Bound::Included(text) | Bound::Excluded(text) => Number::parse_digits(text).is_some(),
        Bound::Unbounded => false,
    };
    let mut ranges = Vec::new();
    if !is_number(lower)
        && !is_number(upper)
        && let Ok(dates) = dates(field, lower, upper)
    {
        ranges.extend(dates);
        let timestamp = |text: &str| match is_json_date(field, json, text) {
            true => Ok(()),
            false => Err(String::new()),
        };
        if both(lower, upper, timestamp).is_ok() {
            return Ok(ranges);
        }
    }
    ranges.push(text(field, lower, upper));
    Ok(ranges)
}
