//! Equality and order of values.

use std::cmp::Ordering;

use super::heap::{Heap, Id};
use super::value::Value;
use crate::error::ScriptError;
use crate::limits::MAX_VALUE_DEPTH;

/// Returns the UTF-16 code units of a text, in which Java counts and compares.
pub(crate) fn units(text: &str) -> impl Iterator<Item = u16> {
    text.encode_utf16()
}

/// Returns whether `left == right`: numbers are compared by their values, whatever their types.
///
/// # Errors
/// The values are nested too deeply, or too much was read.
pub(crate) fn is_equal(heap: &mut Heap, left: &Value, right: &Value) -> Result<bool, ScriptError> {
    Ok(match (left, right) {
        (Value::Double(_), _) | (_, Value::Double(_)) => match (double(left), double(right)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
        (Value::Float(_), _) | (_, Value::Float(_)) => match (float(left), float(right)) {
            (Some(a), Some(b)) => a == b,
            _ => false,
        },
        (Value::Int(a), Value::Long(b)) | (Value::Long(b), Value::Int(a)) => i64::from(*a) == *b,
        _ => equals(heap, left, right)?,
    })
}

fn float(value: &Value) -> Option<f32> {
    match value {
        Value::Int(a) => Some(*a as f32),
        Value::Long(a) => Some(*a as f32),
        Value::Float(a) => Some(*a),
        _ => None,
    }
}

fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Int(a) => Some(f64::from(*a)),
        Value::Long(a) => Some(*a as f64),
        Value::Float(a) => Some(f64::from(*a)),
        Value::Double(a) => Some(*a),
        _ => None,
    }
}

/// Returns whether values are equal as `equals`, `contains` and `indexOf` mean it: the types of numbers count.
///
/// # Errors
/// The values are nested too deeply, or too much was read.
pub(crate) fn equals(heap: &mut Heap, left: &Value, right: &Value) -> Result<bool, ScriptError> {
    equals_at(heap, left, right, 0)
}

fn equals_at(
    heap: &mut Heap,
    left: &Value,
    right: &Value,
    depth: usize,
) -> Result<bool, ScriptError> {
    heap.spend(1)?;
    if depth > MAX_VALUE_DEPTH {
        return Err(heap.illegal("the values are nested too deeply to be compared"));
    }
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Long(a), Value::Long(b)) => a == b,
        // Java compares the bits of boxed fractions: a NaN is itself, and zeros with other signs differ.
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (Value::Big(a), Value::Big(b)) => a == b,
        (Value::Text(a), Value::Text(b)) => {
            heap.read(a.len().min(b.len()))?;
            a == b
        }
        (Value::List(a), Value::List(b)) => {
            let (a, b) = (heap.items(*a).to_vec(), heap.items(*b).to_vec());
            if a.len() != b.len() {
                return Ok(false);
            }
            for (a, b) in a.iter().zip(&b) {
                if !equals_at(heap, a, b, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Set(a), Value::Set(b)) => equal_sets(heap, (*a, *b), depth)?,
        (Value::Map(a), Value::Map(b)) => {
            let keys = heap.keys(*a)?;
            if heap.table(*b).is_none_or(|table| table.len() != keys.len()) {
                return Ok(false);
            }
            for key in keys {
                let other = heap.table(*b).and_then(|table| table.get(&key)).cloned();
                let own = heap.get(*a, &key);
                let Some(other) = other else {
                    return Ok(false);
                };
                if !equals_at(heap, &own, &other, depth + 1)? {
                    return Ok(false);
                }
            }
            true
        }
        _ => false,
    })
}

fn equal_sets(heap: &mut Heap, (a, b): (Id, Id), depth: usize) -> Result<bool, ScriptError> {
    let (a, b) = (heap.items(a).to_vec(), heap.items(b).to_vec());
    if a.len() != b.len() {
        return Ok(false);
    }
    for a in &a {
        let mut is_in = false;
        for b in &b {
            is_in = is_in || equals_at(heap, a, b, depth + 1)?;
        }
        if !is_in {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the natural order of values, as `compareTo` and sorting mean it.
///
/// # Errors
/// The values have no order.
pub(crate) fn compare(
    heap: &mut Heap,
    left: &Value,
    right: &Value,
) -> Result<Ordering, ScriptError> {
    Ok(match (left, right) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Long(a), Value::Long(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => java_order(f64::from(*a), f64::from(*b)),
        (Value::Double(a), Value::Double(b)) => java_order(*a, *b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Text(a), Value::Text(b)) => {
            heap.read(a.len().min(b.len()))?;
            units(a).cmp(units(b))
        }
        (Value::Null, _) | (_, Value::Null) => {
            return Err(heap.error("null_pointer_exception", "cannot compare with null"));
        }
        _ => {
            let reason = format!(
                "class {} cannot be cast to class {}",
                right.class(),
                left.class()
            );
            return Err(heap.error("class_cast_exception", reason));
        }
    })
}

/// Orders fractions: -0.0 is before 0.0, and NaN is the last.
fn java_order(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (false, false) => a.total_cmp(&b),
        (a, b) => a.cmp(&b),
    }
}
