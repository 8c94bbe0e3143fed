//! Methods of numbers and of true and false.

use crate::error::ScriptError;
use crate::values::{Heap, Type, Value, cast, compare};

use super::host::Arguments;

pub(super) fn call(
    heap: &mut Heap,
    of: &Value,
    arguments: &Arguments<'_, '_>,
) -> Result<Value, ScriptError> {
    let to = match (arguments.name, arguments.passed.len(), of.is_number()) {
        ("compareTo", 1, _) => {
            let other = arguments.value(heap, 0)?;
            return compare(heap, of, &other).map(|order| Value::Int(order as i32));
        }
        ("intValue", 0, true) => Type::Int,
        ("longValue", 0, true) => Type::Long,
        ("floatValue", 0, true) => Type::Float,
        ("doubleValue", 0, true) => Type::Double,
        ("booleanValue", 0, false) if matches!(of, Value::Bool(_)) => Type::Bool,
        ("isNaN", 0, true) => {
            return match of {
                Value::Double(value) => Ok(Value::Bool(value.is_nan())),
                Value::Float(value) => Ok(Value::Bool(value.is_nan())),
                _ => Err(arguments.unknown(heap, of)),
            };
        }
        _ => return Err(arguments.unknown(heap, of)),
    };
    cast(heap, of.clone(), to)
}
