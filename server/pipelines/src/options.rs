//! The options of a processor: each is used, or refused by name.

use serde_json::{Map, Value};

use crate::document::Path;
use crate::error::ConfigError;
use crate::snippet::Snippet;

/// Options that were not read so far.
pub(crate) struct Options {
    pub(crate) processor: String,
    rest: Map<String, Value>,
}

impl Options {
    pub(crate) fn new(processor: &str, options: Map<String, Value>) -> Self {
        Self {
            processor: processor.to_owned(),
            rest: options,
        }
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.rest.remove(name).filter(|value| !value.is_null())
    }

    pub(crate) fn wrong(&self, name: &str, what: &str) -> ConfigError {
        ConfigError::parsing(format!("[{name}] {what}"))
            .of(&self.processor)
            .about(name)
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, ConfigError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // As Elasticsearch reads texts of processors.
            Some(value @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(value.to_string())),
            Some(_) => Err(self.wrong(name, "property isn't a string")),
        }
    }

    pub(crate) fn required(&mut self, name: &str) -> Result<String, ConfigError> {
        let text = self.text(name)?;
        text.ok_or_else(|| self.wrong(name, "required property is missing"))
    }

    pub(crate) fn flag(&mut self, name: &str, default: bool) -> Result<bool, ConfigError> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(_) => Err(self.wrong(name, "property isn't a boolean")),
        }
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Option<Vec<String>>, ConfigError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(vec![text])),
            Some(Value::Array(list)) => {
                let texts = list.iter().map(|value| value.as_str().map(str::to_owned));
                let texts: Option<Vec<String>> = texts.collect();
                texts
                    .map(Some)
                    .ok_or_else(|| self.wrong(name, "property isn't a list of strings"))
            }
            Some(_) => Err(self.wrong(name, "property isn't a list")),
        }
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, ConfigError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(self.wrong(name, "property isn't a map")),
        }
    }

    /// Takes a field's path that has no template.
    pub(crate) fn path(&mut self, name: &str) -> Result<Option<Path>, ConfigError> {
        let text = self.text(name)?;
        let path = text.map(|text| Path::of(&text)).transpose();
        path.map_err(|failure| self.wrong(name, &failure.reason))
    }

    pub(crate) fn required_path(&mut self, name: &str) -> Result<Path, ConfigError> {
        let path = self.path(name)?;
        path.ok_or_else(|| self.wrong(name, "required property is missing"))
    }

    pub(crate) fn snippet(&mut self, name: &str) -> Result<Option<Snippet>, ConfigError> {
        let text = self.text(name)?;
        let snippet = text.map(|text| Snippet::of(&text)).transpose();
        snippet.map_err(|error| error.of(&self.processor).about(name))
    }

    pub(crate) fn required_snippet(&mut self, name: &str) -> Result<Snippet, ConfigError> {
        let snippet = self.snippet(name)?;
        snippet.ok_or_else(|| self.wrong(name, "required property is missing"))
    }

    /// Refuses an option with another value than its default.
    pub(crate) fn only(&mut self, name: &str, allowed: &[Value]) -> Result<(), ConfigError> {
        match self.take(name) {
            Some(value) if !allowed.contains(&value) => {
                Err(self.wrong(name, &format!("cannot be [{value}] here")))
            }
            _ => Ok(()),
        }
    }

    /// Refuses the options that were not used.
    pub(crate) fn finish(self) -> Result<(), ConfigError> {
        if self.rest.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.rest.keys().map(String::as_str).collect();
        Err(ConfigError::parsing(format!(
            "processor [{}] doesn't support one or more provided configuration parameters [{}]",
            self.processor,
            names.join(", ")
        ))
        .of(&self.processor))
    }
}
