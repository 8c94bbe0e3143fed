//! The values of `search_after`: sort values from an answer, sent back by the request for the next page.

use canter_doc_mapper::{DocMapper, FieldKind};
use tantivy::schema::DateTimePrecision;

use crate::request::{SortKeySpec, SortTarget, SortValue};

/// Converts the values to those of columns. A number in a date field is what the answer wrote: milliseconds for a field
/// of at most that precision, nanoseconds for others. A text is a date, too, and in a field of numbers a number.
pub(super) fn sent_back(
    values: &[SortValue],
    keys: &[SortKeySpec],
    mapper: &DocMapper,
) -> Vec<SortValue> {
    let values = values.iter().zip(keys);
    let values = values.map(|(value, key)| converted(value, key, mapper).unwrap_or(value.clone()));
    values.collect()
}

fn converted(value: &SortValue, key: &SortKeySpec, mapper: &DocMapper) -> Option<SortValue> {
    const MILLISECOND_NS: i128 = 1_000_000;
    let SortTarget::Field(name) = &key.target else {
        return None;
    };
    let field = mapper.resolve(name)?;
    let date = match (field.kind, value) {
        (FieldKind::Date(date), _) => date,
        (FieldKind::I64(_) | FieldKind::U64(_) | FieldKind::F64(_), SortValue::Text(text)) => {
            return number_of(text);
        }
        _ => return None,
    };
    let ns = match value {
        SortValue::Integer(number) => match shows_milliseconds(date.precision) {
            true => number.saturating_mul(MILLISECOND_NS),
            false => *number,
        },
        SortValue::Text(text) => field.parse_date(text)?.into_timestamp_nanos().into(),
        _ => return None,
    };
    // A time beyond the range is clamped to its end.
    let ns = ns.clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(ns).ok().map(SortValue::Date)
}

/// Parses a number: integers exactly, others as floats.
fn number_of(text: &str) -> Option<SortValue> {
    if let Ok(integer) = text.parse() {
        return Some(SortValue::Integer(integer));
    }
    let number: f64 = text.parse().ok()?;
    number.is_finite().then_some(SortValue::Number(number))
}

/// Returns whether sort values of dates of this precision are shown in milliseconds, as for Elasticsearch's `date`, or
/// in nanoseconds, as for its `date_nanos`.
pub(crate) fn shows_milliseconds(precision: DateTimePrecision) -> bool {
    matches!(
        precision,
        DateTimePrecision::Seconds | DateTimePrecision::Milliseconds
    )
}
