//! From text to a config that is valid.

use serde::{Deserialize, Deserializer};

use super::document;
use super::node::Node;
use super::tokenizer::custom_tokenizer;
#[cfg(feature = "yaml")]
use super::yaml;
use crate::config::{ConfigError, CustomTokenizer, IndexConfig, kept_fields, validate};

impl IndexConfig {
    pub(in crate::config) fn from_node(node: &Node) -> Result<IndexConfig, ConfigError> {
        let mut config = document::index_config(node)?;
        kept_fields::add(&mut config)?;
        validate::index_config(&config)?;
        // Sorted last, because errors refer to positions in the list.
        canter_sorting::sort(&mut config.doc_mapping.tag_fields);
        config.doc_mapping.tag_fields.dedup();
        Ok(config)
    }

    /// Parses a config from JSON.
    ///
    /// # Errors
    /// The text is not JSON or has a duplicate key, a key or value is not allowed, or fields
    /// contradict each other.
    pub fn from_json(json: &[u8]) -> Result<IndexConfig, ConfigError> {
        let value = canter_names::read_json(json)
            .map_err(|e| ConfigError::new("", e.of("index config")))?;
        IndexConfig::from_written(&Node::from_json(&value))
    }

    /// Reads a config written by a user, which must satisfy more than that of an existing index.
    fn from_written(node: &Node) -> Result<IndexConfig, ConfigError> {
        let mut config = IndexConfig::from_node(node)?;
        validate::written_config(&config)?;
        // A config copied from an index contains that index's history, which a new index does not
        // have.
        config.doc_mapping.added_fields.clear();
        Ok(config)
    }

    /// Parses a config from YAML. `env` resolves `${NAME}`; it may always return `None`.
    ///
    /// # Errors
    /// As [`IndexConfig::from_json`], with the line; or a variable is unset and has no default.
    #[cfg(feature = "yaml")]
    pub fn from_yaml(
        yaml: &str,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<IndexConfig, ConfigError> {
        let node = yaml::parse(&yaml::substitute(yaml, env)?)?;
        IndexConfig::from_written(&node).map_err(|mut error| {
            error.line = error.line.or(Some(node.line_of(&error.key_path)));
            error
        })
    }
}

impl CustomTokenizer {
    /// Reads a tokenizer in the form that it has in a config.
    ///
    /// # Errors
    /// A key or value is not allowed.
    pub fn from_json(definition: &serde_json::Value) -> Result<Self, ConfigError> {
        custom_tokenizer(&Node::from_json(definition), "")
    }
}

impl<'de> Deserialize<'de> for IndexConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IndexConfig, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        IndexConfig::from_node(&Node::from_json(&value)).map_err(serde::de::Error::custom)
    }
}
