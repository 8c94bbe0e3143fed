//! Error of reading an index config: the position, the key, and the allowed values.

use std::fmt;

/// Reason for which an index config was refused.
///
/// Displayed as `line 12: unknown key …` if the config was YAML, and as `doc_mapping.mode: …` if it
/// was JSON, whose lines are meaningless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    pub(crate) line: Option<u32>,
    pub(crate) key_path: String,
    pub(crate) message: String,
}

impl ConfigError {
    pub(crate) fn new(key_path: impl Into<String>, message: impl Into<String>) -> ConfigError {
        ConfigError {
            line: None,
            key_path: key_path.into(),
            message: message.into(),
        }
    }

    /// Creates an error; a `line` of 0 means unknown.
    pub(crate) fn at(
        line: u32,
        key_path: impl Into<String>,
        message: impl Into<String>,
    ) -> ConfigError {
        ConfigError {
            line: (line > 0).then_some(line),
            ..ConfigError::new(key_path, message)
        }
    }

    /// Returns the line in the YAML file, from 1, or `None` if the config was not YAML.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// Returns the path of the key at fault from the root, such as
    /// `doc_mapping.field_mappings[2].tokenizer`; may be empty.
    pub fn key_path(&self) -> &str {
        &self.key_path
    }

    /// Returns the message without the position.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.key_path.as_str()) {
            (Some(line), _) => write!(f, "line {line}: {}", self.message),
            (None, "") => f.write_str(&self.message),
            (None, path) => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for ConfigError {}
