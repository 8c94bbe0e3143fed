//! Index config as plain data. `read/load.rs` parses it, and `validate.rs` checks it.

use serde::Serialize;

use super::field::serialize_dynamic;
use crate::config::{
    ConfigError, CustomTokenizer, FieldMapping, IndexingSettings, IngestSettings, RetentionPolicy,
};

/// Index config. Reading one always validates it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct IndexConfig {
    /// Version of the file format, from `0.4` to `0.9`.
    pub version: String,
    /// Name of the index.
    pub index_id: String,
    /// Location of the splits; the caller chooses a default for `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_uri: Option<String>,
    /// Mapping of documents to fields.
    pub doc_mapping: DocMapping,
    /// Settings for queries.
    pub search_settings: SearchSettings,
    /// Settings for building splits.
    pub indexing_settings: IndexingSettings,
    /// Settings for ingestion, some of which exist only for Quickwit's sake.
    pub ingest_settings: IngestSettings,
    /// Retention of documents; `None` keeps them forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<RetentionPolicy>,
}

/// Mapping of documents to fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DocMapping {
    /// Quickwit's identity of a mapping; kept if given, never generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doc_mapping_uid: Option<String>,
    /// Treatment of unmapped fields.
    pub mode: Mode,
    /// Indexing of unmapped fields, in dynamic mode only.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "serialize_dynamic"
    )]
    pub dynamic_mapping: Option<FieldMapping>,
    /// Tokenizers that fields may name besides the built-in ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokenizers: Vec<CustomTokenizer>,
    /// Mapped fields, in the order in which hits show them.
    pub field_mappings: Vec<FieldMapping>,
    /// Paths of mapped fields that were added to an existing index, in the order of addition: their
    /// numbers follow those of all others. Only the config of an index has this key.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_fields: Vec<String>,
    /// Name of the field that identifies a document: a newer document replaces the one with the same value. At the root, a
    /// text with the tokenizer `raw`. Quickwit does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_field: Option<String>,
    /// Path of the timestamp field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp_field: Option<String>,
    /// Paths whose values are stored with the split, so that queries on them can skip splits.
    /// Sorted.
    pub tag_fields: Vec<String>,
    /// Quickwit's routing expression, kept unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition_key: Option<String>,
    /// Maximum number of partitions that a builder creates.
    pub max_num_partitions: u32,
    /// True if `exists` queries work on fields that are not fast.
    pub index_field_presence: bool,
    /// True if the size of each document is stored in the fast field `_doc_length`.
    pub store_document_size: bool,
    /// True if each document is stored verbatim in the field `_source`.
    pub store_source: bool,
    /// True if a document is accepted despite a value that its field does not accept: the value is not indexed, and
    /// hits show it unchanged. Corresponds to Elasticsearch's `index.mapping.ignore_malformed`; Quickwit has no such
    /// setting.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_malformed: bool,
    /// Whether values are converted to the type of their field as in Elasticsearch: numbers and booleans to text,
    /// `"true"` and `"false"` to booleans, and numbers with a fraction to integers where fields have `coerce`.
    /// Quickwit does not know it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub coerce: bool,
    /// True if a text that is not mapped is no date, whatever it says: Elasticsearch's `date_detection: false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dates_as_texts: bool,
    /// True if a text that is not mapped is a number where it reads as one: Elasticsearch's `numeric_detection`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub texts_as_numbers: bool,
    /// The parts of documents that Elasticsearch's API shows as `_source`; all if absent. The rest is stored and searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_source: Option<ShownSource>,
    /// The mapping as it was put through Elasticsearch's API, as JSON, to be shown again. Besides, it says which names
    /// are aliases of fields, and that queries may name a field that there is not. Only the config of an index that such
    /// a mapping made has this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elasticsearch_mapping: Option<String>,
}

/// The parts of documents that hits show, as Elasticsearch's `_source` of a mapping has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShownSource {
    /// Paths that are shown, in which `*` matches any text; all if empty.
    pub includes: Vec<String>,
    /// Paths that are left out.
    pub excludes: Vec<String>,
    /// Paths of the fields whose passages are shown nevertheless: Elasticsearch would store them by themselves.
    pub stored_fields: Vec<String>,
}

/// Treatment of unmapped fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They are ignored.
    Lenient,
    /// The document is refused.
    Strict,
    /// They are indexed by `dynamic_mapping`.
    #[default]
    Dynamic,
}

/// Settings for queries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SearchSettings {
    /// Paths that queries without a field search.
    pub default_search_fields: Vec<String>,
    /// Maximum length of a text in which Elasticsearch's API looks for passages, in characters, unless a request sets
    /// another; unlimited if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_analyzed_offset: Option<u32>,
    /// Paths of the fields to which the limit applies only if they are highlighted plainly.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields_with_offsets: Vec<String>,
    /// Maximum number of slices of a scroll, if it is not 1,024.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_slices_per_scroll: Option<u32>,
}

impl IndexConfig {
    /// Serializes the config to its canonical JSON: equal configs give equal bytes.
    ///
    /// # Errors
    /// Never in practice: every config can be serialized.
    pub fn to_canonical_json(&self) -> Result<Vec<u8>, ConfigError> {
        serde_json::to_vec(self).map_err(|e| ConfigError::new("", e.to_string()))
    }
}
