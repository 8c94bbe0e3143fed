//! Values as texts, as Java's `toString` writes them.

use super::heap::Heap;
use super::value::{Value, View};
use crate::error::ScriptError;
use crate::limits::MAX_VALUE_DEPTH;

/// Returns a value as a text.
///
/// # Errors
/// The value is nested too deeply, has no text, or too much was read.
pub(crate) fn shown(heap: &mut Heap, value: &Value) -> Result<String, ScriptError> {
    let mut text = String::new();
    show(heap, value, &mut text, 0)?;
    Ok(text)
}

fn show(
    heap: &mut Heap,
    value: &Value,
    into: &mut String,
    depth: usize,
) -> Result<(), ScriptError> {
    heap.spend(1)?;
    if depth > MAX_VALUE_DEPTH {
        return Err(heap.illegal("the value is nested too deeply to be written as a text"));
    }
    match value {
        Value::Null => into.push_str("null"),
        Value::Bool(value) => into.push_str(&value.to_string()),
        Value::Int(value) => into.push_str(&value.to_string()),
        Value::Long(value) => into.push_str(&value.to_string()),
        Value::Float(value) => into.push_str(&java_float(*value)),
        Value::Double(value) => into.push_str(&java_double(*value)),
        Value::Big(value) => into.push_str(&value.to_string()),
        Value::Text(text) => {
            heap.read(text.len())?;
            into.push_str(text);
        }
        Value::List(_) | Value::Set(_) | Value::View(View::Keys | View::Values, _) => {
            let (elements, _) = heap.elements(value)?;
            into.push('[');
            for (ord, element) in elements.iter().enumerate() {
                if ord > 0 {
                    into.push_str(", ");
                }
                show(heap, element, into, depth + 1)?;
            }
            into.push(']');
        }
        Value::Map(id) => {
            into.push('{');
            for (ord, key) in heap.keys(*id)?.iter().enumerate() {
                if ord > 0 {
                    into.push_str(", ");
                }
                into.push_str(key);
                into.push('=');
                let value = heap.get(*id, key);
                show(heap, &value, into, depth + 1)?;
            }
            into.push('}');
        }
        Value::Entry(id, key) => {
            into.push_str(key);
            into.push('=');
            let value = heap.get(*id, key);
            show(heap, &value, into, depth + 1)?;
        }
        Value::View(View::Entries, _)
        | Value::Stream(_)
        | Value::Figures(..)
        | Value::Optional(_)
        | Value::Collector(..) => {
            return Err(heap.illegal(format!("[{}] cannot be a text here", value.class())));
        }
    }
    Ok(())
}

/// Returns a double as `Double.toString` writes it.
pub(crate) fn java_double(value: f64) -> String {
    let is_plain = value == 0.0 || (1e-3..1e7).contains(&value.abs());
    match value.is_finite() {
        true if is_plain => format!("{value:?}"),
        true => scientific(&format!("{value:e}")),
        false => not_finite(value),
    }
}

/// Returns a float as `Float.toString` writes it.
pub(crate) fn java_float(value: f32) -> String {
    let is_plain = value == 0.0 || (1e-3..1e7).contains(&value.abs());
    match value.is_finite() {
        true if is_plain => format!("{value:?}"),
        true => scientific(&format!("{value:e}")),
        false => not_finite(f64::from(value)),
    }
}

fn not_finite(value: f64) -> String {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
    .to_owned()
}

fn scientific(text: &str) -> String {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}
