//! Parameters of one field or mapping: each is taken once, and remaining ones are refused by name.

use serde_json::{Map, Value};

use super::error::{MappingError, Result};

/// Parameters that were not taken yet.
pub(super) struct Options {
    left: Map<String, Value>,
    /// Path of the field.
    path: String,
    /// Type of the field.
    kind: String,
}

impl Options {
    pub(super) fn of(definition: &Map<String, Value>, path: &str, kind: &str) -> Self {
        let mut left = definition.clone();
        left.shift_remove("type");
        Self {
            left,
            path: path.to_owned(),
            kind: kind.to_owned(),
        }
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.left.shift_remove(name)
    }

    /// Returns whether a parameter is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.left.get(name).is_some_and(|value| !value.is_null())
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, &format!("is a text, and not [{other}]"))),
        }
    }

    pub(super) fn flag(&mut self, name: &str, default: bool) -> Result<bool> {
        match self.take(name) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => flag_of(&value)
                .ok_or_else(|| self.wrong(name, &format!("is true or false, and not [{value}]"))),
        }
    }

    /// Takes a whole number, or its text.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>> {
        let number = match self.take(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => text.parse().map_err(|_| Value::String(text)),
            Some(value) => value.as_u64().ok_or(value),
        };
        match number {
            Ok(number) if number <= i32::MAX as u64 => Ok(Some(number)),
            Ok(number) => Err(self.wrong(
                name,
                &format!("is at most {}, and not [{number}]", i32::MAX),
            )),
            Err(other) => Err(self.wrong(name, &format!("is a number, and not [{other}]"))),
        }
    }

    /// Takes a flag that supports only the value `wanted`; `why` explains it in the error.
    pub(super) fn only(&mut self, name: &str, wanted: bool, why: &str) -> Result<()> {
        match self.flag(name, wanted)? == wanted {
            true => Ok(()),
            false => Err(self.wrong(name, &format!("can only be [{wanted}]: {why}"))),
        }
    }

    /// Takes parameters that change no answer.
    pub(super) fn ignore(&mut self, names: &[&str]) {
        for name in names {
            self.take(name);
        }
    }

    /// Returns an error about one parameter.
    pub(super) fn wrong(&self, name: &str, problem: &str) -> MappingError {
        MappingError::mapper(format!("[{name}] of field [{}] {problem}", self.path))
    }

    /// Refuses parameters that were not taken.
    pub(super) fn finish(self) -> Result<()> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(MappingError::mapper(format!(
                "unknown parameter [{name}] on mapper [{}] of type [{}]: it is not supported here",
                self.path, self.kind
            ))),
        }
    }
}

/// Parses a boolean, or its text, as Elasticsearch does.
pub(super) fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if text == "true" => Some(true),
        Value::String(text) if text == "false" => Some(false),
        _ => None,
    }
}

/// Returns the value as an object.
pub(super) fn object<'v>(value: &'v Value, what: &str) -> Result<&'v Map<String, Value>> {
    value
        .as_object()
        .ok_or_else(|| MappingError::mapper(format!("{what} is an object, and not [{value}]")))
}
