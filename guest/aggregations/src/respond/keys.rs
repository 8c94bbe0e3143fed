//! Keys as shown in answers.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use serde_json::{Number as JsonNumber, Value};

use crate::calendar::{DateFormat, Zone};
use crate::key::Key;
use crate::numbers::Number;

/// Format of the dates of an aggregation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dates<'a> {
    pub(super) format: &'a DateFormat,
    pub(super) zone: &'a Zone,
}

impl Dates<'_> {
    pub(super) fn text(&self, time_ns: i64) -> String {
        self.format.format(time_ns, self.zone)
    }
}

/// Converts a floating-point number to JSON; null if JSON cannot represent it.
pub(crate) fn float(number: f64) -> Value {
    JsonNumber::from_f64(number).map_or(Value::Null, Value::Number)
}

pub(super) fn number(number: Number) -> Value {
    match number {
        Number::Integer(integer) => integer_value(integer),
        Number::Float(number) => float(number),
    }
}

fn integer_value(integer: i128) -> Value {
    match (i64::try_from(integer), u64::try_from(integer)) {
        (Ok(integer), _) => Value::from(integer),
        (_, Ok(integer)) => Value::from(integer),
        _ => float(Number::Integer(integer).to_f64()),
    }
}

/// Converts a time to milliseconds since 1970; an integer if possible.
pub(super) fn milliseconds(time_ns: i64) -> Value {
    const MILLISECOND_NS: i64 = 1_000_000;
    match time_ns % MILLISECOND_NS {
        0 => Value::from(time_ns / MILLISECOND_NS),
        _ => float(time_ns as f64 / MILLISECOND_NS as f64),
    }
}

pub(super) fn address(address: u128) -> String {
    let address = Ipv6Addr::from(address);
    match address.to_ipv4_mapped() {
        Some(address) => address.to_string(),
        None => address.to_string(),
    }
}

/// Returns a key, and its text if that is shown too.
pub(super) fn key_fields(key: &Key, dates: Dates<'_>) -> (Value, Option<String>) {
    match key {
        Key::Number(found) => (number(*found), None),
        Key::Bool(flag) => (Value::from(u8::from(*flag)), Some(flag.to_string())),
        Key::Date(time_ns) => (milliseconds(*time_ns), Some(dates.text(*time_ns))),
        Key::Text(text) => (Value::from(text.as_str()), None),
        Key::Address(found) => (Value::from(address(*found)), None),
        Key::Place(place) => (Value::from(*place), None),
        Key::Interval(place) => (Value::from(*place), None),
        Key::Tuple(_) => (Value::Null, None),
    }
}

/// Returns a value of a document; dates become texts.
pub(super) fn shown(key: &Key, format: &DateFormat) -> Value {
    let zone = &Zone::utc();
    let dates = Dates { format, zone };
    match key {
        Key::Date(time_ns) => Value::from(dates.text(*time_ns)),
        Key::Bool(flag) => Value::from(*flag),
        key => key_fields(key, dates).0,
    }
}

/// Returns an element of a composite key.
pub(super) fn part(key: Option<&Key>, dates: Dates<'_>) -> Value {
    match key {
        None => Value::Null,
        Some(Key::Bool(flag)) => Value::from(*flag),
        Some(key) => key_fields(key, dates).0,
    }
}

/// Returns an element of a composite key as text for `key_as_string`.
pub(super) fn part_text(key: Option<&Key>, dates: Dates<'_>) -> String {
    let Some(key) = key else {
        return String::new();
    };
    match key_fields(key, dates) {
        (_, Some(text)) => text,
        (Value::String(text), None) => text,
        (value, None) => value.to_string(),
    }
}

/// Returns the text of a key to which `include` and `exclude` apply.
pub(crate) fn choice_text(key: &Key) -> Cow<'_, str> {
    match key {
        Key::Text(text) => Cow::Borrowed(text),
        key => {
            let utc = Zone::utc();
            let dates = Dates {
                format: DateFormat::usual(),
                zone: &utc,
            };
            Cow::Owned(part_text(Some(key), dates))
        }
    }
}
