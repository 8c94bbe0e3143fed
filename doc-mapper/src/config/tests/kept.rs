//! `on_error: keep`, and the fields that it adds to a config.

use super::*;

fn config(settings: &str, fields: &str) -> Result<IndexConfig, ConfigError> {
    let yaml = format!(
        "{{version: 0.8, index_id: kept, doc_mapping: {{mode: strict, field_mappings: [{fields}]}}, \
         search_settings: {{default_search_fields: [text]}}, ingest_settings: {{{settings}}}}}"
    );
    IndexConfig::from_yaml(&yaml, |_| None)
}

const TEXT: &str = "{name: text, type: text}";

#[test]
fn an_index_that_keeps_everything_has_fields_for_it() {
    let names = |config: &IndexConfig| -> Vec<String> {
        let fields = config.doc_mapping.field_mappings.iter();
        fields.map(|field| field.name.clone()).collect()
    };
    let without = config("on_error: rejects", TEXT).unwrap();
    assert_eq!(names(&without), ["text"]);
    assert_eq!(without, config("", TEXT).unwrap());
    // Configs without it are the same as in earlier versions.
    let json = String::from_utf8(without.to_canonical_json().unwrap()).unwrap();
    assert!(!json.contains("on_error") && !json.contains("multiline_start"));

    let keeping = config("on_error: keep, multiline_start: '^a'", TEXT).unwrap();
    assert_eq!(
        names(&keeping),
        ["text", "_raw", "_parse_error", "_parse_message"]
    );
    assert_eq!(
        keeping.search_settings.default_search_fields,
        ["text", "_raw"]
    );
    let json = keeping.to_canonical_json().unwrap();
    assert_eq!(IndexConfig::from_json(&json).unwrap(), keeping);
    let serde: IndexConfig = serde_json::from_slice(&json).unwrap();
    assert_eq!(serde, keeping);
}

#[test]
fn fields_of_that_name_stay_as_they_are_written_if_they_are_text() {
    let raw = "{name: text, type: text}, {name: _raw, type: text, tokenizer: en_stem}";
    let keeping = config("on_error: keep", raw).unwrap();
    assert_eq!(keeping.doc_mapping.field_mappings.len(), 4);
    assert!(
        keeping.doc_mapping.field_mappings[1]
            == config("", raw).unwrap().doc_mapping.field_mappings[1]
    );
    let error = config(
        "on_error: keep",
        "{name: text, type: text}, {name: _raw, type: u64}",
    );
    let error = error.unwrap_err().to_string();
    assert!(error.contains("field \"_raw\" has the type u64"), "{error}");
    let error = config("on_error: drop", TEXT).unwrap_err().to_string();
    assert!(error.contains("on_error"), "{error}");
}
