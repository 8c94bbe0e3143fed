//! Reader of the options of a suggestion, key by key.

use serde_json::{Map, Value};

use crate::SearchError;
use crate::api::elastic::given::body::{as_written, wrong};

/// Reader of the options of a suggestion.
pub(super) struct Options {
    pub(super) path: String,
    pub(super) given: Map<String, Value>,
}

impl Options {
    pub(super) fn text(&mut self, key: &str) -> Result<Option<String>, SearchError> {
        match self.given.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(&format!("{}.{key}", self.path), "this must be text")),
        }
    }

    pub(super) fn count(&mut self, key: &str, default: u64, most: u64) -> Result<u64, SearchError> {
        let Some(value) = self.given.shift_remove(key) else {
            return Ok(default);
        };
        let count = as_written(value).as_u64().filter(|count| *count <= most);
        count.ok_or_else(|| {
            let what = format!("this must be a whole number, at most {most}");
            wrong(&format!("{}.{key}", self.path), what)
        })
    }

    pub(super) fn number(&mut self, key: &str, default: f64) -> Result<f64, SearchError> {
        let Some(value) = self.given.shift_remove(key) else {
            return Ok(default);
        };
        let number = as_written(value).as_f64().filter(|number| *number >= 0.0);
        number.ok_or_else(|| {
            wrong(
                &format!("{}.{key}", self.path),
                "this must be a number, 0 or more",
            )
        })
    }

    pub(super) fn choice(&mut self, key: &str, words: &[&str]) -> Result<usize, SearchError> {
        let Some(text) = self.text(key)? else {
            return Ok(0);
        };
        let place = words.iter().position(|word| *word == text);
        place.ok_or_else(|| {
            wrong(
                &format!("{}.{key}", self.path),
                format!("this must be {}", words.join(" or ")),
            )
        })
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<bool, SearchError> {
        self.flag_or(key, false)
    }

    pub(super) fn flag_or(&mut self, key: &str, default: bool) -> Result<bool, SearchError> {
        match self.given.shift_remove(key).map(as_written) {
            None | Some(Value::Null) => Ok(default),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(_) => Err(wrong(
                &format!("{}.{key}", self.path),
                "this must be true or false",
            )),
        }
    }

    /// Refuses the options that were not taken; `known` lists the others.
    pub(super) fn finish(self, known: &str) -> Result<(), SearchError> {
        match self.given.keys().next() {
            None => Ok(()),
            Some(key) => Err(wrong(
                &self.path,
                format!("{key:?} is not known or not supported; there are {known}"),
            )),
        }
    }
}
