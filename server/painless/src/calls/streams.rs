//! Streams, computed at once.

use crate::ast::{Lambda, Operator};
use crate::error::ScriptError;
use crate::values::{Heap, Id, Type, Value, arithmetic, convert};

use super::host::{Arguments, Host, Passed, holds};
use super::lists::{distinct, join};
use super::sort::sorted;

pub(super) fn call<'s, H: Host<'s>>(
    host: &mut H,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    let elements = heap.items(id).to_vec();
    heap.read(elements.len())?;
    let made = match (arguments.name, arguments.passed.len()) {
        ("filter", 1) => {
            let test = arguments.lambda(heap, 0)?;
            let mut kept = Vec::new();
            for element in elements {
                if holds(host, test, std::slice::from_ref(&element))? {
                    kept.push(element);
                }
            }
            kept
        }
        ("map", 1) => {
            let by = arguments.lambda(heap, 0)?;
            let mut made = Vec::new();
            for element in elements {
                made.push(host.invoke(by, &[element])?);
            }
            made
        }
        ("mapToInt" | "mapToLong" | "mapToDouble", 1) => {
            let by = arguments.lambda(heap, 0)?;
            return figures_of(host, elements, (arguments.name, by));
        }
        ("distinct", 0) => distinct(heap, elements)?,
        ("sorted", 0) => sorted(host, elements, None)?,
        ("sorted", 1) => {
            let by = arguments.lambda(heap, 0)?;
            sorted(host, elements, Some(by))?
        }
        ("limit" | "skip", 1) => {
            let num = match arguments.value(heap, 0)? {
                Value::Int(num) => usize::try_from(num).ok(),
                Value::Long(num) => usize::try_from(num).ok(),
                _ => None,
            };
            let Some(num) = num else {
                return Err(heap.illegal(format!("[{}] takes a number from 0", arguments.name)));
            };
            let elements = elements.into_iter();
            match arguments.name {
                "limit" => elements.take(num).collect(),
                _ => elements.skip(num).collect(),
            }
        }
        _ => return ended(host, of, elements, arguments),
    };
    host.heap().new_items(made).map(Value::Stream)
}

/// Makes numbers of the elements of a stream.
fn figures_of<'s, H: Host<'s>>(
    host: &mut H,
    elements: Vec<Value>,
    (name, by): (&str, &'s Lambda),
) -> Result<Value, ScriptError> {
    let kind = match name {
        "mapToInt" => Type::Int,
        "mapToLong" => Type::Long,
        _ => Type::Double,
    };
    let mut figures = Vec::with_capacity(elements.len());
    for element in elements {
        let made = host.invoke(by, &[element])?;
        figures.push(convert(host.heap(), made, kind)?);
    }
    let id = host.heap().new_items(figures)?;
    Ok(Value::Figures(kind, id))
}

/// Calls a method of a stream of numbers.
pub(super) fn of_figures(
    heap: &mut Heap,
    (of, kind, id): (&Value, Type, Id),
    arguments: &Arguments<'_, '_>,
) -> Result<Value, ScriptError> {
    let figures = heap.items(id).to_vec();
    heap.read(figures.len())?;
    match (arguments.name, arguments.passed.len()) {
        ("sum", 0) if kind == Type::Double => Ok(Value::Double(compensated(&figures))),
        ("sum", 0) => {
            let mut sum = kind.default_value();
            for figure in &figures {
                sum = arithmetic(heap, Operator::Add, &sum, figure)?;
            }
            Ok(sum)
        }
        ("count", 0) => Ok(Value::Long(
            i64::try_from(figures.len()).unwrap_or(i64::MAX),
        )),
        ("boxed", 0) => Ok(Value::Stream(id)),
        _ => Err(arguments.unknown(heap, of)),
    }
}

/// Adds doubles as `DoubleStream.sum` does: what rounding loses is added to the next.
fn compensated(figures: &[Value]) -> f64 {
    let (mut sum, mut lost, mut simple) = (0.0, 0.0, 0.0);
    for figure in figures {
        let Value::Double(value) = figure else {
            continue;
        };
        let corrected = value - lost;
        let next = sum + corrected;
        lost = (next - sum) - corrected;
        sum = next;
        simple += value;
    }
    match (sum - lost).is_nan() && f64::is_infinite(simple) {
        true => simple,
        false => sum - lost,
    }
}

/// Calls a method of what `findFirst` found.
pub(super) fn of_optional(
    heap: &mut Heap,
    (of, id): (&Value, Id),
    arguments: &Arguments<'_, '_>,
) -> Result<Value, ScriptError> {
    let found = heap.items(id).first().cloned();
    match (arguments.name, arguments.passed.len(), found) {
        ("isPresent", 0, found) => Ok(Value::Bool(found.is_some())),
        ("isEmpty", 0, found) => Ok(Value::Bool(found.is_none())),
        ("get" | "orElseThrow", 0, Some(found)) | ("orElse", 1, Some(found)) => Ok(found),
        ("get" | "orElseThrow", 0, None) => {
            Err(heap.error("no_such_element_exception", "No value present"))
        }
        ("orElse", 1, None) => arguments.value(heap, 0),
        _ => Err(arguments.unknown(heap, of)),
    }
}

/// Calls a method that ends a stream.
fn ended<'s, H: Host<'s>>(
    host: &mut H,
    of: &Value,
    elements: Vec<Value>,
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    match (arguments.name, arguments.passed.len()) {
        ("count", 0) => Ok(Value::Long(
            i64::try_from(elements.len()).unwrap_or(i64::MAX),
        )),
        ("findFirst" | "findAny", 0) => {
            let first = elements.into_iter().take(1).collect();
            heap.new_items(first).map(Value::Optional)
        }
        ("toList", 0) => heap.new_items(elements).map(Value::List),
        ("collect", 1) => match arguments.passed.first() {
            Some(Passed::Value(Value::Collector("toList", _))) => {
                heap.new_items(elements).map(Value::List)
            }
            Some(Passed::Value(Value::Collector("toSet", _))) => {
                let elements = distinct(heap, elements)?;
                heap.new_items(elements).map(Value::Set)
            }
            Some(Passed::Value(Value::Collector("joining", between))) => {
                join(heap, &elements, between)
            }
            _ => Err(heap.illegal("[collect] takes Collectors.toList(), toSet() or joining(text)")),
        },
        ("anyMatch" | "allMatch" | "noneMatch", 1) => {
            let test = arguments.lambda(heap, 0)?;
            let is_all = arguments.name == "allMatch";
            for element in elements {
                if holds(host, test, &[element])? != is_all {
                    return Ok(Value::Bool(arguments.name == "anyMatch"));
                }
            }
            Ok(Value::Bool(arguments.name != "anyMatch"))
        }
        ("forEach", 1) => {
            let each = arguments.lambda(heap, 0)?;
            for element in elements {
                host.invoke(each, &[element])?;
            }
            Ok(Value::Null)
        }
        _ => Err(arguments.unknown(heap, of)),
    }
}
