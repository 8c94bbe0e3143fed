//! Expected answers, and the comparison with actual ones.

use serde_json::Value;

use crate::random::truth::table::{Scalar, short};

/// Expectation of a part of an answer.
#[derive(Clone, Debug)]
pub(super) enum Expect {
    /// Exactly this value.
    Is(Value),
    /// A number from the first to the second.
    Between(f64, f64),
    /// Any value.
    Any,
    Object(Vec<(String, Expect)>),
    List(Vec<Expect>),
}

impl Expect {
    pub(super) fn is(value: impl Into<Value>) -> Expect {
        Expect::Is(value.into())
    }

    /// Expects a number to the last bit; null for a missing one, or one that JSON cannot represent.
    pub(super) fn number(number: Option<f64>) -> Expect {
        Expect::Is(number.map_or(Value::Null, Value::from))
    }

    /// Expects a number within a tolerance.
    pub(super) fn near(number: f64, tolerance: f64) -> Expect {
        match number.is_finite() {
            true => Expect::Between(number - tolerance, number + tolerance),
            false => Expect::Any,
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Expect> {
        match self {
            Expect::Object(entries) => {
                let mut found = entries.iter().filter(|(key, _)| key == name);
                found.next().map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Expect::Is(value) => value.as_f64(),
            _ => None,
        }
    }

    /// Compares with an actual answer. The error contains the path of the difference.
    pub(super) fn check(&self, actual: &Value) -> Result<(), String> {
        let wrong = |wanted: &str| Err(format!(": {} instead of {wanted}", short(actual)));
        match self {
            Expect::Any => Ok(()),
            Expect::Is(wanted) if is_same(wanted, actual) => Ok(()),
            Expect::Is(wanted) => wrong(&short(wanted)),
            Expect::Between(low, high) => match actual.as_f64() {
                Some(found) if *low <= found && found <= *high => Ok(()),
                _ => wrong(&format!("{low:?} to {high:?}")),
            },
            Expect::Object(entries) => {
                let Some(found) = actual.as_object() else {
                    return wrong("an object");
                };
                for (name, wanted) in entries {
                    let Some(value) = found.get(name) else {
                        return Err(format!(": {name} is missing from {}", short(actual)));
                    };
                    wanted
                        .check(value)
                        .map_err(|what| format!(".{name}{what}"))?;
                }
                let is_known = |name: &&String| entries.iter().any(|(known, _)| known == *name);
                match found.keys().find(|name| !is_known(name)) {
                    Some(name) => Err(format!(": {name} should not be in {}", short(actual))),
                    None => Ok(()),
                }
            }
            Expect::List(items) => {
                let Some(found) = actual.as_array() else {
                    return wrong("a list");
                };
                for (place, (wanted, value)) in items.iter().zip(found).enumerate() {
                    wanted
                        .check(value)
                        .map_err(|what| format!("[{place}]{what}"))?;
                }
                match found.len() == items.len() {
                    true => Ok(()),
                    false => Err(format!(
                        ": {} entries instead of {}; beyond is {}",
                        found.len(),
                        items.len(),
                        match found.get(items.len()) {
                            Some(extra) => short(extra),
                            None => items
                                .get(found.len())
                                .map_or(String::new(), |item| short(&item.shown())),
                        }
                    )),
                }
            }
        }
    }

    fn shown(&self) -> Value {
        match self {
            Expect::Is(value) => value.clone(),
            Expect::Between(low, high) => format!("{low}..{high}").into(),
            Expect::Any => "any".into(),
            Expect::Object(entries) => {
                let entries = entries
                    .iter()
                    .map(|(name, value)| (name.clone(), value.shown()));
                Value::Object(entries.collect())
            }
            Expect::List(items) => items.iter().map(Expect::shown).collect(),
        }
    }
}

/// Returns whether values are equal; an integer may be written as an equal floating-point number.
fn is_same(wanted: &Value, actual: &Value) -> bool {
    match (scalar(wanted), scalar(actual)) {
        (Some(Scalar::Float(wanted)), Some(Scalar::Float(actual))) => {
            wanted.to_bits() == actual.to_bits()
        }
        (Some(wanted), Some(actual)) => wanted.compare(&actual) == Some(std::cmp::Ordering::Equal),
        (None, None) => wanted == actual,
        _ => false,
    }
}

/// Returns the number in JSON, exactly.
pub(super) fn scalar(value: &Value) -> Option<Scalar> {
    let whole = value
        .as_i64()
        .map(i128::from)
        .or(value.as_u64().map(i128::from));
    match whole {
        Some(whole) => Some(Scalar::Int(whole)),
        None if value.is_number() => value.as_f64().map(Scalar::Float),
        None => None,
    }
}
