//! `fields` and `docvalue_fields`: values of a document by name, each as a list.

use std::net::IpAddr;

use canter_aggregations::format_date;
use canter_doc_mapper::{DocMapper, FieldKind, infer_date, infer_day};
use canter_geo::{Point, read_points};
use canter_names::matches_pattern;
use serde_json::{Map, Value, json};
use tantivy::DateTime;
use tantivy::schema::{DateTimePrecision, IntoIpv6Addr};
use tantivy::time::format_description::well_known::Rfc3339;

use super::source::{elements, entries, shown_by, shows_passages};
use crate::SearchError;
use crate::request::{AS_IN_COLUMN, NamedField, ShownFrom};

/// A wanted name or pattern, and a format.
type Wanted<'w> = (&'w str, Option<&'w str>);

/// Returns the values of fields that match the wanted names or patterns, with dates in their formats.
///
/// # Errors
/// An unknown format.
pub(in crate::root) fn fields_of(
    document: &str,
    wanted: &[NamedField],
    mapper: &DocMapper,
) -> Result<Map<String, Value>, SearchError> {
    let mut fields = Map::new();
    let shown = shown_by(document, mapper);
    for from in [ShownFrom::Source, ShownFrom::Column, ShownFrom::Stored] {
        let own = wanted.iter().filter(|own| own.from == from);
        let own: Vec<Wanted<'_>> = own.map(|own| (&*own.name, own.format.as_deref())).collect();
        let json = match (from, &shown) {
            (ShownFrom::Source, Some(shown)) => shown,
            _ => document,
        };
        let mut found = Map::new();
        if !own.is_empty() {
            collect(json, "", &own, mapper, &mut found)?;
        }
        for (name, mut values) in found {
            if from == ShownFrom::Stored && shown.is_some() && !shows_passages(&name, mapper) {
                continue;
            }
            if let (ShownFrom::Column, Value::Array(values)) = (from, &mut values) {
                put_in_order(values, &name, mapper);
            }
            fields.entry(name).or_insert(values);
        }
    }
    Ok(fields)
}

/// Returns the values of fields of a document, whether the index shows them or not.
///
/// # Errors
/// Never, without formats.
pub(in crate::root) fn texts_of(
    document: &str,
    names: &[&str],
    mapper: &DocMapper,
) -> Result<Map<String, Value>, SearchError> {
    let wanted: Vec<Wanted<'_>> = names.iter().map(|name| (*name, None)).collect();
    let mut fields = Map::new();
    collect(document, "", &wanted, mapper, &mut fields)?;
    Ok(fields)
}

/// Puts values in the order of a column, which has equal texts and equal addresses once.
fn put_in_order(values: &mut Vec<Value>, name: &str, mapper: &DocMapper) {
    let kind = mapper.kind_of(name);
    let address = |value: &Value| value.as_str().and_then(|text| text.parse::<IpAddr>().ok());
    let integer = |value: &Value| match value.as_u64() {
        Some(number) => Some(i128::from(number)),
        None => value.as_i64().map(i128::from),
    };
    canter_sorting::sort_by(values, |one, other| match kind {
        Some(FieldKind::Ip) => {
            let six = |value| address(value).map(IntoIpv6Addr::into_ipv6_addr);
            six(one).cmp(&six(other))
        }
        Some(FieldKind::Date(_)) => dated(one, name, mapper).cmp(&dated(other, name, mapper)),
        _ => match (integer(one), integer(other), one.as_f64(), other.as_f64()) {
            (Some(one), Some(other), ..) => one.cmp(&other),
            (.., Some(one), Some(other)) => one.total_cmp(&other),
            _ => match (one.as_str(), other.as_str()) {
                (Some(one), Some(other)) => one.cmp(other),
                _ => one.to_string().cmp(&other.to_string()),
            },
        },
    });
    let is_date = matches!(kind, Some(FieldKind::Date(_)));
    if !is_date && values.iter().all(Value::is_string) {
        values.dedup();
    }
}

fn collect(
    json: &str,
    path: &str,
    wanted: &[Wanted<'_>],
    mapper: &DocMapper,
    fields: &mut Map<String, Value>,
) -> Result<(), SearchError> {
    if add_places(json, path, wanted, mapper, fields)? {
        return Ok(());
    }
    if let Some(entries) = entries(json) {
        return entries.iter().try_for_each(|(name, value)| {
            let path = match path {
                "" => name.clone(),
                path => format!("{path}.{name}"),
            };
            collect(value.get(), &path, wanted, mapper, fields)
        });
    }
    if let Some(elements) = elements(json) {
        return elements
            .iter()
            .try_for_each(|value| collect(value.get(), path, wanted, mapper, fields));
    }
    let own = wanted.iter().find(|(name, _)| matches_pattern(name, path));
    let others = further_names(path, wanted, mapper);
    if own.is_none() && others.is_empty() {
        return Ok(());
    }
    let value: Value = serde_json::from_str(json).unwrap_or(Value::Null);
    for name in others {
        let Some(other) = mapper.value_as(&name, &value) else {
            continue;
        };
        let shown = match dated(&other, &name, mapper) {
            Some(ns) => usual_date(ns, &name, mapper).into(),
            None => other,
        };
        add(fields, &name, shown)?;
    }
    let Some((_, format)) = own else {
        return Ok(());
    };
    let value = match mapper.kind_of(path) {
        // Values of any type are shown as they are.
        None | Some(FieldKind::Json(_)) if value.is_null() => None,
        None | Some(FieldKind::Json(_)) => Some(value),
        // What the field does not accept is no value of it.
        Some(_) => mapper.value_as(path, &value),
    };
    let Some(value) = value else {
        return Ok(());
    };
    let format = format.filter(|format| *format != AS_IN_COLUMN);
    let value = match (dated(&value, path, mapper), format) {
        (Some(ns), Some(format)) => format_date(ns, format)
            .map_err(SearchError::invalid)?
            .into(),
        (Some(_), None) if shows_as_sent(path, mapper) => value,
        (Some(ns), None) => usual_date(ns, path, mapper).into(),
        (None, Some(format)) => formatted(value, format, path, mapper)?,
        (None, None) => value,
    };
    add(fields, path, value)
}

/// Returns whether a field without a type shows its dates as documents have them: in indexes that are made by their mappings,
/// they are dates of Elasticsearch's type.
fn shows_as_sent(path: &str, mapper: &DocMapper) -> bool {
    let field = mapper.resolve(path);
    field.is_some_and(|field| matches!(field.kind, FieldKind::Json(_)) && !field.infers_days)
}

/// Returns a value that is no date in a format: numbers have patterns such as `#.0`.
///
/// # Errors
/// If the field has no formats.
fn formatted(
    value: Value,
    format: &str,
    path: &str,
    mapper: &DocMapper,
) -> Result<Value, SearchError> {
    match &value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            Ok(decimal(number, format).map_or(value, Value::from))
        }
        // What a column has is the same in any format.
        Value::Bool(_) => Ok(value),
        _ => {
            let kind = match mapper.kind_of(path) {
                Some(FieldKind::Text(_)) => "keyword",
                _ => "unmapped",
            };
            Err(SearchError::invalid(format!(
                "Field [{path}] of type [{kind}] doesn't support formats."
            )))
        }
    }
}

/// Formats a number with a pattern of digits: `0` for one that is always there, `#` for one that is not zero, `,` for
/// groups. `None` if it is no such pattern.
fn decimal(number: f64, pattern: &str) -> Option<String> {
    let is_digit = |c: char| matches!(c, '0' | '#' | ',' | '.');
    let start = pattern.find(is_digit)?;
    let rest = pattern.get(start..)?;
    let len = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
    let (digits, behind) = rest.split_at_checked(len)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let percent = if behind.contains('%') { 100.0 } else { 1.0 };
    let most = fraction.len();
    let text = format!("{:.most$}", number.abs() * percent);
    let (own_whole, own_fraction) = text.split_once('.').unwrap_or((&text, ""));
    let least = fraction.matches('0').count();
    let mut own_fraction = own_fraction.to_owned();
    while own_fraction.len() > least && own_fraction.ends_with('0') {
        own_fraction.pop();
    }
    let least_whole = whole.matches('0').count();
    let own_whole = match own_whole == "0" && least_whole == 0 && !own_fraction.is_empty() {
        true => String::new(),
        false => format!("{own_whole:0>least_whole$}"),
    };
    let grouped = match whole.rsplit_once(',').map(|(_, last)| last.len()) {
        Some(size) if size > 0 => grouped(&own_whole, size),
        _ => own_whole,
    };
    let sign = if number < 0.0 { "-" } else { "" };
    let point = if own_fraction.is_empty() { "" } else { "." };
    let before = pattern.get(..start)?;
    Some(format!(
        "{sign}{before}{grouped}{point}{own_fraction}{behind}"
    ))
}

fn grouped(digits: &str, size: usize) -> String {
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(size) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Adds the points of a field of points, however they are written, or the ranges of a field of ranges. Returns `false`
/// for another field.
fn add_places(
    json: &str,
    path: &str,
    wanted: &[Wanted<'_>],
    mapper: &DocMapper,
    fields: &mut Map<String, Value>,
) -> Result<bool, SearchError> {
    let own = wanted.iter().find(|(name, _)| matches_pattern(name, path));
    let Some((_, format)) = own.filter(|_| !path.is_empty()) else {
        return Ok(false);
    };
    let value = || serde_json::from_str(json).unwrap_or(Value::Null);
    let value: Value = match mapper.kind_of(path) {
        Some(FieldKind::GeoPoint(_)) => value(),
        Some(FieldKind::Range(_) | FieldKind::Vector(_)) => {
            let list = match value() {
                Value::Array(list) => list,
                Value::Null => Vec::new(),
                one => vec![one],
            };
            list.into_iter()
                .try_for_each(|range| add(fields, path, range))?;
            return Ok(true);
        }
        _ => return Ok(false),
    };
    let mut points = Vec::new();
    // A value that was ignored as malformed is none.
    if read_points(&value, &mut |point| points.push(point)).is_err() {
        return Ok(true);
    }
    for point in points {
        let shown = match *format {
            None | Some("geojson") => {
                json!({"type": "Point", "coordinates": [point.lon, point.lat]})
            }
            Some("wkt") => format!("POINT ({:?} {:?})", point.lon, point.lat).into(),
            Some(AS_IN_COLUMN) => {
                let point = Point::of_code(point.code());
                format!("{:?}, {:?}", point.lat, point.lon).into()
            }
            Some(other) => {
                return Err(SearchError::invalid(format!(
                    "{path}: points have the formats geojson and wkt, and not {other:?}"
                )));
            }
        };
        add(fields, path, shown)?;
    }
    Ok(true)
}

fn add(fields: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), SearchError> {
    match fields
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()))
    {
        Value::Array(list) => list.push(value),
        _ => return Err(SearchError::internal("the values of a field are no list")),
    }
    Ok(())
}

/// Returns the further names of the value at a path that are wanted: ways in which a text is indexed besides, such as
/// `level.keyword`. A pattern stands for those that the mapping has, and a name for itself.
fn further_names(path: &str, wanted: &[Wanted<'_>], mapper: &DocMapper) -> Vec<String> {
    let mut names = Vec::new();
    for (name, is_mapped) in mapper.further_names(path) {
        let is_wanted = wanted.iter().any(|(wanted, _)| match wanted.contains('*') {
            true => is_mapped && matches_pattern(wanted, &name),
            false => **wanted == *name,
        });
        if is_wanted {
            names.push(name);
        }
    }
    names
}

/// Formats a date as the documents of its field have it, or else in Elasticsearch's default format.
fn usual_date(ns: i64, path: &str, mapper: &DocMapper) -> String {
    let mut date = DateTime::from_timestamp_nanos(ns);
    let mut own = None;
    if let Some(FieldKind::Date(kind)) = mapper.kind_of(path) {
        // Elasticsearch's `date`. Other fields show what documents have.
        if kind.precision == DateTimePrecision::Milliseconds {
            date = date.truncate(kind.precision);
        }
        let first = kind.input_formats.first();
        own = first.and_then(|format| format.written(date));
    }
    let ns = date.into_timestamp_nanos();
    if let Some(own) = own {
        return own;
    }
    format_date(ns, "strict_date_optional_time").unwrap_or_else(|_| {
        let date = DateTime::from_timestamp_nanos(ns).into_utc();
        date.format(&Rfc3339).unwrap_or_default()
    })
}

/// Returns the time of a value of a date field.
fn dated(value: &Value, path: &str, mapper: &DocMapper) -> Option<i64> {
    let field = mapper.resolve(path)?;
    // A field without a type has dates where its texts are some.
    if let (FieldKind::Json(_), Value::String(text)) = (field.kind, value) {
        let day = || infer_day(text).filter(|_| field.infers_days);
        let date = infer_date(text)
            .or_else(day)
            .filter(|_| !field.has_no_dates)?;
        return Some(date.into_timestamp_nanos());
    }
    if !matches!(field.kind, FieldKind::Date(_)) {
        return None;
    }
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let date = field.parse_date(&text)?;
    Some(date.into_timestamp_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_patterns_of_digits() {
        for (number, pattern, expected) in [
            (1.0, "#.0", "1.0"),
            (0.25, "#.0", ".2"),
            (0.25, "0.###", "0.25"),
            (1234567.891, "#,##0.00", "1,234,567.89"),
            (-7.0, "000", "-007"),
            (0.5, "#%", "50%"),
            (3.0, "$0.0", "$3.0"),
            (3.0, "#", "3"),
        ] {
            let written = decimal(number, pattern);
            assert_eq!(written.as_deref(), Some(expected), "{number} {pattern}");
        }
        assert_eq!(decimal(1.0, "yyyy"), None);
    }
}
