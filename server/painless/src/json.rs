//! Values from JSON and back.

use std::sync::Arc;

use serde_json::{Map, Number, Value as Json};

use crate::error::ScriptError;
use crate::limits::MAX_VALUE_DEPTH;
use crate::values::{Heap, Table, Value};

/// Puts a JSON value into a heap. Whole numbers are of the narrowest type, as Elasticsearch reads them; fractions are
/// doubles.
pub(crate) fn value_of(heap: &mut Heap, json: &Json) -> Value {
    heap.give(json.as_str().map_or(0, str::len));
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number_of(number),
        Json::String(text) => Value::Text(text.as_str().into()),
        Json::Array(items) => {
            let items = items.iter().map(|item| value_of(heap, item)).collect();
            Value::List(heap.items_of_document(items))
        }
        Json::Object(object) => map_of(heap, object),
    }
}

/// Puts a JSON object into a heap.
pub(crate) fn map_of(heap: &mut Heap, object: &Map<String, Json>) -> Value {
    let entry = |(key, value): (&String, &Json)| {
        let value = value_of(heap, value);
        (Arc::from(key.as_str()), value)
    };
    let entries = object.iter().map(entry).collect();
    Value::Map(heap.table_of_document(entries))
}

fn number_of(number: &Number) -> Value {
    if let Some(long) = number.as_i64() {
        return match i32::try_from(long) {
            Ok(int) => Value::Int(int),
            Err(_) => Value::Long(long),
        };
    }
    match number.as_f64().filter(|_| number.is_f64()) {
        Some(double) => Value::Double(double),
        None => Value::Big(number.clone()),
    }
}

/// Returns a value as JSON.
///
/// # Errors
/// The value contains itself or is nested too deeply, or has no form in JSON.
pub(crate) fn json_of(heap: &mut Heap, value: &Value) -> Result<Json, ScriptError> {
    json_at(heap, value, 0)
}

fn json_at(heap: &mut Heap, value: &Value, depth: usize) -> Result<Json, ScriptError> {
    heap.write(0)?;
    if depth > MAX_VALUE_DEPTH {
        return Err(heap.illegal(
            "Iterable object is self-referencing itself, or its values are nested too deeply",
        ));
    }
    let fraction = |heap: &Heap, number: Option<Number>| {
        let none =
            || heap.illegal("a number that is infinite or NaN cannot be written into a document");
        number.map(Json::Number).ok_or_else(none)
    };
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Int(value) => Json::from(*value),
        Value::Long(value) => Json::from(*value),
        // The shortest digits that are this float are fewer than those of the double that it equals.
        Value::Float(value) => {
            let double: f64 = value.to_string().parse().unwrap_or(f64::NAN);
            fraction(heap, Number::from_f64(double))?
        }
        Value::Double(value) => fraction(heap, Number::from_f64(*value))?,
        Value::Big(number) => Json::Number(number.clone()),
        Value::Text(text) => {
            heap.write(text.len())?;
            Json::String(text.to_string())
        }
        Value::List(_) | Value::Set(_) | Value::View(..) => {
            let (elements, _) = heap.elements_uncounted(value)?;
            let mut list = Vec::with_capacity(elements.len());
            for element in &elements {
                list.push(json_at(heap, element, depth + 1)?);
            }
            Json::Array(list)
        }
        Value::Map(id) => {
            let mut object = Map::new();
            let keys = heap.table(*id).map(Table::keys).unwrap_or_default();
            for key in keys {
                let value = heap.get(*id, &key);
                object.insert(key.to_string(), json_at(heap, &value, depth + 1)?);
            }
            Json::Object(object)
        }
        Value::Entry(..)
        | Value::Stream(_)
        | Value::Figures(..)
        | Value::Optional(_)
        | Value::Collector(..) => {
            let reason = format!("[{}] cannot be written into a document", value.class());
            return Err(heap.illegal(reason));
        }
    })
}
