//! The parameters of one clause: each is taken by name, and the remaining ones are refused by name.

use serde_json::{Map, Value};

use crate::SearchError;
use crate::query::tree::Given;

/// The name that any clause may have, by which hits list it. It has no effect here.
pub(crate) const NAME: &str = "_name";

/// The parameters of a JSON object, with its place in the request.
pub(super) struct Params<'j> {
    pub(super) path: String,
    map: &'j Map<String, Value>,
    known: Vec<&'static str>,
}

/// Returns an error at a place in the request.
pub(super) fn wrong(path: &str, what: impl std::fmt::Display) -> SearchError {
    SearchError::invalid(format!("{path}: {what}"))
}

impl<'j> Params<'j> {
    /// # Errors
    /// If it is not an object, or has a name that is not a text.
    pub(super) fn of(path: &str, value: &'j Value) -> Result<Self, SearchError> {
        let Value::Object(map) = value else {
            return Err(wrong(path, "this must be a JSON object"));
        };
        let mut params = Self {
            path: path.to_owned(),
            map,
            known: Vec::new(),
        };
        params.text(NAME)?;
        Ok(params)
    }

    /// Takes a parameter; null counts as absent.
    pub(super) fn get(&mut self, name: &'static str) -> Option<&'j Value> {
        self.known.push(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    /// Returns the parameters that were not taken, with their names.
    pub(super) fn others(&self) -> impl Iterator<Item = (&'j String, &'j Value)> {
        let known = self.known.clone();
        let map = self.map.iter();
        map.filter(move |(name, _)| !known.contains(&name.as_str()))
    }

    /// Returns the only parameter that was not taken: a field, with its own parameters.
    ///
    /// # Errors
    /// If there is none, or more than one.
    pub(super) fn only_other(&self) -> Result<(&'j String, &'j Value), SearchError> {
        let mut others = self.others();
        match (others.next(), others.next()) {
            (Some(other), None) => Ok(other),
            (None, _) => Err(wrong(&self.path, "this must name a field")),
            (Some((first, _)), Some((second, _))) => Err(wrong(
                &self.path,
                format!("this takes one field, and there are {first:?} and {second:?}"),
            )),
        }
    }

    /// Refuses the parameters that were not taken.
    ///
    /// # Errors
    /// The name of the first.
    pub(super) fn finish(self) -> Result<(), SearchError> {
        match self.others().next() {
            None => Ok(()),
            Some((name, _)) => {
                let mut known = self.known.clone();
                canter_sorting::sort(&mut known);
                known.dedup();
                let known = known.join(", ");
                Err(wrong(
                    &self.path,
                    format!("the parameter {name:?} is not known; there are {known}"),
                ))
            }
        }
    }

    /// Takes a parameter and parses it with `read`; `expected` describes its type in errors.
    fn read<T>(
        &mut self,
        name: &'static str,
        what: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Result<Option<T>, SearchError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let read = read(value);
        read.map(Some)
            .ok_or_else(|| wrong(&format!("{}.{name}", self.path), what))
    }

    /// Takes a text.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, SearchError> {
        self.read(name, "this must be text", |value| {
            value.as_str().map(str::to_owned)
        })
    }

    /// Takes a value as text: a text, a number or a flag.
    pub(super) fn value(&mut self, name: &'static str) -> Result<Option<Given>, SearchError> {
        self.read(name, IS_VALUE, given)
    }

    /// Takes a required value.
    pub(super) fn needed(&mut self, name: &'static str) -> Result<Given, SearchError> {
        let value = self.value(name)?;
        value.ok_or_else(|| wrong(&self.path, format!("{name} is missing")))
    }

    /// Takes true or false, also as text.
    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, SearchError> {
        self.read(name, "this must be true or false", |value| match value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => text.parse().ok(),
            _ => None,
        })
    }

    /// Takes a number, 0 or more, also as text.
    pub(super) fn factor(&mut self, name: &'static str) -> Result<Option<f32>, SearchError> {
        let is_factor = |number: &f32| number.is_finite() && *number >= 0.0;
        self.read(name, "this must be a number, 0 or more", |value| {
            number(value).filter(is_factor)
        })
    }

    /// Takes the factor for scores that every clause has.
    pub(super) fn boost(&mut self) -> Result<f32, SearchError> {
        Ok(self.factor("boost")?.unwrap_or(1.0))
    }

    /// Takes a whole number, 0 or more, also as text.
    pub(super) fn count(&mut self, name: &'static str) -> Result<Option<u32>, SearchError> {
        self.read(
            name,
            "this must be a whole number, 0 or more",
            |value| match value {
                Value::String(text) => text.parse().ok(),
                value => value.as_u64().and_then(|count| u32::try_from(count).ok()),
            },
        )
    }

    /// Takes texts: one or a list.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Vec<String>, SearchError> {
        let texts = self.read(name, "this must be a list of texts", |value| match value {
            Value::String(text) => Some(vec![text.clone()]),
            Value::Array(list) => {
                let texts = list.iter().map(|value| value.as_str().map(str::to_owned));
                texts.collect()
            }
            _ => None,
        })?;
        Ok(texts.unwrap_or_default())
    }

    /// Takes one of some words, in any case; the first if none is given.
    pub(super) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, SearchError> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        let found = choices
            .iter()
            .find(|(choice, _)| choice.eq_ignore_ascii_case(&text));
        let names = choices.iter().map(|(name, _)| *name);
        let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            wrong(
                &format!("{}.{name}", self.path),
                format!("{text:?} is not known; there are {}", names.join(", ")),
            )
        })
    }

    /// Takes parameters that affect how Elasticsearch computes, but not its answers.
    pub(super) fn ignore(&mut self, names: &[&'static str]) {
        for name in names {
            self.get(name);
        }
    }
}

const IS_VALUE: &str = "this must be a text, a number, true or false";

/// Returns a text, a number or a flag as text.
pub(super) fn given(value: &Value) -> Option<Given> {
    let (text, is_number) = match value {
        Value::String(text) => (text.clone(), false),
        Value::Number(number) => (number.to_string(), true),
        Value::Bool(flag) => (flag.to_string(), false),
        _ => return None,
    };
    Some(Given { text, is_number })
}

/// Returns an element of a list as text.
///
/// # Errors
/// If it is of another type.
pub(super) fn given_at(path: &str, value: &Value) -> Result<Given, SearchError> {
    given(value).ok_or_else(|| wrong(path, IS_VALUE))
}

/// Parses a duration, in nanoseconds. A number alone is milliseconds.
pub(super) fn duration_ns(text: &str) -> Option<f64> {
    let at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(at)?;
    let number: f64 = number.parse().ok()?;
    let unit = match unit {
        "nanos" => 1.0,
        "micros" => 1e3,
        "" | "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3_600e9,
        "d" => 86_400e9,
        "w" => 604_800e9,
        _ => return None,
    };
    Some(number * unit)
}

#[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
fn number(value: &Value) -> Option<f32> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_f64().map(|number| number as f32),
    }
}
