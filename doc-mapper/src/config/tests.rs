//! Valid configs, and invalid ones with the line, the key and the allowed values in the error.

use serde_json::json;

use super::*;

mod kept;
mod refused;
mod text;

fn load(yaml: &str) -> Result<IndexConfig, ConfigError> {
    IndexConfig::from_yaml(yaml, |name| {
        (name == "BUCKET").then(|| "s3://logs".to_string())
    })
}

/// Mapping of Quickwit's HDFS tutorial.
const HDFS: &str = "
version: 0.8

index_id: hdfs-logs

doc_mapping:
  field_mappings:
    - name: timestamp
      type: datetime
      input_formats:
        - unix_timestamp
      output_format: unix_timestamp_secs
      fast_precision: seconds
      fast: true
    - name: tenant_id
      type: u64
    - name: severity_text
      type: text
      tokenizer: raw
    - name: body
      type: text
      tokenizer: default
      record: position
    - name: resource
      type: json
      tokenizer: raw
  tag_fields: [tenant_id]
  timestamp_field: timestamp

search_settings:
  default_search_fields: [severity_text, body]
";

#[test]
fn the_hdfs_tutorial_loads() {
    let config = load(HDFS).unwrap();
    assert_eq!(
        (config.version.as_str(), config.index_id.as_str()),
        ("0.8", "hdfs-logs")
    );
    let mapping = &config.doc_mapping;
    assert_eq!(mapping.mode, Mode::Dynamic);
    assert_eq!(mapping.timestamp_field.as_deref(), Some("timestamp"));
    assert_eq!(mapping.tag_fields, ["tenant_id"]);
    let types: Vec<String> = mapping
        .field_mappings
        .iter()
        .map(FieldMapping::type_id)
        .collect();
    assert_eq!(types, ["datetime", "u64", "text", "text", "json"]);
    assert!(mapping.field_mappings.iter().all(|f| f.stored && f.indexed));
    assert_eq!(
        config.search_settings.default_search_fields,
        ["severity_text", "body"]
    );
    assert_eq!(config.indexing_settings, IndexingSettings::default());
    crate::DocMapper::new(&config).unwrap();
}

#[test]
fn every_section_loads_with_its_settings() {
    let config = load(
        "version: '0.7'
index_id: full
index_uri: ${BUCKET}/full
doc_mapping:
  mode: lenient
  field_mappings:
    - {name: ts, type: datetime, fast: true, precision: milliseconds, description: when}
    - name: severity
      type: text
      tokenizer: raw
      fast:
        - tokenizer: lowercase
    - name: service
      type: text
      tokenizer: raw
      fast: {normalizer: lowercase}
    - name: resource
      type: object
      field_mappings:
        - {name: id, type: array<bytes>}
  tag_fields: [service]
  timestamp_field: ts
  partition_key: hash_mod(service, 10)
  max_num_partitions: 100
  index_field_presence: true
  store_source: true
  document_length: true
  tokenizers: []
search_settings:
  default_search_fields: []
indexing_settings:
  commit_timeout_secs: 30
  docstore_blocksize: 1000000
  docstore_compression_level: 8
  split_num_docs_target: 5000000
  merge_policy:
    type: limit_merge
    merge_factor: 10
    max_merge_ops: 3
    maturation_period: 48 hours
  resources:
    heap_size: 1.5GB
ingest_settings:
  min_shards: 2
retention:
  period: 90 days
  schedule: daily
",
    )
    .unwrap();
    assert_eq!(config.index_uri.as_deref(), Some("s3://logs/full"));
    let mapping = &config.doc_mapping;
    assert_eq!(mapping.field_mappings[1].fast, Some(Normalizer::Lowercase));
    assert_eq!(mapping.field_mappings[2].fast, Some(Normalizer::Lowercase));
    assert_eq!(mapping.max_num_partitions, 100);
    assert!(mapping.index_field_presence && mapping.store_source && mapping.store_document_size);
    let settings = &config.indexing_settings;
    assert_eq!(
        (settings.docstore_blocksize, settings.split_num_docs_target),
        (1_000_000, 5_000_000)
    );
    assert_eq!(settings.resources.heap_size, 1_500_000_000);
    assert_eq!(
        settings.merge_policy.maturation_period().unwrap().as_secs(),
        48 * 3600
    );
    assert_eq!(
        config.retention.as_ref().unwrap().period().as_secs(),
        90 * 86_400
    );
    let mapper = crate::DocMapper::new(&config).unwrap();
    assert_eq!(mapper.docstore_settings().block_num_bytes, 1_000_000);
}

#[test]
fn other_tutorials_load() {
    let traces = "
version: 0.8
index_id: otel-trace-v0
doc_mapping:
  mode: lenient
  field_mappings:
    - {name: trace_id, type: bytes}
    - {name: trace_state, type: text, indexed: false}
    - {name: span_status, type: json, indexed: false}
    - {name: events, type: array<json>, tokenizer: raw}
    - {name: span_start, type: datetime, indexed: true, fast_precision: seconds, fast: true,
       input_formats: [unix_timestamp], output_format: unix_timestamp_secs}
  timestamp_field: span_start
  partition_key: service_name
indexing_settings: {commit_timeout_secs: 30}
search_settings: {default_search_fields: []}
";
    let wikipedia = "
version: 0.8
index_id: wikipedia
doc_mapping:
  field_mappings:
    - {name: title, type: text, tokenizer: default, record: position, stored: true, fieldnorms: true}
    - {name: url, type: text, tokenizer: raw}
search_settings:
  default_search_fields: [title, unmapped.field]
";
    let minimal = "version: 0.8\nindex_id: abc\ndoc_mapping: {}\n";
    let before_0_5 = "version: 0.4\nindex_id: old\ndoc_mapping:\n  field_mappings:\n    - {name: ts, type: datetime, fast: true}\nindexing_settings: {timestamp_field: ts}\n";
    for yaml in [traces, wikipedia, minimal, before_0_5] {
        crate::DocMapper::new(&load(yaml).unwrap()).unwrap();
    }
    assert_eq!(
        load(before_0_5)
            .unwrap()
            .doc_mapping
            .timestamp_field
            .as_deref(),
        Some("ts")
    );
}

#[test]
fn the_canonical_json_is_a_fixed_point() {
    let config = load(HDFS).unwrap();
    let bytes = config.to_canonical_json().unwrap();
    let again = IndexConfig::from_json(&bytes).unwrap();
    assert_eq!(again, config);
    assert_eq!(again.to_canonical_json().unwrap(), bytes);
    let through_serde: IndexConfig = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(through_serde, config);
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(
        value["doc_mapping"]["field_mappings"][3],
        json!({ "name": "body", "type": "text", "stored": true, "indexed": true, "fast": false,
            "tokenizer": "default", "record": "position", "fieldnorms": false })
    );
    assert_eq!(
        value["doc_mapping"]["dynamic_mapping"]["fast"],
        json!({ "normalizer": "raw" })
    );
}

#[test]
fn every_type_survives_the_canonical_json() {
    let fields = json!([
        { "name": "a", "type": "text", "indexed": false, "fast": true }, { "name": "b", "type": "array<i64>", "coerce": false },
        { "name": "c", "type": "f64", "output_format": "string" }, { "name": "d", "type": "bool", "stored": false },
        { "name": "e", "type": "datetime", "input_formats": ["%Y-%m-%d", "iso8601"], "output_format": "rfc2822", "fast_precision": "nanoseconds" },
        { "name": "f", "type": "ip", "fast": true }, { "name": "g", "type": "bytes", "input_format": "hex" },
        { "name": "h", "type": "json", "indexed": false, "expand_dots": false, "fast": { "normalizer": "lowercase" } },
        { "name": "i", "type": "object", "field_mappings": [{ "name": "x", "type": "u64", "description": "an x" }] },
    ]);
    for policy in [
        json!({ "type": "no_merge" }),
        json!({ "type": "stable_log", "merge_factor": 20 }),
        json!({ "type": "limit_merge", "max_finalize_split_num_docs": 5 }),
    ] {
        let config = json!({ "version": 0.9, "index_id": "all", "doc_mapping": { "field_mappings": fields }, "indexing_settings": { "merge_policy": policy } });
        let config = IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
        let again = IndexConfig::from_json(&config.to_canonical_json().unwrap()).unwrap();
        assert_eq!(again, config);
    }
}

#[test]
fn needles_are_named_and_change_no_config_without_them() {
    let load = |option: &str| {
        let yaml = format!(
            "version: 0.8\nindex_id: abc\ndoc_mapping:\n  field_mappings:\n    - {{name: o, type: object, field_mappings: [{{name: x.y, type: u64{option}}}]}}\n    - {{name: z, type: text}}\n"
        );
        load(&yaml).unwrap()
    };
    let marked = load(", needle: true");
    let again = IndexConfig::from_json(&marked.to_canonical_json().unwrap()).unwrap();
    assert_eq!(again, marked);
    let mapper = crate::DocMapper::new(&marked).unwrap();
    assert_eq!(mapper.needle_fields(), ["o.x\\.y"]);
    assert!(mapper.schema().get_field("o.x\\.y").is_ok());
    assert_eq!(load(", needle: false"), load(""));
    let json = String::from_utf8(load("").to_canonical_json().unwrap()).unwrap();
    assert!(!json.contains("needle"), "{json}");
}

#[test]
fn fast_on_an_object_is_accepted_and_changes_nothing() {
    let config = |fast: &str| {
        let yaml = format!(
            "version: 0.8\nindex_id: abc\ndoc_mapping:\n  field_mappings:\n    - {{name: o, type: object, {fast} field_mappings: [{{name: x, type: u64}}]}}\n"
        );
        load(&yaml).unwrap()
    };
    assert_eq!(config("fast: true,"), config(""));
    assert_eq!(config("fast: false,"), config(""));
}

#[test]
fn variables_are_replaced_outside_comments() {
    let check = |yaml: &str, uri: &str| {
        let yaml = format!("version: 0.8\nindex_id: abc\n# ${{NOT_SET}}\nindex_uri: {yaml}\n");
        assert_eq!(load(&yaml).unwrap().index_uri.as_deref(), Some(uri));
    };
    check("${BUCKET}/x", "s3://logs/x");
    check("${ BUCKET }/x", "s3://logs/x");
    check("${NOT_SET:-file:///tmp}/x", "file:///tmp/x");
    check("${BUCKET:-file:///tmp}", "s3://logs");
    check("'$BUCKET ${not a name}'", "$BUCKET ${not a name}");
}

#[test]
fn anchors_are_followed() {
    let yaml = "
version: 0.8
index_id: anchors
doc_mapping:
  field_mappings:
    - {name: a, type: text, fast: &on true}
    - {name: b, type: text, fast: *on}
";
    assert_eq!(
        load(yaml).unwrap().doc_mapping.field_mappings[1].fast,
        Some(Normalizer::Raw)
    );
}
