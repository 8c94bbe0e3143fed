//! Queries that suit the fields of a mapping, each with the documents that it finds.

use std::cmp::Ordering;

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::documents;
use super::fields::{Field, Kind};
use super::truth::{self, Own};

/// The values of all accepted documents, by field.
pub(super) type Values = Vec<Vec<Own>>;

/// A query, and whether it finds each document.
pub(super) struct Asked {
    pub(super) query: Value,
    pub(super) finds: Vec<bool>,
}

fn finds(values: &Values, takes: impl Fn(&Own) -> bool) -> Vec<bool> {
    let has = |own: &Vec<Own>| own.iter().any(&takes);
    values.iter().map(has).collect()
}

/// Returns the value of a field that a query asks for, if it is one that means the same in all versions.
fn asked(rng: &mut ChaCha8Rng, field: &Field, values: &Values) -> Option<(Value, Own)> {
    let free = Field {
        coerces: true,
        null_value: None,
        ..field.clone()
    };
    let given = match rng.random_bool(0.6) {
        true => {
            let all: Vec<&Own> = values.iter().flatten().collect();
            json_of(&field.kind, all.choose(rng)?)?
        }
        false => documents::scalar(
            rng,
            &Field {
                ignores_malformed: false,
                ..free.clone()
            },
        ),
    };
    let own = truth::read(&free, &given).ok()??;
    // A date that lacks parts is a period.
    let is_period = field.kind.is_date() && given.as_str().is_some_and(|text| text.len() < 19);
    if is_period && field.kind != Kind::Date("yyyy-MM-dd") {
        return None;
    }
    // An empty text is no number, and a fraction no integer: queries differ from documents there.
    let is_plain = match &given {
        Value::String(text) => !text.is_empty() && !field.kind.is_number(),
        Value::Number(number) => !field.kind.is_integer() || !number.is_f64(),
        Value::Bool(_) => field.kind == Kind::Boolean,
        _ => false,
    };
    is_plain.then_some((given, own))
}

/// Writes a value as a query has it.
fn json_of(kind: &Kind, own: &Own) -> Option<Value> {
    Some(match own {
        Own::Integer(number) => match i64::try_from(*number) {
            Ok(number) => json!(number),
            Err(_) => json!(u64::try_from(*number).ok()?),
        },
        Own::Float(number) => json!(number),
        Own::Bool(flag) => json!(flag),
        Own::Address(address) => match address.to_ipv4_mapped() {
            Some(four) => json!(four.to_string()),
            None => json!(address.to_string()),
        },
        Own::Text(text) => json!(text),
        Own::Date(ns) => match kind {
            Kind::Date("epoch_second") => json!(ns / 1_000_000_000),
            Kind::Date("epoch_millis" | "yyyy-MM-dd HH:mm:ss||epoch_millis") => {
                json!(ns / 1_000_000)
            }
            Kind::Date("yyyy-MM-dd") => json!(super::shown::iso(*ns, 3)[..10]),
            _ => json!(super::shown::iso(*ns, 9)),
        },
    })
}

/// Draws a query over one field.
pub(super) fn drawn(rng: &mut ChaCha8Rng, field: &Field, values: &Values) -> Option<Asked> {
    let name = field.path.as_str();
    let (query, finds) = match rng.random_range(0..10) {
        0 => (json!({"exists": {"field": name}}), exists(field, values)),
        1 if field.kind == Kind::Text => {
            let word = ["red", "blue", "sky", "text", "7"].choose(rng)?;
            let has = |own: &Own| matches!(own, Own::Text(text) if words(text).contains(&(*word).to_owned()));
            (json!({"match": {name: word}}), finds(values, has))
        }
        _ if field.kind == Kind::Text => {
            let word = ["Red", "GREEN", "ÄÖ", "words"].choose(rng)?;
            let low = word.to_lowercase();
            let has = |own: &Own| matches!(own, Own::Text(text) if words(text).contains(&low));
            (json!({"match": {name: word}}), finds(values, has))
        }
        1..=3 => {
            let (given, own) = asked(rng, field, values)?;
            (
                json!({"term": {name: given}}),
                finds(values, |value| *value == own),
            )
        }
        4 => {
            let all: Option<Vec<(Value, Own)>> =
                (0..3).map(|_| asked(rng, field, values)).collect();
            let (given, own): (Vec<Value>, Vec<Own>) = all?.into_iter().unzip();
            let has = |value: &Own| own.contains(value);
            (json!({"terms": {name: given}}), finds(values, has))
        }
        5 => {
            let (given, own) = asked(rng, field, values)?;
            (
                json!({"match": {name: given}}),
                finds(values, |value| *value == own),
            )
        }
        _ => range(rng, field, values)?,
    };
    Some(Asked { query, finds })
}

/// The words of a text, as the standard analyzer makes them of the texts that are drawn.
pub(super) fn words(text: &str) -> Vec<String> {
    let words = text.split_whitespace().map(|word| word.trim_matches('-'));
    words.map(str::to_lowercase).collect()
}

fn exists(_field: &Field, values: &Values) -> Vec<bool> {
    finds(values, |_| true)
}

fn range(rng: &mut ChaCha8Rng, field: &Field, values: &Values) -> Option<(Value, Vec<bool>)> {
    if field.kind == Kind::Boolean {
        return None;
    }
    let mut range = json!({});
    let mut lower = None;
    let mut upper = None;
    if rng.random_bool(0.8) {
        let (given, own) = bound(rng, field, values)?;
        let name = *["gte", "gt"].choose(rng)?;
        range[name] = given;
        lower = Some((own, name == "gte"));
    }
    if lower.is_none() || rng.random_bool(0.5) {
        let (given, own) = bound(rng, field, values)?;
        let name = *["lte", "lt"].choose(rng)?;
        range[name] = given;
        upper = Some((own, name == "lte"));
    }
    let takes = |value: &Own| {
        let is_above = lower
            .as_ref()
            .is_none_or(|(own, includes)| match value.order(own) {
                Ordering::Greater => true,
                Ordering::Equal => *includes,
                Ordering::Less => false,
            });
        let is_below = upper
            .as_ref()
            .is_none_or(|(own, includes)| match value.order(own) {
                Ordering::Less => true,
                Ordering::Equal => *includes,
                Ordering::Greater => false,
            });
        is_above && is_below
    };
    let name = field.path.as_str();
    Some((json!({"range": {name: range}}), finds(values, takes)))
}

/// A bound. Dates that lack parts are rounded by the end that they are, so that only whole ones are drawn.
fn bound(rng: &mut ChaCha8Rng, field: &Field, values: &Values) -> Option<(Value, Own)> {
    let (given, own) = asked(rng, field, values)?;
    match (&field.kind, &given) {
        (Kind::Scaled(_), Value::Number(number)) => {
            Some((given.clone(), Own::Float(number.as_f64()?)))
        }
        // A day is rounded by the end that it is.
        (Kind::Date("yyyy-MM-dd"), _) => None,
        _ => Some((given, own)),
    }
}
