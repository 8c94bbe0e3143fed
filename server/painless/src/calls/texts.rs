//! Methods of texts. Places and lengths count UTF-16 code units.

use std::sync::Arc;

use crate::error::ScriptError;
use crate::values::{Heap, Value, units};

use super::host::Arguments;

pub(super) fn call(
    heap: &mut Heap,
    text: &Arc<str>,
    arguments: &Arguments<'_, '_>,
) -> Result<Value, ScriptError> {
    heap.read(text.len())?;
    let num = arguments.passed.len();
    Ok(match (arguments.name, num) {
        ("length", 0) => int(units(text).count()),
        ("isEmpty", 0) => Value::Bool(text.is_empty()),
        ("toLowerCase", 0) => heap.text(text.to_lowercase())?,
        ("toUpperCase", 0) => heap.text(text.to_uppercase())?,
        // Java's trim takes control characters and spaces, and no others.
        ("trim", 0) => heap.text(text.trim_matches(|char| char <= ' ').to_owned())?,
        ("contains", 1) => Value::Bool(text.contains(&*arguments.text(heap, 0)?)),
        ("startsWith", 1) => Value::Bool(text.starts_with(&*arguments.text(heap, 0)?)),
        ("endsWith", 1) => Value::Bool(text.ends_with(&*arguments.text(heap, 0)?)),
        ("concat", 1) => {
            let other = arguments.text(heap, 0)?;
            heap.text(format!("{text}{other}"))?
        }
        ("replace", 2) => {
            let (from, to) = (arguments.text(heap, 0)?, arguments.text(heap, 1)?);
            check_growth(heap, (text, &from), &to)?;
            heap.text(text.replace(&*from, &to))?
        }
        ("equalsIgnoreCase", 1) => match arguments.value(heap, 0)? {
            Value::Text(other) => Value::Bool(text.to_lowercase() == other.to_lowercase()),
            _ => Value::Bool(false),
        },
        ("compareTo", 1) => {
            let other = arguments.text(heap, 0)?;
            Value::Int(distance(text, &other))
        }
        ("indexOf" | "lastIndexOf", 1) => {
            let wanted = arguments.text(heap, 0)?;
            let place = match arguments.name {
                "indexOf" => text.find(&*wanted),
                _ => text.rfind(&*wanted),
            };
            place.map_or(Value::Int(-1), |place| int(units(&text[..place]).count()))
        }
        ("indexOf", 2) => {
            let wanted = arguments.text(heap, 0)?;
            let from = usize::try_from(arguments.int(heap, 1)?).unwrap_or(0);
            let num_units = units(text).count();
            match byte_of(text, from.min(num_units)) {
                Some(start) => {
                    let place = text[start..].find(&*wanted);
                    place.map_or(Value::Int(-1), |place| {
                        int(units(&text[..start + place]).count())
                    })
                }
                None => return Err(halves(heap)),
            }
        }
        ("substring", 1 | 2) => substring(heap, text, arguments)?,
        ("splitOnToken", 1 | 2) => split(heap, text, arguments)?,
        _ => return Err(arguments.unknown(heap, &Value::Text(Arc::clone(text)))),
    })
}

fn int(num: usize) -> Value {
    Value::Int(i32::try_from(num).unwrap_or(i32::MAX))
}

/// Returns by how much a text is after another: the distance of the first code units that differ, or that of the lengths.
fn distance(text: &str, other: &str) -> i32 {
    let differing = units(text).zip(units(other)).find(|(a, b)| a != b);
    let len = |text: &str| i32::try_from(units(text).count()).unwrap_or(i32::MAX);
    match differing {
        Some((a, b)) => i32::from(a) - i32::from(b),
        None => len(text) - len(other),
    }
}

fn halves(heap: &Heap) -> ScriptError {
    heap.illegal("a text cannot be cut within a character of two code units")
}

/// Returns the byte at which a code unit is, if it begins a character.
fn byte_of(text: &str, unit: usize) -> Option<usize> {
    let mut at = 0;
    for (byte, char) in text.char_indices() {
        if at >= unit {
            return (at == unit).then_some(byte);
        }
        at += char.len_utf16();
    }
    (at == unit).then_some(text.len())
}

/// Refuses a replacement that makes a text too long, before it is made.
fn check_growth(heap: &mut Heap, (text, from): (&str, &str), to: &str) -> Result<(), ScriptError> {
    let num = match from.is_empty() {
        true => text.chars().count() + 1,
        false => text.matches(from).count(),
    };
    let num_bytes = num.saturating_mul(to.len());
    heap.read(num_bytes)
}

fn substring(
    heap: &mut Heap,
    text: &str,
    arguments: &Arguments<'_, '_>,
) -> Result<Value, ScriptError> {
    let len = units(text).count();
    let start = arguments.int(heap, 0)?;
    let end = match arguments.passed.len() {
        1 => i32::try_from(len).unwrap_or(i32::MAX),
        _ => arguments.int(heap, 1)?,
    };
    let places = (usize::try_from(start), usize::try_from(end));
    let (Ok(from), Ok(to)) = places else {
        return Err(out_of_bounds(heap, start, end, len));
    };
    if from > to || to > len {
        return Err(out_of_bounds(heap, start, end, len));
    }
    match (byte_of(text, from), byte_of(text, to)) {
        (Some(from), Some(to)) => heap.text(text[from..to].to_owned()),
        _ => Err(halves(heap)),
    }
}

fn out_of_bounds(heap: &Heap, start: i32, end: i32, len: usize) -> ScriptError {
    heap.error(
        "string_index_out_of_bounds_exception",
        format!("begin {start}, end {end}, length {len}"),
    )
}

/// Cuts a text at each occurrence of another, as often as the limit allows.
fn split(heap: &mut Heap, text: &str, arguments: &Arguments<'_, '_>) -> Result<Value, ScriptError> {
    let token = arguments.text(heap, 0)?;
    if token.is_empty() {
        return Err(heap.illegal("[splitOnToken] needs a token that is not empty"));
    }
    let limit = match arguments.passed.len() {
        1 => 0,
        _ => usize::try_from(arguments.int(heap, 1)?).unwrap_or(0),
    };
    heap.grow(text.matches(&*token).count() + 1)?;
    let part = |part: &str| Value::Text(part.into());
    let parts: Vec<Value> = match limit {
        0 => text.split(&*token).map(part).collect(),
        limit => text.splitn(limit, &*token).map(part).collect(),
    };
    heap.new_items(parts).map(Value::List)
}
