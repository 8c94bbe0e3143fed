//! Methods and constants of classes.

use std::sync::Arc;

use crate::error::ScriptError;
use crate::values::{Value, compare, equals, shown};

use super::host::{Arguments, Host, Passed};
use super::lists::join;
use super::sort::sorted;

/// Classes with methods that a script can call.
const CLASSES: [&str; 12] = [
    "Math",
    "Integer",
    "Long",
    "Float",
    "Double",
    "Boolean",
    "String",
    "Objects",
    "Collections",
    "Collectors",
    "Arrays",
    "System",
];

/// Returns the class of that name.
pub(crate) fn class_of(name: &str) -> Option<&'static str> {
    CLASSES.into_iter().find(|class| *class == name)
}

/// Returns a constant of a class.
pub(crate) fn constant_of(class: &str, name: &str) -> Option<Value> {
    Some(match (class, name) {
        ("Math", "PI") => Value::Double(std::f64::consts::PI),
        ("Math", "E") => Value::Double(std::f64::consts::E),
        ("Integer", "MAX_VALUE") => Value::Int(i32::MAX),
        ("Integer", "MIN_VALUE") => Value::Int(i32::MIN),
        ("Long", "MAX_VALUE") => Value::Long(i64::MAX),
        ("Long", "MIN_VALUE") => Value::Long(i64::MIN),
        ("Double", "MAX_VALUE") => Value::Double(f64::MAX),
        _ => return None,
    })
}

/// Calls a method of a class.
pub(crate) fn call_static<'s, H: Host<'s>>(
    host: &mut H,
    class: &str,
    name: &str,
    passed: &[Passed<'s>],
) -> Result<Value, ScriptError> {
    let arguments = Arguments { name, passed };
    let heap = host.heap();
    Ok(match (class, name, passed.len()) {
        ("Math", ..) => return math(host, &arguments),
        ("Integer", "parseInt" | "valueOf", 1) if !is_number(&arguments) => {
            parsed(host, &arguments, "int", |text| {
                text.parse().ok().map(Value::Int)
            })?
        }
        ("Long", "parseLong" | "valueOf", 1) if !is_number(&arguments) => {
            parsed(host, &arguments, "long", |text| {
                text.parse().ok().map(Value::Long)
            })?
        }
        ("Double", "parseDouble" | "valueOf", 1) if !is_number(&arguments) => {
            parsed(host, &arguments, "double", |text| {
                fraction(text).map(Value::Double)
            })?
        }
        ("Float", "parseFloat" | "valueOf", 1) if !is_number(&arguments) => {
            parsed(host, &arguments, "float", |text| {
                fraction(text).map(Value::Float)
            })?
        }
        ("Boolean", "parseBoolean", 1) => match arguments.value(heap, 0)? {
            Value::Text(text) => Value::Bool(text.eq_ignore_ascii_case("true")),
            _ => Value::Bool(false),
        },
        ("Integer" | "Long" | "Float" | "Double" | "Boolean", "compare", 2) => {
            let (left, right) = (arguments.value(heap, 0)?, arguments.value(heap, 1)?);
            Value::Int(compare(heap, &left, &right)? as i32)
        }
        ("String", "valueOf", 1) | ("Integer" | "Long" | "Double" | "Objects", "toString", 1) => {
            let value = arguments.value(heap, 0)?;
            let text = shown(heap, &value)?;
            heap.text(text)?
        }
        ("String", "join", 2) => {
            let between = arguments.text(heap, 0)?;
            let list = arguments.value(heap, 1)?;
            let (elements, _) = heap.elements(&list)?;
            join(heap, &elements, &between)?
        }
        _ => return of_objects(host, class, &arguments),
    })
}

/// Calls a method of a class for lists and any values.
fn of_objects<'s, H: Host<'s>>(
    host: &mut H,
    class: &str,
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let (name, num) = (arguments.name, arguments.passed.len());
    let now_ms = host.now_ms();
    let heap = host.heap();
    Ok(match (class, name, num) {
        ("Objects", "equals", 2) => {
            let (left, right) = (arguments.value(heap, 0)?, arguments.value(heap, 1)?);
            Value::Bool(equals(heap, &left, &right)?)
        }
        ("Objects", "isNull" | "nonNull", 1) => {
            let is_null = matches!(arguments.value(heap, 0)?, Value::Null);
            Value::Bool(is_null == (name == "isNull"))
        }
        ("Collections", "sort" | "reverse", 1) => {
            let list = arguments.value(heap, 0)?;
            let Value::List(id) = list else {
                return Err(arguments.wrong(heap, &list, "java.util.List"));
            };
            let mut items = heap.items(id).to_vec();
            heap.read(items.len())?;
            match name {
                "sort" => items = sorted(host, items, None)?,
                _ => items.reverse(),
            }
            host.heap().replace_items(id, items);
            Value::Null
        }
        ("Collections", "emptyList", 0) => heap.new_items(Vec::new()).map(Value::List)?,
        ("Collections", "emptyMap", 0) => heap.new_table(Vec::new()).map(Value::Map)?,
        ("Collections", "singletonList" | "singleton", 1) | ("Arrays", "asList", _) => {
            let mut list = Vec::new();
            for place in 0..num {
                list.push(arguments.value(heap, place)?);
            }
            heap.new_items(list).map(Value::List)?
        }
        ("Collectors", "toList", 0) => Value::Collector("toList", Arc::from("")),
        ("Collectors", "toSet", 0) => Value::Collector("toSet", Arc::from("")),
        ("Collectors", "joining", 0) => Value::Collector("joining", Arc::from("")),
        ("Collectors", "joining", 1) => Value::Collector("joining", arguments.text(heap, 0)?),
        ("System", "currentTimeMillis", 0) => Value::Long(now_ms),
        _ => {
            return Err(heap.illegal(format!(
                "static method [{class}, {name}/{}] not found: it may be one that is not supported in scripts here",
                num
            )));
        }
    })
}

fn is_number(arguments: &Arguments<'_, '_>) -> bool {
    matches!(arguments.passed.first(), Some(Passed::Value(value)) if value.is_number())
}

/// Reads a number as Java does, whose names for what is no finite number differ.
fn fraction<F: std::str::FromStr>(text: &str) -> Option<F> {
    let text = text.trim_matches(|char| char <= ' ');
    let is_digits = |char: char| char.is_ascii_digit() || "+-.eE".contains(char);
    text.chars().all(is_digits).then(|| text.parse().ok())?
}

fn parsed<'s, H: Host<'s>>(
    host: &mut H,
    arguments: &Arguments<'_, 's>,
    what: &str,
    parse: impl FnOnce(&str) -> Option<Value>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    let text = arguments.text(heap, 0)?;
    heap.read(text.len())?;
    let wrong = || {
        let reason = format!("For input string: \"{text}\" (it is no {what})");
        heap.error("number_format_exception", reason)
    };
    parse(&text).ok_or_else(wrong)
}

/// Calls a method of `Math`, which all take doubles, and return them but for `round`.
fn math<'s, H: Host<'s>>(
    host: &mut H,
    arguments: &Arguments<'_, 's>,
) -> Result<Value, ScriptError> {
    let heap = host.heap();
    let one: Option<fn(f64) -> f64> = match arguments.name {
        "abs" => Some(f64::abs),
        "ceil" => Some(f64::ceil),
        "floor" => Some(f64::floor),
        "rint" => Some(f64::round_ties_even),
        "sqrt" => Some(f64::sqrt),
        "cbrt" => Some(f64::cbrt),
        "exp" => Some(f64::exp),
        "log" => Some(f64::ln),
        "log10" => Some(f64::log10),
        "sin" => Some(f64::sin),
        "cos" => Some(f64::cos),
        "tan" => Some(f64::tan),
        "toRadians" => Some(f64::to_radians),
        "toDegrees" => Some(f64::to_degrees),
        "signum" => Some(|value| {
            if value == 0.0 || value.is_nan() {
                value
            } else {
                value.signum()
            }
        }),
        _ => None,
    };
    match (one, arguments.name, arguments.passed.len()) {
        (Some(one), _, 1) => Ok(Value::Double(one(arguments.double(heap, 0)?))),
        (None, "round", 1) => Ok(Value::Long(rounded(arguments.double(heap, 0)?))),
        (None, "max" | "min" | "pow" | "hypot" | "atan2", 2) => {
            let (a, b) = (arguments.double(heap, 0)?, arguments.double(heap, 1)?);
            Ok(Value::Double(match arguments.name {
                "pow" => power(a, b),
                "hypot" => a.hypot(b),
                "atan2" => a.atan2(b),
                _ if a.is_nan() || b.is_nan() => f64::NAN,
                "max" => if a.total_cmp(&b).is_ge() { a } else { b },
                _ => if a.total_cmp(&b).is_le() { a } else { b },
            }))
        }
        _ => Err(heap.illegal(format!(
            "static method [java.lang.Math, {}/{}] not found: it may be one that is not supported in scripts here",
            arguments.name,
            arguments.passed.len()
        ))),
    }
}

/// Rounds to the nearest whole number, and from the middle between two up.
fn rounded(value: f64) -> i64 {
    let floor = value.floor();
    let up = if value - floor >= 0.5 { 1.0 } else { 0.0 };
    (floor + up) as i64
}

/// Java's power differs from C's where 1 or -1 is raised to what is no number or infinite.
fn power(base: f64, exponent: f64) -> f64 {
    let is_one = base.abs() == 1.0;
    match exponent.is_nan() || is_one && exponent.is_infinite() {
        true => f64::NAN,
        false => base.powf(exponent),
    }
}
