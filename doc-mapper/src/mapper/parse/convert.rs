//! Conversion of the scalars of documents to the types of fields, as Elasticsearch has it where a mapping asks for that.

use std::num::IntErrorKind;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tantivy::DateTime;

use super::leaf::{Result, Scalar};
use crate::config::{BytesFormat, FieldKind, NullValue, NumericKind};
use crate::datetime::{self, DateInput, DateParseError};
use crate::documents::doc_error::DocErrorReason;
use crate::mapper::tree::Leaf;

/// Maximum integer up to which doubles are exact, so that `5.0` means 5.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// Value that was converted to the type of its field.
pub(super) enum Coerced {
    Text(String),
    Bool(bool),
    Integer(f64),
}

impl Coerced {
    pub(super) fn as_scalar(&self) -> Scalar<'_> {
        match self {
            Self::Text(text) => Scalar::Str(text),
            Self::Bool(value) => Scalar::Bool(*value),
            Self::Integer(number) => Scalar::F64(*number),
        }
    }
}

/// Converts a value to the type of a field as Elasticsearch does; `None` if it needs no conversion, or
/// has none.
pub(super) fn coerced(kind: &FieldKind, scalar: Scalar<'_>) -> Option<Coerced> {
    match (kind, scalar) {
        (FieldKind::Text(_), Scalar::Str(_)) => None,
        // A whole number with a fraction keeps it, as it was written.
        (FieldKind::Text(_), Scalar::F64(number)) if number.fract() == 0.0 => {
            Some(Coerced::Text(format!("{number:.1}")))
        }
        (FieldKind::Text(_), scalar) => Some(Coerced::Text(scalar.text().into_owned())),
        (FieldKind::Bool, Scalar::Str("true")) => Some(Coerced::Bool(true)),
        (FieldKind::Bool, Scalar::Str("false" | "")) => Some(Coerced::Bool(false)),
        // As OpenSearch has it; Elasticsearch refuses a fraction in an `unsigned_long`.
        (FieldKind::U64(_), Scalar::F64(number)) if number < 0.0 => None,
        (FieldKind::I64(own) | FieldKind::U64(own), Scalar::F64(number)) if own.coerce => {
            Some(Coerced::Integer(number.trunc()))
        }
        (FieldKind::I64(own) | FieldKind::U64(own), Scalar::Str(text)) if own.coerce => {
            let is_exact = text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
            // A double has no more than 53 bits.
            if let Some((whole, fraction)) = text.split_once('.')
                && whole.bytes().any(|byte| byte.is_ascii_digit())
                && fraction.bytes().all(|byte| byte.is_ascii_digit())
                && (whole.parse::<i64>().is_ok() || whole.parse::<u64>().is_ok())
            {
                return Some(Coerced::Text(whole.to_owned()));
            }
            let number = text.parse::<f64>().ok().filter(|_| !is_exact)?;
            Some(Coerced::Integer(number.trunc()))
        }
        _ => None,
    }
}

/// Returns whether a text is empty where a number may be written as a text.
pub(super) fn is_empty_number(kind: &FieldKind, scalar: Scalar<'_>) -> bool {
    match (kind, scalar) {
        (FieldKind::I64(own) | FieldKind::U64(own) | FieldKind::F64(own), Scalar::Str("")) => {
            own.coerce
        }
        _ => false,
    }
}

/// Returns the value that a field has in place of `null`.
pub(super) fn in_place_of_null<'m>(leaf: &Leaf, value: &'m NullValue) -> Scalar<'m> {
    match value {
        NullValue::Bool(value) => Scalar::Bool(*value),
        NullValue::Text(text) => {
            let is_text = matches!(leaf.kind, FieldKind::Text(_) | FieldKind::Ip);
            match (text.parse::<i64>(), text.parse::<f64>()) {
                (Ok(number), _) if !is_text => Scalar::I64(number),
                (_, Ok(number)) if !is_text => Scalar::F64(number),
                _ => Scalar::Str(text),
            }
        }
    }
}

pub(super) fn to_i64(scalar: Scalar<'_>, own: &NumericKind) -> Result<i64> {
    let number = match scalar {
        Scalar::I64(n) => Ok(n),
        Scalar::U64(_) => Err(DocErrorReason::OutOfRange),
        Scalar::F64(n) | Scalar::Decimal(_, n) => whole(n, own.coerce).map(|n| n as i64),
        Scalar::Str(text) if own.coerce => text.parse().map_err(int_error),
        _ => Err(DocErrorReason::WrongType),
    }?;
    match own.width.is_none_or(|width| width.holds(number)) {
        true => Ok(number),
        false => Err(DocErrorReason::OutOfRange),
    }
}

pub(super) fn to_u64(scalar: Scalar<'_>, coerce: bool) -> Result<u64> {
    match scalar {
        Scalar::I64(n) => u64::try_from(n).map_err(|_| DocErrorReason::OutOfRange),
        Scalar::U64(n) => Ok(n),
        Scalar::F64(n) | Scalar::Decimal(_, n) => {
            let n = whole(n, coerce)?;
            if n < 0.0 {
                Err(DocErrorReason::OutOfRange)
            } else {
                Ok(n as u64)
            }
        }
        // Rust parses no sign in an unsigned number, but `-1` is a number too.
        Scalar::Str(text) if coerce => text.parse().map_err(|error| match text.parse::<i64>() {
            Ok(_) => DocErrorReason::OutOfRange,
            Err(_) => int_error(error),
        }),
        _ => Err(DocErrorReason::WrongType),
    }
}

/// Converts a JSON number with a fraction or an exponent, or beyond 64 bits, to an integer.
fn whole(n: f64, coerce: bool) -> Result<f64> {
    match n {
        // The JSON number `-0`.
        0.0 => Ok(0.0),
        _ if n.fract() != 0.0 => Err(DocErrorReason::WrongType),
        _ if n.abs() > MAX_EXACT => Err(DocErrorReason::OutOfRange),
        _ if coerce => Ok(n),
        _ => Err(DocErrorReason::WrongType),
    }
}

fn int_error(error: std::num::ParseIntError) -> DocErrorReason {
    match error.kind() {
        IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => DocErrorReason::OutOfRange,
        _ => DocErrorReason::WrongType,
    }
}

/// Removes the sign of zero: terms, columns and their orders distinguish -0.0 from 0.0, which are
/// equal.
pub(crate) fn positive_zero(n: f64) -> f64 {
    n + 0.0
}

pub(super) fn to_f64(scalar: Scalar<'_>, own: &NumericKind) -> Result<f64> {
    let n = match scalar {
        Scalar::I64(n) => n as f64,
        Scalar::U64(n) => n as f64,
        Scalar::F64(n) | Scalar::Decimal(_, n) => n,
        Scalar::Str(text) if own.coerce => text.parse().map_err(|_| DocErrorReason::WrongType)?,
        _ => return Err(DocErrorReason::WrongType),
    };
    let n = own.width.map_or(n, |width| width.rounded(n));
    if n.is_finite() {
        Ok(positive_zero(n))
    } else {
        Err(DocErrorReason::OutOfRange)
    }
}

pub(super) fn to_date(
    scalar: Scalar<'_>,
    formats: &[DateInput],
) -> std::result::Result<DateTime, DateParseError> {
    match scalar {
        Scalar::Str(text) => datetime::parse_str(text, formats),
        Scalar::I64(n) => datetime::parse_number(&n.to_string(), formats),
        Scalar::F64(n) => datetime::parse_number(&n.to_string(), formats),
        Scalar::Decimal(text, _) => datetime::parse_number(text, formats),
        Scalar::U64(_) => Err(DateParseError::Range),
        Scalar::Bool(_) => Err(DateParseError::Format),
    }
}

pub(super) fn decode(text: &str, format: BytesFormat) -> Option<Vec<u8>> {
    match format {
        BytesFormat::Base64 => BASE64_STANDARD.decode(text).ok(),
        BytesFormat::Hex => {
            let (pairs, rest) = text.as_bytes().as_chunks::<2>();
            let digit = |b: u8| char::from(b).to_digit(16);
            let bytes = pairs
                .iter()
                .map(|&[high, low]| u8::try_from(digit(high)? * 16 + digit(low)?).ok());
            if rest.is_empty() {
                bytes.collect()
            } else {
                None
            }
        }
    }
}
