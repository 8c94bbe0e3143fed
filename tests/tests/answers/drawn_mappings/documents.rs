//! Documents that suit a mapping, and some that do not.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::fields::{Field, Kind};

/// Texts of which values are made; no two of their forms are equal by accident.
const WORDS: [&str; 8] = [
    "red",
    "Red",
    "blue",
    "green sky",
    "long text of words",
    "ÄÖ",
    "",
    "7",
];

/// Draws a document, with `n` as its number.
pub(super) fn drawn(rng: &mut ChaCha8Rng, fields: &[Field], n: usize) -> Value {
    let mut document = json!({"n": n});
    let writes_dots = rng.random_bool(0.2);
    let object = document.as_object_mut().unwrap();
    let mut lists: Vec<&str> = Vec::new();
    for field in fields.iter().skip(1) {
        if rng.random_bool(0.2) {
            continue;
        }
        let value = value(rng, field);
        put(object, &field.path, value, writes_dots);
        if field.path.starts_with("o.") && !writes_dots && !lists.contains(&"o") {
            lists.push("o");
        }
    }
    // An object is also a list of objects, each with a part of the values.
    if !lists.is_empty() && rng.random_bool(0.3) {
        let parts = object.remove("o").unwrap();
        let mut list: Vec<Value> = Vec::new();
        for (name, value) in parts.as_object().unwrap() {
            list.push(json!({name: value}));
        }
        if rng.random_bool(0.3) {
            list.push(json!({}));
        }
        object.insert("o".to_owned(), list.into());
    }
    document
}

fn put(object: &mut Map<String, Value>, path: &str, value: Value, writes_dots: bool) {
    match path.split_once('.') {
        Some((first, rest)) if !writes_dots => {
            let inner = object.entry(first).or_insert_with(|| json!({}));
            put(inner.as_object_mut().unwrap(), rest, value, false);
        }
        _ => {
            object.insert(path.to_owned(), value);
        }
    }
}

/// Draws a value of a field: one, several, or none in all its forms.
fn value(rng: &mut ChaCha8Rng, field: &Field) -> Value {
    match rng.random_range(0..16) {
        0 => Value::Null,
        1 => json!([]),
        2 => json!([null]),
        3 => json!([scalar(rng, field), null]),
        4 | 5 => json!([scalar(rng, field), scalar(rng, field), scalar(rng, field)]),
        6 => json!([scalar(rng, field), [scalar(rng, field)]]),
        7 => json!([scalar(rng, field)]),
        _ => scalar(rng, field),
    }
}

pub(super) fn scalar(rng: &mut ChaCha8Rng, field: &Field) -> Value {
    // Mostly where the document is not refused.
    if !field.is_mapped {
        return unmapped(rng, &field.kind);
    }
    let odds = if field.ignores_malformed { 0.15 } else { 0.02 };
    if rng.random_bool(odds) {
        // No objects: whether these are ignored differs between versions.
        let odd = [json!("none such"), json!(true), json!(1.5), json!("1.5")];
        return odd.choose(rng).unwrap().clone();
    }
    let proper = proper(rng, &field.kind);
    let is_text = rng.random_bool(0.15) && field.coerces;
    match &proper {
        Value::Number(number) if is_text => number.to_string().into(),
        Value::Bool(flag) if is_text => flag.to_string().into(),
        _ => proper,
    }
}

/// A value whose type alone says how it is indexed.
fn unmapped(rng: &mut ChaCha8Rng, kind: &Kind) -> Value {
    match kind {
        Kind::Long => json!(rng.random_range(-10..11)),
        Kind::Double => json!(f64::from(rng.random_range(-40..41)) / 8.0 + 0.0625),
        Kind::Boolean => json!(rng.random_bool(0.5)),
        _ => json!(WORDS.choose(rng).unwrap()),
    }
}

fn proper(rng: &mut ChaCha8Rng, kind: &Kind) -> Value {
    match kind {
        Kind::Long => match rng.random_range(0..12) {
            0 => json!(i64::MAX - rng.random_range(0..3)),
            1 => json!(i64::MIN),
            2 => json!(2.75),
            3 => json!(""),
            _ => json!(rng.random_range(-10..11)),
        },
        Kind::UnsignedLong => match rng.random_range(0..10) {
            0 => json!(u64::MAX - rng.random_range(0..3)),
            1 => json!(2.75),
            2 => json!(-0.5),
            3 => json!("18446744073709551614.5"),
            _ => json!(rng.random_range(0..20)),
        },
        kind if kind.is_integer() => match rng.random_range(0..20) {
            0 => json!(rng.random_range(-300..300)),
            1 => json!(-2.75),
            2 => json!(70_000),
            _ => json!(rng.random_range(-10..11)),
        },
        kind if kind.is_float() => match rng.random_range(0..8) {
            0 => json!(rng.random_range(-5..6)),
            1 => json!(0.1),
            2 => json!(1234.5678),
            3 => json!(-0.005),
            _ => json!(f64::from(rng.random_range(-40..41)) / 8.0 + 0.03),
        },
        Kind::Date(format) => {
            let format = format.split("||").collect::<Vec<_>>();
            let format = *format.choose(rng).unwrap();
            date(rng, format)
        }
        Kind::DateNanos => match rng.random_bool(0.5) {
            true => date(rng, ""),
            false => json!(format!(
                "2024-05-01T10:00:00.{:09}Z",
                rng.random_range(0..4) * 400_001
            )),
        },
        Kind::Boolean => match rng.random_range(0..8) {
            0 => json!(""),
            one => json!(one % 2 == 0),
        },
        Kind::Ip => {
            let all = [
                "10.0.0.1",
                "10.0.0.9",
                "192.168.1.1",
                "::1",
                "2001:db8::1",
                "::ffff:10.0.0.1",
            ];
            json!(all.choose(rng).unwrap())
        }
        _ => match rng.random_range(0..12) {
            0 => json!(7),
            1 => json!(true),
            2 => json!(1.5),
            _ => json!(WORDS.choose(rng).unwrap()),
        },
    }
}

fn date(rng: &mut ChaCha8Rng, format: &str) -> Value {
    let day = rng.random_range(1..4);
    let hour = rng.random_range(0..24);
    match format {
        "epoch_second" => json!(1_714_557_600 + i64::from(day) * 3_600),
        "epoch_millis" => match rng.random_range(0..4) {
            // Milliseconds of 1970.
            0 => json!(day * 86_400_000),
            1 => json!(-1),
            _ => json!(1_714_557_600_000_i64 + i64::from(day) * 250),
        },
        "yyyy-MM-dd" => json!(format!("2024-05-0{day}")),
        "yyyy-MM-dd HH:mm:ss" => json!(format!("2024-05-0{day} {hour:02}:30:00")),
        format => match rng.random_range(0..8) {
            0 => json!(format!("2024-0{day}")),
            1 => json!("2024"),
            2 => json!(format!("2024-05-0{day}")),
            3 => json!(format!("2024-05-0{day}T{hour:02}")),
            4 => json!(format!("2024-05-0{day}T{hour:02}:15")),
            5 if format.is_empty() => json!(1_714_557_600_000_i64 + i64::from(day)),
            6 if format.is_empty() => json!(i64::from(day) * 86_400_000),
            _ => json!(format!("2024-05-0{day}T{hour:02}:00:00.{day}50Z")),
        },
    }
}
