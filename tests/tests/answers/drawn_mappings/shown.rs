//! What a hit shows of a field, and what aggregations count, by Elasticsearch's documentation.

use jiff::civil::DateTime;
use jiff::{SignedDuration, Unit};
use serde_json::{Value, json};

use super::fields::{Field, Kind};
use super::truth::Own;

/// Writes a time in UTC with a fraction of at least three digits.
pub(super) fn iso(ns: i128, most_digits: usize) -> String {
    let epoch = DateTime::new(1970, 1, 1, 0, 0, 0, 0).unwrap();
    let since = SignedDuration::from_nanos_i128(ns);
    let time = epoch.checked_add(since).unwrap();
    let fraction = format!("{:09}", time.subsec_nanosecond());
    let mut fraction = fraction[..most_digits].to_owned();
    while fraction.len() > 3 && fraction.ends_with('0') {
        fraction.pop();
    }
    let whole = time.round(Unit::Second).unwrap_or(time);
    let _ = whole;
    format!("{}.{fraction}Z", time.strftime("%Y-%m-%dT%H:%M:%S"))
}

/// Writes a value as `fields` shows it.
pub(super) fn of_field(field: &Field, own: &Own) -> Value {
    match own {
        Own::Integer(number) => match i64::try_from(*number) {
            Ok(number) => json!(number),
            Err(_) => json!(u64::try_from(*number).unwrap()),
        },
        Own::Float(number) => json!(number),
        Own::Bool(flag) => json!(flag),
        Own::Text(text) => json!(text),
        Own::Address(address) => match address.to_ipv4_mapped() {
            Some(four) => json!(four.to_string()),
            None => json!(address.to_string()),
        },
        Own::Date(ns) => json!(match &field.kind {
            Kind::Date(format) => match format.split("||").next().unwrap() {
                "epoch_millis" => ns.div_euclid(1_000_000).to_string(),
                "epoch_second" => (ns / 1_000_000_000).to_string(),
                "yyyy-MM-dd" => iso(*ns, 3)[..10].to_owned(),
                "yyyy-MM-dd HH:mm:ss" => iso(*ns, 3)[..19].replace('T', " "),
                _ => iso(*ns, 3),
            },
            _ => iso(*ns, 9),
        }),
    }
}

/// The values of a document as its columns have them: in order, texts and addresses once each.
pub(super) fn in_columns(own: &[Own]) -> Vec<Own> {
    let mut own = own.to_vec();
    own.sort_by(Own::order);
    if matches!(own.first(), Some(Own::Text(_) | Own::Address(_))) {
        own.dedup();
    }
    own
}

/// Whether an answer has a value. Numbers with a fraction are shown with the digits of 32 or of 64 bits.
pub(super) fn is_shown(field: &Field, expected: &Value, found: &Value) -> bool {
    match (&field.kind, expected.as_f64(), found.as_f64()) {
        (Kind::Float | Kind::HalfFloat, Some(expected), Some(found)) => {
            expected as f32 == found as f32
        }
        (kind, Some(expected), Some(found)) if kind.is_float() => expected == found,
        _ => expected == found,
    }
}
