//! Fields of documents that are kept despite an error. They are ordinary mapped fields, which an
//! index with `on_error: keep` always has, so that readers of an index need no special case.

use tantivy::schema::IndexRecordOption;

use super::read::node::Result;
use super::{
    ConfigError, FieldKind, FieldMapping, IndexConfig, IngestSettings, Normalizer, OnError,
    TextKind,
};
use crate::mapper::{PARSE_ERROR_FIELD, PARSE_MESSAGE_FIELD, RAW_FIELD};

/// Adds the missing ones at the end, where they do not change the numbers of other fields, and adds
/// `_raw` to the default search fields, if there are any.
pub(super) fn add(config: &mut IndexConfig) -> Result<()> {
    let IngestSettings { on_error, .. } = config.ingest_settings;
    if on_error != OnError::Keep {
        return Ok(());
    }
    let fields = &mut config.doc_mapping.field_mappings;
    for (name, is_words) in [
        (RAW_FIELD, true),
        (PARSE_ERROR_FIELD, false),
        (PARSE_MESSAGE_FIELD, true),
    ] {
        match fields.iter().find(|field| field.name == name) {
            None => fields.push(text(name, is_words)),
            Some(field) if matches!(field.kind, FieldKind::Text(_)) => {}
            Some(field) => {
                let message = format!(
                    "field {name:?} has the type {}: with \"on_error: keep\" it must be text, or not be named",
                    field.type_id()
                );
                return Err(ConfigError::new("doc_mapping.field_mappings", message));
            }
        }
    }
    let default = &mut config.search_settings.default_search_fields;
    if !default.is_empty() && !default.iter().any(|field| field == RAW_FIELD) {
        default.push(RAW_FIELD.to_string());
    }
    Ok(())
}

/// Creates a text field, indexed by words or as a single term.
fn text(name: &str, is_words: bool) -> FieldMapping {
    let (tokenizer, record) = match is_words {
        true => ("default", IndexRecordOption::WithFreqsAndPositions),
        false => ("raw", IndexRecordOption::Basic),
    };
    FieldMapping {
        name: name.to_string(),
        description: None,
        multi_valued: false,
        stored: true,
        indexed: true,
        fast: (!is_words).then_some(Normalizer::Raw),
        scanned: false,
        by_values: false,
        ignore_above: None,
        null_value: None,
        constant: None,
        ignore_malformed: false,
        needle: false,
        sub_fields: Vec::new(),
        aliases: Vec::new(),
        counted_by: None,
        kind: FieldKind::Text(TextKind {
            tokenizer: tokenizer.to_string(),
            search_tokenizer: None,
            record,
            fieldnorms: false,
            variants: Vec::new(),
            whole_values: Vec::new(),
            completion: None,
        }),
    }
}
