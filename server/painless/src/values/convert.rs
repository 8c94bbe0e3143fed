//! Conversions between types: those that happen by themselves widen, and a cast may narrow.

use super::heap::Heap;
use super::value::{Type, Value};
use crate::error::ScriptError;

/// Converts a value as an assignment does, which loses nothing but digits of fractions.
///
/// # Errors
/// A value of that type is no value of the other.
pub(crate) fn convert(heap: &Heap, value: Value, to: Type) -> Result<Value, ScriptError> {
    let Some((primitive, can_be_null)) = to.primitive() else {
        return match matches!(value, Value::Null) || to.has(&value) {
            true => Ok(value),
            false => Err(cannot(heap, &value, to)),
        };
    };
    Ok(match (primitive, value) {
        (_, Value::Null) if can_be_null => Value::Null,
        (Type::Int, Value::Int(a)) => Value::Int(a),
        (Type::Long, Value::Int(a)) => Value::Long(i64::from(a)),
        (Type::Long, Value::Long(a)) => Value::Long(a),
        (Type::Float, Value::Int(a)) => Value::Float(a as f32),
        (Type::Float, Value::Long(a)) => Value::Float(a as f32),
        (Type::Float, Value::Float(a)) => Value::Float(a),
        (Type::Double, Value::Int(a)) => Value::Double(f64::from(a)),
        (Type::Double, Value::Long(a)) => Value::Double(a as f64),
        (Type::Double, Value::Float(a)) => Value::Double(f64::from(a)),
        (Type::Double, Value::Double(a)) => Value::Double(a),
        (Type::Bool, Value::Bool(a)) => Value::Bool(a),
        (_, other) => return Err(cannot(heap, &other, to)),
    })
}

/// Converts a value as `(type) value` does: numbers may lose what does not fit.
///
/// # Errors
/// The value cannot be of that type.
pub(crate) fn cast(heap: &Heap, value: Value, to: Type) -> Result<Value, ScriptError> {
    let narrowed = match (to.primitive(), &value) {
        // Whole numbers keep their lowest bits; fractions are cut, and stop at the ends.
        (Some((Type::Int, _)), Value::Long(a)) => Value::Int(*a as i32),
        (Some((Type::Int, _)), Value::Float(a)) => Value::Int(*a as i32),
        (Some((Type::Int, _)), Value::Double(a)) => Value::Int(*a as i32),
        (Some((Type::Long, _)), Value::Float(a)) => Value::Long(*a as i64),
        (Some((Type::Long, _)), Value::Double(a)) => Value::Long(*a as i64),
        (Some((Type::Float, _)), Value::Double(a)) => Value::Float(*a as f32),
        _ => return convert(heap, value, to),
    };
    Ok(narrowed)
}

fn cannot(heap: &Heap, value: &Value, to: Type) -> ScriptError {
    match value {
        Value::Null => heap.error(
            "null_pointer_exception",
            format!("cannot convert null to [{}]", to.name()),
        ),
        _ => heap.error(
            "class_cast_exception",
            format!("Cannot cast from [{}] to [{}].", value.class(), to.name()),
        ),
    }
}
