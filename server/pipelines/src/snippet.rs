//! Texts with fields in double braces, the part of Mustache that pipelines use.

use serde_json::{Map, Value};

use crate::document::{Document, Path};
use crate::error::{ConfigError, Failure};

/// A text with values of fields.
#[derive(Clone, Debug)]
pub(crate) struct Snippet {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Field(String),
}

impl Snippet {
    /// Reads a text.
    ///
    /// # Errors
    /// It has sections, or braces that do not end.
    pub(crate) fn of(text: &str) -> Result<Self, ConfigError> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            let (before, behind) = rest.split_at(at);
            let (end, inner) = match behind.strip_prefix("{{{") {
                Some(inner) => ("}}}", inner),
                None => ("}}", behind.strip_prefix("{{").unwrap_or_default()),
            };
            let Some(to) = inner.find(end) else {
                return Err(ConfigError::parsing(format!(
                    "the template [{text}] has braces that do not end"
                )));
            };
            let name = inner.get(..to).unwrap_or_default().trim();
            let name = name.strip_prefix('&').unwrap_or(name).trim();
            if name.is_empty() || name.starts_with(['#', '/', '^', '>', '!', '=']) {
                return Err(ConfigError::parsing(format!(
                    "the template [{text}] has [{name}]: there are only names of fields in braces here"
                )));
            }
            if !before.is_empty() {
                parts.push(Part::Text(before.to_owned()));
            }
            parts.push(Part::Field(name.to_owned()));
            rest = inner.get(to + end.len()..).unwrap_or_default();
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        Ok(Self { parts })
    }

    /// Returns the text for a document.
    pub(crate) fn text(&self, document: &Document) -> String {
        let written = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Field(name) => {
                let value = Path::of(name).ok().and_then(|path| document.find(&path));
                value.map(|value| shown(&value)).unwrap_or_default()
            }
        });
        written.collect()
    }

    /// Returns the path that the text is for a document.
    ///
    /// # Errors
    /// It is no path.
    pub(crate) fn path(&self, document: &Document) -> Result<Path, Failure> {
        Path::of(&self.text(document))
    }
}

/// Returns a value in a text.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value whose texts are snippets.
#[derive(Clone, Debug)]
pub(crate) enum Template {
    Text(Snippet),
    Other(Value),
    List(Vec<Template>),
    Object(Vec<(String, Template)>),
}

impl Template {
    /// Reads a value. Bodies of requests bound its depth.
    ///
    /// # Errors
    /// As [`Snippet::of`].
    pub(crate) fn of(value: &Value) -> Result<Self, ConfigError> {
        Ok(match value {
            Value::String(text) => Self::Text(Snippet::of(text)?),
            Value::Array(list) => Self::List(list.iter().map(Self::of).collect::<Result<_, _>>()?),
            Value::Object(object) => {
                let parts = object
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), Self::of(value)?)));
                Self::Object(parts.collect::<Result<_, ConfigError>>()?)
            }
            other => Self::Other(other.clone()),
        })
    }

    /// Returns the value for a document.
    pub(crate) fn value(&self, document: &Document) -> Value {
        match self {
            Self::Text(snippet) => snippet.text(document).into(),
            Self::Other(value) => value.clone(),
            Self::List(list) => list.iter().map(|part| part.value(document)).collect(),
            Self::Object(parts) => {
                let parts = parts.iter();
                let parts = parts.map(|(key, part)| (key.clone(), part.value(document)));
                Value::Object(parts.collect::<Map<String, Value>>())
            }
        }
    }
}
