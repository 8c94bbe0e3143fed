//! Arithmetic as Java's: operands take the wider type of both, whole numbers wrap, and divisions of whole numbers are
//! whole.

use super::heap::Heap;
use super::show::shown;
use super::value::Value;
use crate::ast::Operator;
use crate::error::ScriptError;

/// Two numbers of one type.
enum Pair {
    Int(i32, i32),
    Long(i64, i64),
    Float(f32, f32),
    Double(f64, f64),
}

/// Returns `left + right`, which are joined if one of them is a text.
///
/// # Errors
/// Neither is a text, and they are not both numbers.
pub(crate) fn add(heap: &mut Heap, left: &Value, right: &Value) -> Result<Value, ScriptError> {
    if !matches!(left, Value::Text(_)) && !matches!(right, Value::Text(_)) {
        return arithmetic(heap, Operator::Add, left, right);
    }
    let mut text = shown(heap, left)?;
    text.push_str(&shown(heap, right)?);
    heap.text(text)
}

/// Applies one of the operators from [`Operator::Add`] to [`Operator::Remainder`].
///
/// # Errors
/// Not both are numbers, or a whole number is divided by 0.
pub(crate) fn arithmetic(
    heap: &Heap,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<Value, ScriptError> {
    let by_zero = || heap.error("arithmetic_exception", "/ by zero");
    let divides = matches!(operator, Operator::Divide | Operator::Remainder);
    Ok(match pair(heap, operator, left, right)? {
        Pair::Int(_, 0) | Pair::Long(_, 0) if divides => return Err(by_zero()),
        Pair::Int(a, b) => Value::Int(match operator {
            Operator::Add => a.wrapping_add(b),
            Operator::Subtract => a.wrapping_sub(b),
            Operator::Multiply => a.wrapping_mul(b),
            Operator::Divide => a.wrapping_div(b),
            _ => a.wrapping_rem(b),
        }),
        Pair::Long(a, b) => Value::Long(match operator {
            Operator::Add => a.wrapping_add(b),
            Operator::Subtract => a.wrapping_sub(b),
            Operator::Multiply => a.wrapping_mul(b),
            Operator::Divide => a.wrapping_div(b),
            _ => a.wrapping_rem(b),
        }),
        Pair::Float(a, b) => Value::Float(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => a % b,
        }),
        Pair::Double(a, b) => Value::Double(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            _ => a % b,
        }),
    })
}

/// Returns whether one of the operators from [`Operator::Less`] holds.
///
/// # Errors
/// Not both are numbers.
pub(crate) fn order(
    heap: &Heap,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<bool, ScriptError> {
    fn holds<T: PartialOrd>(operator: Operator, a: T, b: T) -> bool {
        match operator {
            Operator::Less => a < b,
            Operator::LessOrEqual => a <= b,
            Operator::Greater => a > b,
            _ => a >= b,
        }
    }
    Ok(match pair(heap, operator, left, right)? {
        Pair::Int(a, b) => holds(operator, a, b),
        Pair::Long(a, b) => holds(operator, a, b),
        Pair::Float(a, b) => holds(operator, a, b),
        Pair::Double(a, b) => holds(operator, a, b),
    })
}

/// Applies `&`, `|` or `^`.
///
/// # Errors
/// The operands are neither whole numbers nor both true or false.
pub(crate) fn bits(
    heap: &Heap,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<Value, ScriptError> {
    if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
        return Ok(Value::Bool(match operator {
            Operator::BitAnd => a & b,
            Operator::BitOr => a | b,
            _ => a ^ b,
        }));
    }
    match pair(heap, operator, left, right)? {
        Pair::Int(a, b) => Ok(Value::Int(match operator {
            Operator::BitAnd => a & b,
            Operator::BitOr => a | b,
            _ => a ^ b,
        })),
        Pair::Long(a, b) => Ok(Value::Long(match operator {
            Operator::BitAnd => a & b,
            Operator::BitOr => a | b,
            _ => a ^ b,
        })),
        Pair::Float(..) | Pair::Double(..) => Err(cannot(heap, operator, left, right)),
    }
}

/// Shifts a whole number. Its type is that of the left.
///
/// # Errors
/// The operands are no whole numbers.
pub(crate) fn shift(
    heap: &Heap,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<Value, ScriptError> {
    // The lowest bits count, whatever the sign.
    let by = match right {
        Value::Int(by) => by.cast_unsigned(),
        Value::Long(by) => (by & 63) as u32,
        _ => return Err(cannot(heap, operator, left, right)),
    };
    Ok(match (left, operator) {
        (Value::Int(a), Operator::ShiftLeft) => Value::Int(a.wrapping_shl(by)),
        (Value::Int(a), Operator::ShiftRight) => Value::Int(a.wrapping_shr(by)),
        (Value::Int(a), _) => Value::Int(a.cast_unsigned().wrapping_shr(by).cast_signed()),
        (Value::Long(a), Operator::ShiftLeft) => Value::Long(a.wrapping_shl(by)),
        (Value::Long(a), Operator::ShiftRight) => Value::Long(a.wrapping_shr(by)),
        (Value::Long(a), _) => Value::Long(a.cast_unsigned().wrapping_shr(by).cast_signed()),
        _ => return Err(cannot(heap, operator, left, right)),
    })
}

/// Returns `-value`.
///
/// # Errors
/// It is no number.
pub(crate) fn negate(heap: &Heap, value: &Value) -> Result<Value, ScriptError> {
    Ok(match value {
        Value::Int(a) => Value::Int(a.wrapping_neg()),
        Value::Long(a) => Value::Long(a.wrapping_neg()),
        Value::Float(a) => Value::Float(-a),
        Value::Double(a) => Value::Double(-a),
        _ => return Err(cannot(heap, Operator::Subtract, value, value)),
    })
}

/// Returns numbers in the wider type of both.
fn pair(heap: &Heap, operator: Operator, left: &Value, right: &Value) -> Result<Pair, ScriptError> {
    let cannot = || Err(cannot(heap, operator, left, right));
    Ok(match (left, right) {
        (Value::Int(a), Value::Int(b)) => Pair::Int(*a, *b),
        (Value::Int(_) | Value::Long(_), Value::Int(_) | Value::Long(_)) => {
            Pair::Long(whole(left), whole(right))
        }
        (Value::Double(_), _) | (_, Value::Double(_)) => match (double(left), double(right)) {
            (Some(a), Some(b)) => Pair::Double(a, b),
            _ => return cannot(),
        },
        (Value::Float(_), _) | (_, Value::Float(_)) => match (float(left), float(right)) {
            (Some(a), Some(b)) => Pair::Float(a, b),
            _ => return cannot(),
        },
        _ => return cannot(),
    })
}

fn whole(value: &Value) -> i64 {
    match value {
        Value::Int(a) => i64::from(*a),
        Value::Long(a) => *a,
        _ => 0,
    }
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

fn cannot(heap: &Heap, operator: Operator, left: &Value, right: &Value) -> ScriptError {
    let symbol = match operator {
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Remainder => "%",
        Operator::ShiftLeft => "<<",
        Operator::ShiftRight => ">>",
        Operator::ShiftRightUnsigned => ">>>",
        Operator::BitAnd => "&",
        Operator::BitOr => "|",
        Operator::BitXor => "^",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
    };
    let kind = match (left, right) {
        (Value::Null, _) | (_, Value::Null) => "null_pointer_exception",
        _ => "class_cast_exception",
    };
    heap.error(
        kind,
        format!(
            "Cannot apply [{symbol}] operation to types [{}] and [{}].",
            left.class(),
            right.class()
        ),
    )
}
