//! The one error of reading an index config: where it is, which key, and what is allowed there.

use std::fmt;

/// Why an index config was refused.
///
/// Shown as `line 12: unknown key …` when the config came from YAML, and as `doc_mapping.mode: …` when
/// it came from JSON, where nobody counts lines.
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

    /// `line` 0 means unknown.
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

    /// The line in the YAML file, from 1; `None` when the config was not read from YAML.
    pub fn line(&self) -> Option<u32> {
        self.line
    }

    /// The key at fault, from the root: `doc_mapping.field_mappings[2].tokenizer`; may be empty.
    pub fn key_path(&self) -> &str {
        &self.key_path
    }

    /// What is wrong, without the position.
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
