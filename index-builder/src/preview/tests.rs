//! A suggested config takes the documents it was suggested for.

use super::*;
use crate::ingest::IngestOptions;
use crate::source::Source;
use canter_doc_mapper::IndexConfig;
use canter_formats::samples::{LAYOUTS, sample};
use std::io::Cursor;

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";

fn preview_of(config: &str, bytes: Vec<u8>, num: usize) -> Preview {
    let config =
        IndexConfig::from_yaml(config, |_| None).unwrap_or_else(|e| panic!("{e}\n{config}"));
    let options = IngestOptions {
        year: Some(2024),
        ..IngestOptions::default()
    };
    let source = Source::reader("sample", Cursor::new(bytes));
    preview(&config, &options, source, num).unwrap()
}

#[test]
fn what_is_suggested_for_a_sample_takes_every_record_of_another() {
    for format in LAYOUTS {
        let first = preview_of(ANY, sample(format, 500, 1).bytes, 1_000);
        let yaml = suggest(&first, "suggested");
        let second = preview_of(&yaml, sample(format, 300, 2).bytes, 1_000);
        let docs: Vec<_> = second
            .records
            .iter()
            .flat_map(|record| &record.docs)
            .collect();
        assert_eq!(docs.len(), 300, "{format}");
        for doc in docs {
            assert_eq!(doc.refused, None, "{format}\n{yaml}\n{}", doc.json);
        }
    }
}

#[test]
fn types_times_and_tags_are_found() {
    let line = |n: i64| {
        serde_json::json!({
            "when": format!("2024-05-01T10:00:{n:02}Z"), "@timestamp": 1_714_521_600 + n, "n": n - 5, "f": n,
            "ip": format!("10.0.0.{n}"), "level": if n % 2 == 0 { "INFO" } else { "WARN" },
            "id": format!("0123456789abcdef{n}"), "msg": "a text of words", "tags": ["a"],
            "mixed": if n % 2 == 0 { serde_json::json!(1) } else { serde_json::json!("x") },
            "deep": {"ok": true}, "a.b": 1,
        })
    };
    let lines: String = (0..50).map(|n| format!("{}\n", line(n))).collect();
    let yaml = suggest(&preview_of(ANY, lines.into_bytes(), 100), "found");
    let config = IndexConfig::from_yaml(&yaml, |_| None).unwrap();
    let types: Vec<(String, String)> = config
        .doc_mapping
        .field_mappings
        .iter()
        .map(|field| (field.name.clone(), field.type_id()))
        .collect();
    let expect = [
        ("when", "datetime"),
        ("@timestamp", "datetime"),
        ("n", "i64"),
        ("f", "u64"),
        ("ip", "ip"),
        ("level", "text"),
        ("id", "text"),
        ("msg", "text"),
        ("tags", "array<text>"),
        ("deep", "object"),
        ("a.b", "u64"),
    ];
    assert_eq!(
        types,
        expect.map(|(a, b)| (a.to_string(), b.to_string())),
        "{yaml}"
    );
    assert_eq!(
        config.doc_mapping.timestamp_field.as_deref(),
        Some("@timestamp")
    );
    assert_eq!(config.doc_mapping.tag_fields, ["level"]);
    assert_eq!(config.search_settings.default_search_fields, ["msg"]);
    assert!(
        yaml.contains("# \"mixed\": in every document; values of several types"),
        "{yaml}"
    );
    assert!(config.doc_mapping.field_mappings[6].needle);
}
