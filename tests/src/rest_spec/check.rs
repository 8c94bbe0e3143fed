//! Values that steps remember, and assertions on answers.

use anyhow::{Context, Result, bail, ensure};
use regex::Regex;
use serde_json::{Map, Value};

/// The last answer, and what earlier steps remembered.
#[derive(Default)]
pub(super) struct State {
    /// JSON of the answer, or its text.
    pub(super) answer: Value,
    stash: Map<String, Value>,
}

impl State {
    /// Remembers the value of a path.
    pub(super) fn set(&mut self, path: &str, name: &str) -> Result<()> {
        let value = self.at(path)?.cloned();
        let value = value.with_context(|| format!("{path} is missing"))?;
        self.stash.insert(name.to_owned(), value);
        Ok(())
    }

    /// Replaces names of remembered values (`$name`, `${name}`) by these.
    pub(super) fn filled(&self, value: &Value) -> Result<Value> {
        Ok(match value {
            Value::String(text) => self.filled_text(text)?,
            Value::Array(items) => {
                let items = items.iter().map(|item| self.filled(item));
                items.collect::<Result<Vec<_>>>()?.into()
            }
            Value::Object(entries) => {
                let mut filled = Map::new();
                for (key, value) in entries {
                    let key = match self.filled_text(key)? {
                        Value::String(key) => key,
                        other => other.to_string(),
                    };
                    filled.insert(key, self.filled(value)?);
                }
                filled.into()
            }
            _ => value.clone(),
        })
    }

    fn filled_text(&self, text: &str) -> Result<Value> {
        let whole = text.strip_prefix('$').map(|name| {
            let inner = name
                .strip_prefix('{')
                .and_then(|name| name.strip_suffix('}'));
            inner.unwrap_or(name)
        });
        if let Some(name) = whole {
            let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
            if name == "body" {
                return Ok(self.answer.clone());
            }
            if !name.is_empty() && is_name(name) {
                let value = self.stash.get(name).cloned();
                return value.with_context(|| format!("no step has set {name:?}"));
            }
        }
        let mut filled = text.to_owned();
        for (name, value) in &self.stash {
            let shown = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            filled = filled.replace(&format!("${{{name}}}"), &shown);
        }
        Ok(filled.into())
    }

    /// Returns the value at a path such as `hits.0._source.a\.b`.
    fn at(&self, path: &str) -> Result<Option<&Value>> {
        let mut value = &self.answer;
        let path = match path {
            "$body" => "",
            _ => path.strip_prefix("$body.").unwrap_or(path),
        };
        for segment in segments(path) {
            let segment = match segment.starts_with('$') {
                true => match self.filled_text(&segment)? {
                    Value::String(text) => text,
                    other => other.to_string(),
                },
                false => segment,
            };
            let found = match value {
                Value::Array(items) => segment.parse().ok().and_then(|at: usize| items.get(at)),
                Value::Object(entries) if segment == "_arbitrary_key_" => {
                    let first = entries.keys().next();
                    // The key itself is the value of the last segment.
                    return Ok(first.and_then(|key| entries.get(key)));
                }
                Value::Object(entries) => entries.get(&segment),
                _ => None,
            };
            match found {
                Some(found) => value = found,
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    /// Checks an assertion.
    pub(super) fn check(&self, assertion: &str, path: &str, expected: &Value) -> Result<()> {
        let found = self.at(path)?;
        let value = found.unwrap_or(&Value::Null);
        let shown = || {
            let shown = value.to_string();
            let cut: String = shown.chars().take(200).collect();
            match path {
                "" => cut,
                _ => format!("{path} is {cut}"),
            }
        };
        let expected = self.filled(expected)?;
        match assertion {
            "is_true" => ensure!(is_true(value), "{}, not true", shown()),
            "is_false" => ensure!(!is_true(value), "{}, not false", shown()),
            "match" => ensure!(matches(value, &expected)?, "{}, not {expected}", shown()),
            "length" => {
                let len = match value {
                    Value::String(text) => text.chars().count(),
                    Value::Array(items) => items.len(),
                    Value::Object(entries) => entries.len(),
                    _ => bail!("{} and has no length", shown()),
                };
                let as_text = || expected.as_str()?.parse().ok();
                let expected_len = expected.as_u64().or_else(as_text);
                let is_right = expected_len == u64::try_from(len).ok();
                ensure!(is_right, "{} of length {len}, not {expected}", shown());
            }
            "contains" => {
                let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let has = items.iter().any(|item| contains(item, &expected));
                ensure!(has, "{}, without {expected}", shown());
            }
            _ => {
                let (Some(value), Some(bound)) = (value.as_f64(), expected.as_f64()) else {
                    bail!("{}, no number to compare", shown());
                };
                let holds = match assertion {
                    "gt" => value > bound,
                    "gte" => value >= bound,
                    "lt" => value < bound,
                    "lte" => value <= bound,
                    _ => bail!("there is no assertion {assertion:?}"),
                };
                ensure!(holds, "{}, not {assertion} {expected}", shown());
            }
        }
        Ok(())
    }
}

/// Splits a path at dots without a backslash.
fn segments(path: &str) -> Vec<String> {
    let (mut segments, mut segment) = (Vec::new(), String::new());
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&'.') => segment.extend(chars.next()),
            '.' => segments.push(std::mem::take(&mut segment)),
            _ => segment.push(c),
        }
    }
    segments.push(segment);
    segments.retain(|segment| !segment.is_empty());
    segments
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::String(text) => !matches!(&**text, "" | "false" | "0"),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Returns whether a value is the expected one; text between slashes is a regular expression.
fn matches(value: &Value, expected: &Value) -> Result<bool> {
    if let Value::String(pattern) = expected
        && let Some(pattern) = between_slashes(pattern)
    {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        return Ok(regular_expression(pattern, true)?.is_match(&text));
    }
    Ok(equal(value, expected))
}

/// Returns what a pattern `/…/` has between its slashes.
pub(super) fn between_slashes(text: &str) -> Option<&str> {
    let text = text.trim();
    let inner = text.strip_prefix('/')?.strip_suffix('/')?;
    (!inner.is_empty()).then_some(inner)
}

/// Compiles a regular expression of a test; in those of values, white space has no meaning.
pub(super) fn regular_expression(pattern: &str, is_of_value: bool) -> Result<Regex> {
    let flags = if is_of_value { "(?x)" } else { "" };
    let regex = Regex::new(&format!("{flags}{pattern}"));
    regex.with_context(|| format!("the runner cannot compile /{pattern}/"))
}

/// Compares values; numbers of different types are equal if their amounts are.
fn equal(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(key, b)| a.get(key).is_some_and(|a| equal(a, b));
            a.len() == b.len() && b.iter().all(same)
        }
        _ => value == expected,
    }
}

/// Returns whether an item has the expected entries.
fn contains(item: &Value, expected: &Value) -> bool {
    match (item, expected) {
        (Value::Object(item), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| item.get(key).is_some_and(|item| equal(item, value))),
        _ => equal(item, expected),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn assertions_hold_for_what_they_state_and_for_nothing_else() {
        let mut state = State {
            answer: json!({"hits": [{"a.b": 1, "n": 2.0, "t": "one two"}], "no": false, "map": {"k": 1}}),
            ..State::default()
        };
        state.set("hits.0.a\\.b", "one").unwrap();
        for (assertion, path, expected) in [
            ("match", "hits.0.a\\.b", json!(1)),
            ("match", "hits.0.n", json!(2)),
            ("match", "hits.0.a\\.b", json!("$one")),
            ("match", "hits.0.t", json!("/one \\s two/")),
            ("length", "hits", json!(1)),
            ("gte", "hits.0.n", json!(2)),
            ("is_false", "no", json!(null)),
            ("is_false", "absent.path", json!(null)),
            ("is_true", "map", json!(null)),
            ("match", "map", json!({"k": 1})),
            ("contains", "hits", json!({"n": 2})),
            ("match", "absent", json!(null)),
        ] {
            state.check(assertion, path, &expected).unwrap();
        }
        for (assertion, path, expected) in [
            ("match", "hits.0.a\\.b", json!("1")),
            ("match", "map", json!({"k": 1, "l": 2})),
            ("match", "map", json!({})),
            ("match", "hits.0.t", json!("/^two/")),
            ("length", "hits", json!(2)),
            ("gt", "hits.0.n", json!(2)),
            ("is_true", "no", json!(null)),
            ("is_true", "absent", json!(null)),
            ("is_false", "map", json!(null)),
            ("contains", "hits", json!({"n": 3})),
        ] {
            let checked = state.check(assertion, path, &expected);
            assert!(checked.is_err(), "{assertion} {path} {expected}");
        }
    }
}
