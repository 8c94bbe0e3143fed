//! Parameters of one aggregation, with their location in the request.

use serde_json::{Map, Value};

use super::bounds::{MAX_LIST_LEN, MAX_NAME_BYTES};
use crate::calendar::DateFormat;
use crate::{Error, Result};

/// JSON object in a request, with its location.
pub(crate) struct Body<'a> {
    pub(crate) path: String,
    fields: &'a Map<String, Value>,
}

impl<'a> Body<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// The value is no object, or has a key that is not `known`: ignoring it would answer another
    /// question.
    pub(crate) fn read(path: String, value: &'a Value, known: &[&str]) -> Result<Self> {
        let Value::Object(fields) = value else {
            return Err(invalid(&path, "this must be a JSON object"));
        };
        for (name, value) in fields {
            // The type of a field's values, which the doc mapping says.
            let is_value_type = name == "value_type" && known.contains(&"field");
            if !known.contains(&name.as_str()) && !value.is_null() && !is_value_type {
                let mut what =
                    format!("{name:?} is not known here; there are {}", known.join(", "));
                let is_near = |other: &&&str| num_edits(name, other) == 1;
                if let Some(near) = known.iter().find(is_near) {
                    let kind = path.rsplit('.').next().unwrap_or_default();
                    what.push_str(&format!(
                        ". [{kind}] unknown field [{name}] did you mean [{near}]?"
                    ));
                }
                return Err(invalid(&path, &what));
            }
        }
        let body = Self { path, fields };
        body.text("value_type")?;
        Ok(body)
    }

    /// Returns a parameter; `null` counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&'a Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// Returns whether a parameter is `null`.
    pub(crate) fn is_null(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(Value::is_null)
    }

    /// Returns the name of the aggregation.
    pub(crate) fn name(&self) -> &str {
        let (path, _) = self.path.rsplit_once('.').unwrap_or((&self.path, ""));
        path.rsplit("aggs.").next().unwrap_or(path)
    }

    /// Creates an error about a parameter.
    pub(crate) fn invalid(&self, name: &str, what: &str) -> Error {
        invalid(&format!("{}.{name}", self.path), what)
    }

    pub(crate) fn too_large(&self, name: &str, what: &str) -> Error {
        Error::limit(&format!("{}.{name}", self.path), what)
    }

    /// Returns the required name of a field.
    pub(crate) fn field(&self, name: &str) -> Result<&'a str> {
        let Some(Value::String(field)) = self.get(name) else {
            let what = match name {
                "field" => "Required one of fields [field, script], but none were specified",
                _ => "the name of a field is missing",
            };
            return Err(self.invalid(name, what));
        };
        check_name(&format!("{}.{name}", self.path), field)?;
        Ok(field)
    }

    /// Returns an integer from `least` to `most`, or a text with one: values typed into an editor
    /// are sent as text.
    pub(crate) fn count(&self, name: &str, least: u64, most: u64) -> Result<Option<u64>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let text = || value.as_str()?.trim().parse().ok();
        let Some(count) = value.as_u64().or_else(text) else {
            return Err(self.invalid(name, "this must be a whole number, 0 or more"));
        };
        if count > most {
            return Err(self.too_large(name, &format!("{count} is more than the limit of {most}")));
        }
        if count < least {
            return Err(self.invalid(name, &format!("this must be {least} or more")));
        }
        Ok(Some(count))
    }

    /// Returns a finite number, or a text with one.
    pub(crate) fn number(&self, name: &str) -> Result<Option<f64>> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match number_of(value) {
            Some(number) => Ok(Some(number)),
            None => Err(self.invalid(name, "this must be a number")),
        }
    }

    /// Reads the body of an aggregation over all documents, which has no parameters but those of a sample.
    pub(super) fn read_all(path: &str, kind: &str, value: &'a Value) -> Result<()> {
        let known: &[&str] = match kind {
            "random_sampler" => &["probability", "seed", "shard_seed"],
            _ => &[],
        };
        let body = Self::read(path.to_owned(), value, known)?;
        let share = body.number("probability")?;
        match known.is_empty()
            || share.is_some_and(|share| share == 1.0 || 0.0 < share && share <= 0.5)
        {
            true => Ok(()),
            false => Err(body.invalid(
                "probability",
                "this must be a number above 0 and at most 0.5, or 1",
            )),
        }
    }

    /// Reads a date format.
    pub(super) fn date_format(&self, name: &str) -> Result<Option<DateFormat>> {
        match self.text(name)? {
            None => Ok(None),
            Some(format) => match DateFormat::parse(format) {
                Ok(format) => Ok(Some(format)),
                Err(problem) => Err(self.invalid(name, &problem)),
            },
        }
    }

    /// Returns a text.
    pub(crate) fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.invalid(name, "this must be a text")),
        }
    }

    /// Checks that a parameter is one of some words, if it is there.
    pub(crate) fn one_of(&self, name: &str, words: &[&str]) -> Result<()> {
        match self.text(name)? {
            Some(text) if !words.contains(&text) => {
                let what = format!("this must be {}", words.join(" or "));
                Err(self.invalid(name, &what))
            }
            _ => Ok(()),
        }
    }

    /// Returns a Boolean; absent is false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(self.invalid(name, "this must be true or false")),
        }
    }

    /// Returns a list of at most [`MAX_LIST_LEN`] values.
    pub(crate) fn list(&self, name: &str) -> Result<Option<&'a [Value]>> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(values)) if values.len() <= MAX_LIST_LEN => Ok(Some(values)),
            Some(Value::Array(values)) => {
                let what = format!(
                    "{} entries are more than the limit of {MAX_LIST_LEN}",
                    values.len()
                );
                Err(self.too_large(name, &what))
            }
            Some(_) => Err(self.invalid(name, "this must be a list")),
        }
    }
}

/// Returns the number of characters to insert, remove or replace between two names.
fn num_edits(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (nth, left) in left.chars().enumerate() {
        let mut diagonal = nth;
        let mut before = nth.saturating_add(1);
        let mut next = vec![before];
        for (right, above) in right.iter().zip(row.iter().skip(1)) {
            let replaced = diagonal.saturating_add(usize::from(*right != left));
            before = replaced
                .min(above.saturating_add(1))
                .min(before.saturating_add(1));
            diagonal = *above;
            next.push(before);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// Parses a finite number, or a text with one.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

pub(crate) fn invalid(path: &str, what: &str) -> Error {
    Error::invalid(path, what)
}

/// Checks the name of a field or an aggregation.
///
/// # Errors
/// The name is empty, too long, or contains NUL, which ends a name when columns are looked up.
pub fn check_name(path: &str, name: &str) -> Result<()> {
    if name.is_empty() {
        return Err(invalid(path, "a name is empty"));
    }
    if name.len() > MAX_NAME_BYTES {
        let what = format!(
            "a name of {} bytes is longer than the limit of {MAX_NAME_BYTES}",
            name.len()
        );
        return Err(Error::limit(path, &what));
    }
    match name.contains('\0') {
        true => Err(invalid(path, "a name cannot have a NUL character in it")),
        false => Ok(()),
    }
}
