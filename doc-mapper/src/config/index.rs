//! The index config as plain data. How it is read is in `read.rs`; what must hold in `validate.rs`.

use serde::{Deserialize, Deserializer, Serialize};

use super::field::serialize_dynamic;
use super::node::Node;
use super::{
    ConfigError, CustomTokenizer, FieldMapping, IndexingSettings, IngestSettings, RetentionPolicy,
    kept_fields, read, validate,
};

/// The index config. Reading one always validates it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexConfig {
    /// Of the file format: `0.4` to `0.9`.
    pub version: String,
    /// The name of the index.
    pub index_id: String,
    /// Where its splits are; the caller's default when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_uri: Option<String>,
    /// How documents become fields.
    pub doc_mapping: DocMapping,
    /// How queries find their fields.
    pub search_settings: SearchSettings,
    /// How splits are made.
    pub indexing_settings: IndexingSettings,
    /// Accepted for Quickwit's sake.
    pub ingest_settings: IngestSettings,
    /// How long documents are kept; for ever when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionPolicy>,
}

/// How documents become fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DocMapping {
    /// Quickwit's identity of a mapping; kept, never made up here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_mapping_uid: Option<String>,
    /// What becomes of a field that is not mapped.
    pub mode: Mode,
    /// How unmapped fields are indexed; present exactly in dynamic mode.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_dynamic"
    )]
    pub dynamic_mapping: Option<FieldMapping>,
    /// The tokenizers that fields may name beside the built-in ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokenizers: Vec<CustomTokenizer>,
    /// The mapped fields, in the order hits show them.
    pub field_mappings: Vec<FieldMapping>,
    /// Paths of mapped fields that the index got when it was there already, in the order in which it got them: their
    /// numbers follow those of all others. Only an index says this of itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_fields: Vec<String>,
    /// The path of the field that says when a document happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp_field: Option<String>,
    /// Paths whose values are kept with the split, so that a query on one may skip splits. Sorted.
    pub tag_fields: Vec<String>,
    /// Quickwit's routing expression; kept as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<String>,
    /// How many partitions a builder may make.
    pub max_num_partitions: u32,
    /// Whether `exists` queries work on fields that are not fast.
    pub index_field_presence: bool,
    /// Whether the size of each document is kept in the fast field `_doc_length`.
    pub store_document_size: bool,
    /// Whether each document is kept verbatim in the stored field `_source`.
    pub store_source: bool,
}

/// What becomes of a field that is not mapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It is left out.
    Lenient,
    /// The document is refused.
    Strict,
    /// It is indexed as `dynamic_mapping` says.
    #[default]
    Dynamic,
}

/// How queries find their fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SearchSettings {
    /// The paths a query looks into when it names no field.
    pub default_search_fields: Vec<String>,
}

impl IndexConfig {
    pub(super) fn from_node(node: &Node) -> Result<IndexConfig, ConfigError> {
        let mut config = read::index_config(node)?;
        kept_fields::add(&mut config)?;
        validate::index_config(&config)?;
        // Only now: until here errors point into the list by position.
        canter_sorting::sort(&mut config.doc_mapping.tag_fields);
        config.doc_mapping.tag_fields.dedup();
        Ok(config)
    }

    /// Reads a config from JSON text.
    ///
    /// # Errors
    /// Text that is not JSON or has a key twice, a key or a value that is not allowed, or fields that contradict each other.
    pub fn from_json(json: &[u8]) -> Result<IndexConfig, ConfigError> {
        let value = canter_names::read_json(json)
            .map_err(|e| ConfigError::new("", e.of("index config")))?;
        IndexConfig::from_written(&Node::from_json(&value))
    }

    /// A config that somebody writes: more is asked of it than of one that an index has.
    fn from_written(node: &Node) -> Result<IndexConfig, ConfigError> {
        let mut config = IndexConfig::from_node(node)?;
        validate::written_config(&config)?;
        // Whoever takes an index's config for a new one writes what the old one knew of its past.
        config.doc_mapping.added_fields.clear();
        Ok(config)
    }

    /// The canonical JSON form: equal configs give equal bytes.
    ///
    /// # Errors
    /// None in practice: every part of a config can be written as JSON.
    pub fn to_canonical_json(&self) -> Result<Vec<u8>, ConfigError> {
        serde_json::to_vec(self).map_err(|e| ConfigError::new("", e.to_string()))
    }

    /// Reads a config from YAML text. `env` answers `${NAME}`; it may always answer `None`.
    ///
    /// # Errors
    /// As [`IndexConfig::from_json`], with the line; and a variable that is not set and has no default.
    #[cfg(feature = "yaml")]
    pub fn from_yaml(
        yaml: &str,
        env: impl Fn(&str) -> Option<String>,
    ) -> Result<IndexConfig, ConfigError> {
        let node = super::yaml::parse(&super::yaml::substitute(yaml, env)?)?;
        IndexConfig::from_written(&node).map_err(|mut error| {
            error.line = error.line.or(Some(node.line_of(&error.key_path)));
            error
        })
    }
}

impl<'de> Deserialize<'de> for IndexConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IndexConfig, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        IndexConfig::from_node(&Node::from_json(&value)).map_err(serde::de::Error::custom)
    }
}
