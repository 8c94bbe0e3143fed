//! Reasons why a pipeline is invalid, and why a document does not pass it.

use serde_json::{Map, Value, json};

/// A reason why a pipeline cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Elasticsearch's name for it.
    pub kind: &'static str,
    /// What is wrong.
    pub reason: String,
    /// The processor and its option, if it is about one.
    pub processor: Option<String>,
    /// The option, if it is about one.
    pub property: Option<String>,
}

impl ConfigError {
    pub(crate) fn parsing(reason: impl Into<String>) -> Self {
        Self {
            kind: "parse_exception",
            reason: reason.into(),
            processor: None,
            property: None,
        }
    }

    pub(crate) fn of(mut self, processor: &str) -> Self {
        self.processor.get_or_insert_with(|| processor.to_owned());
        self
    }

    pub(crate) fn about(mut self, property: &str) -> Self {
        self.property.get_or_insert_with(|| property.to_owned());
        self
    }

    /// Returns what Elasticsearch's error says beside kind and reason.
    #[must_use]
    pub fn detail(&self) -> Map<String, Value> {
        let named = [
            ("processor_type", &self.processor),
            ("property_name", &self.property),
        ];
        named
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value.clone()?.into())))
            .collect()
    }
}

/// A reason why a document does not pass a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Elasticsearch's name for it.
    pub kind: &'static str,
    /// What is wrong.
    pub reason: String,
    /// A script's error, if a script failed.
    pub cause: Option<Box<Value>>,
    /// The kind and the tag of the processor that failed.
    pub(crate) at: Option<Box<(String, Option<String>)>>,
}

impl Failure {
    pub(crate) fn illegal(reason: impl Into<String>) -> Self {
        Self::new("illegal_argument_exception", reason)
    }

    pub(crate) fn new(kind: &'static str, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            cause: None,
            at: None,
        }
    }

    /// Returns it in Elasticsearch's form.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut told = json!({"type": self.kind, "reason": self.reason});
        if let Some(cause) = &self.cause {
            told["caused_by"] = Value::clone(cause);
        }
        let mut root = told.clone();
        root.as_object_mut().map(|root| root.remove("caused_by"));
        told["root_cause"] = json!([root]);
        told
    }
}
