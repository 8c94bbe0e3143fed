//! Literals of typed fields: numbers, booleans, dates, addresses, bytes.

use std::net::IpAddr;
use std::str::FromStr;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use canter_doc_mapper::config::{BytesFormat, JsonKind};
use canter_doc_mapper::{FieldKind, ResolvedField, infer_date, infer_day};
use tantivy::Term;
use tantivy::json_utils::convert_to_fast_value_and_append_to_json_term;
use tantivy::schema::{DATE_TIME_PRECISION_INDEXED, IntoIpv6Addr};

/// Says how points are searched for.
pub(in crate::query) const NO_POINT: &str = "it has points, which have neither an order nor a text: use geo_bounding_box, geo_distance, \
                        geo_polygon or exists";

/// Returns the term of a typed literal, for an exact match.
///
/// # Errors
/// The problem with the literal, as the end of a sentence that names the field.
pub(super) fn scalar_term(field: &ResolvedField<'_>, text: &str) -> Result<Term, String> {
    let id = field.field;
    match field.kind {
        FieldKind::Text(_) => Ok(Term::from_field_text(id, text)),
        FieldKind::U64(_) => {
            parse_scalar(text, "an unsigned integer").map(|v| Term::from_field_u64(id, v))
        }
        FieldKind::I64(_) => parse_scalar(text, "an integer").map(|v| Term::from_field_i64(id, v)),
        FieldKind::F64(own) => parse_scalar::<f64>(text, "a number")
            .and_then(|value| match value.is_nan() {
                true => Err(format!("{text:?} is not a number")),
                false => Ok(value),
            })
            .map(|value| own.width.map_or(value, |width| width.rounded(value)))
            // Documents have no negative zero.
            .map(|value| Term::from_field_f64(id, value + 0.0)),
        FieldKind::Bool => {
            parse_scalar(text, "true or false").map(|v| Term::from_field_bool(id, v))
        }
        FieldKind::Date(_) => Ok(Term::from_field_date_for_search(
            id,
            parse_date(field, text)?,
        )),
        FieldKind::Ip => parse_scalar::<IpAddr>(text, "an IP address")
            .map(|value| Term::from_field_ip_addr(id, value.into_ipv6_addr())),
        FieldKind::Bytes(bytes) => {
            decode_bytes(bytes.input_format, text).map(|value| Term::from_field_bytes(id, &value))
        }
        FieldKind::Json(json) => Ok(json_value_term(field, json, text).unwrap_or_else(|| {
            let mut term = json_base_term(field, json);
            term.append_type_and_str(text);
            term
        })),
        FieldKind::GeoPoint(_) => Err(NO_POINT.to_owned()),
        FieldKind::Range(_) => Err("its terms are ranges".to_owned()),
        FieldKind::Vector(_) => Err(VECTORS.to_owned()),
        FieldKind::Object(_) | FieldKind::Concatenate(_) => {
            Err("it is an object: name a field inside it".to_owned())
        }
    }
}

/// Why a field of vectors has no values to compare with.
pub(in crate::query) const VECTORS: &str = "it has vectors: look for the nearest with knn";

/// Parses a literal of a type with `FromStr`.
///
/// # Errors
/// A message that it is not `wanted`.
pub(in crate::query) fn parse_scalar<T: FromStr>(text: &str, wanted: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not {wanted}"))
}

pub(in crate::query) fn parse_date(
    field: &ResolvedField<'_>,
    text: &str,
) -> Result<tantivy::DateTime, String> {
    field.parse_date(text).ok_or_else(|| {
        format!(
            "{text:?} is not a date: write it as documents do (input_formats), in RFC 3339 or RFC 2822, as a \
             day like 2024-05-01, or as a unix timestamp"
        )
    })
}

/// Parses a date at the end of a range. A date outside the range of dates is before or after all of them.
///
/// # Errors
/// If it is not a date.
pub(in crate::query) fn parse_date_bound(
    field: &ResolvedField<'_>,
    text: &str,
) -> Result<tantivy::DateTime, String> {
    /// A leap year, so that it has every day of any year.
    const SOME_YEAR: &str = "2000";
    let parsed = parse_date(field, text);
    if let Err(problem) = &parsed
        && let Some((year, rest)) = text.split_at_checked(SOME_YEAR.len())
        && let Ok(year) = year.parse::<u16>()
        && rest.starts_with('-')
        && field.parse_date(&format!("{SOME_YEAR}{rest}")).is_some()
    {
        return match year {
            ..1700 => Ok(tantivy::DateTime::MIN),
            2200.. => Ok(tantivy::DateTime::MAX),
            _ => Err(problem.clone()),
        };
    }
    parsed
}

/// Returns whether a text in a JSON field is stored as a date instead of a text.
pub(in crate::query) fn is_json_date(
    field: &ResolvedField<'_>,
    json: &JsonKind,
    text: &str,
) -> bool {
    let is_other = text.parse::<f64>().is_ok() || text.parse::<bool>().is_ok();
    !is_other && json_value_term(field, json, text).is_some()
}

/// Decodes bytes in the format of the field's documents.
///
/// # Errors
/// If they are not in that format.
pub(in crate::query) fn decode_bytes(format: BytesFormat, text: &str) -> Result<Vec<u8>, String> {
    let decoded = match format {
        BytesFormat::Base64 => BASE64_STANDARD.decode(text).ok(),
        BytesFormat::Hex => decode_hex(text),
    };
    decoded.ok_or_else(|| format!("{text:?} is not in the field's input_format"))
}

/// Returns the prefix of every term below a path of a JSON field.
pub(in crate::query) fn json_base_term(field: &ResolvedField<'_>, json: &JsonKind) -> Term {
    Term::from_field_json_path(field.field, &field.json_path, json.expand_dots)
}

/// Returns the term of a literal that reads as a number, boolean or date.
pub(super) fn json_value_term(
    field: &ResolvedField<'_>,
    json: &JsonKind,
    text: &str,
) -> Option<Term> {
    let base = json_base_term(field, json);
    if field.has_no_dates && infer_date(text).is_some() {
        return None;
    }
    convert_to_fast_value_and_append_to_json_term(&base, text, true).or_else(|| {
        // tantivy only parses RFC 3339 dates.
        let day = || field.infers_days.then(|| infer_day(text))?;
        let date = infer_date(text).or_else(day)?;
        let date = date.truncate(DATE_TIME_PRECISION_INDEXED);
        let mut term = base.clone();
        term.append_type_and_fast_value(date);
        Some(term)
    })
}

/// Returns the text in a term of a text field or, after path and type, of a JSON field.
pub(super) fn text_of<'t>(field: &ResolvedField<'_>, term: &'t Term) -> &'t str {
    let start = match field.kind {
        FieldKind::Json(json) => {
            let mut base = json_base_term(field, json);
            base.append_type_and_str("");
            base.serialized_value_bytes().len()
        }
        _ => 0,
    };
    let text = term.serialized_value_bytes().get(start..);
    text.and_then(|text| std::str::from_utf8(text).ok())
        .unwrap_or_default()
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
        .collect();
    let (pairs, rest) = digits.as_deref()?.as_chunks::<2>();
    rest.is_empty()
        .then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// Returns the smallest term greater than every term with this prefix.
pub(in crate::query) fn prefix_end(prefix: &Term) -> Option<Term> {
    let mut bytes = prefix.serialized_value_bytes().to_vec();
    while let Some(last) = bytes.pop() {
        if let Some(next) = last.checked_add(1) {
            bytes.push(next);
            let mut end = prefix.clone();
            end.truncate_value_bytes(0);
            end.append_bytes(&bytes);
            return Some(end);
        }
    }
    None
}
