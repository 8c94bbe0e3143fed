//! OTLP's `AnyValue` and `KeyValue` in JSON → plain JSON.
//! `https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding`

use serde_json::{Map, Value};

/// Removes the wrapper that names a value's type. Anything but an `AnyValue` stays unchanged.
pub(crate) fn plain(value: Value) -> Value {
    let Value::Object(wrapper) = value else {
        return value;
    };
    let Some((kind, inside)) = wrapper.into_iter().next() else {
        return Value::Null;
    };
    match (kind.as_str(), inside) {
        ("intValue" | "int_value", inside) => integer(inside),
        ("arrayValue" | "array_value", inside) => {
            let values = array(member(inside, "values"));
            Value::Array(values.into_iter().map(plain).collect())
        }
        ("kvlistValue" | "kvlist_value", inside) => {
            Value::Object(attributes(member(inside, "values")))
        }
        (
            "stringValue" | "string_value" | "boolValue" | "bool_value" | "doubleValue"
            | "double_value" | "bytesValue" | "bytes_value",
            inside,
        ) => inside,
        (_, inside) => Value::Object(Map::from_iter([(kind, inside)])),
    }
}

/// Parses a 64-bit integer, which is a string because JavaScript cannot represent it.
pub(crate) fn integer(value: Value) -> Value {
    match &value {
        Value::String(text) => match text.parse::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => value,
        },
        _ => value,
    }
}

/// Converts a list of keys and values to an object. The last of several equal keys counts, which the
/// specification leaves open.
pub(crate) fn attributes(list: Value) -> Map<String, Value> {
    let mut object = Map::new();
    for entry in array(list) {
        let Value::Object(mut entry) = entry else {
            continue;
        };
        let value = entry.remove("value").unwrap_or(Value::Null);
        if let Some(Value::String(key)) = entry.remove("key") {
            object.insert(key, plain(value));
        }
    }
    object
}

pub(crate) fn array(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        _ => Vec::new(),
    }
}

pub(crate) fn member(value: Value, name: &str) -> Value {
    match value {
        Value::Object(mut object) => object.remove(name).unwrap_or(Value::Null),
        _ => Value::Null,
    }
}
