//! Values that their fields do not take, in an index that ignores them: shown, not searched, and no reason to refuse a
//! document.

use serde_json::{Value, json};
use tantivy::schema::Value as _;

use super::{mapper, reason};
use crate::{DocErrorReason, DocMapper};

fn ignoring(mode: &str) -> DocMapper {
    mapper(json!({
        "mode": mode, "ignore_malformed": true, "timestamp_field": "ts",
        "field_mappings": [
            {"name": "ts", "type": "datetime", "input_formats": ["rfc3339"], "fast": true},
            {"name": "at", "type": "datetime", "fast": true},
            {"name": "n", "type": "u64", "fast": true},
            {"name": "ns", "type": "array<i64>"},
            {"name": "b", "type": "bool"},
            {"name": "ip", "type": "ip"},
            {"name": "text", "type": "text"},
            {"name": "json", "type": "json"},
            {"name": "hidden", "type": "u64", "stored": false},
            {"name": "obj", "type": "object", "field_mappings": [{"name": "n", "type": "u64"}]},
        ],
    }))
}

/// Returns the number of values that a document has in a field.
fn num_values(mapper: &DocMapper, doc: &Value, field: &str) -> usize {
    let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
    let field = mapper.schema().get_field(field).unwrap();
    parsed.document.get_all(field).count()
}

#[test]
fn a_malformed_value_is_shown_and_not_searched() {
    for mode in ["dynamic", "lenient", "strict"] {
        let mapper = ignoring(mode);
        for (name, value) in [
            ("at", json!("0001-01-01T00:00:00Z")),
            ("at", json!("9999-12-31T23:59:59Z")),
            ("at", json!("")),
            ("at", json!([1, {"a": [2]}])),
            ("n", json!("abc")),
            ("n", json!(-1)),
            ("n", json!({"a": {"b": 1}})),
            ("n", json!(1.5)),
            ("b", json!("yes")),
            ("ip", json!("-")),
            ("text", json!({"a": 1})),
            ("text", json!(["a", "b"])),
        ] {
            let doc = json!({"ts": "2024-05-01T10:00:00Z", name: value, "ns": [1]});
            assert_eq!(num_values(&mapper, &doc, name), 0, "{mode} {doc}");
            let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
            assert!(parsed.timestamp.is_some());
            let hit = Value::Object(mapper.doc_to_json(&parsed.document));
            assert_eq!(hit, doc, "{mode}");
        }
        for odd in [json!("text"), json!([{"n": 1}]), json!(7)] {
            let doc = json!({"ts": "2024-05-01T10:00:00Z", "obj": odd, "json": odd});
            let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
            let hit = Value::Object(mapper.doc_to_json(&parsed.document));
            assert_eq!(hit, doc, "{mode}");
        }
        let doc = json!({"ts": "2024-05-01T10:00:00Z", "hidden": "x"});
        let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
        assert_eq!(mapper.doc_to_json(&parsed.document).len(), 1);
    }
}

#[test]
fn of_a_list_the_values_count_that_fit() {
    let mapper = ignoring("dynamic");
    let doc = json!({"ts": "2024-05-01T10:00:00Z", "ns": [1, "x", [2], {"a": 1}, 3]});
    assert_eq!(num_values(&mapper, &doc, "ns"), 2);
    let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
    assert_eq!(Value::Object(mapper.doc_to_json(&parsed.document)), doc);
}

#[test]
fn a_text_field_has_numbers_as_text_and_a_hit_shows_the_numbers() {
    let mapper = ignoring("lenient");
    for (value, text) in [
        (json!(17), "17"),
        (json!(true), "true"),
        (json!(-0.5), "-0.5"),
    ] {
        let doc = json!({"ts": "2024-05-01T10:00:00Z", "text": value});
        let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
        let field = mapper.schema().get_field("text").unwrap();
        let found = parsed
            .document
            .get_first(field)
            .and_then(|value| value.as_str());
        assert_eq!(found, Some(text));
        assert_eq!(Value::Object(mapper.doc_to_json(&parsed.document)), doc);
    }
}

#[test]
fn a_document_without_a_usable_timestamp_has_none_until_it_is_given_one() {
    let mapper = ignoring("dynamic");
    for doc in [
        json!({"n": 1}),
        json!({"ts": null, "n": 1}),
        json!({"ts": "", "n": 1}),
        json!({"ts": "0001-01-01T00:00:00Z", "n": 1}),
        json!({"ts": ["2024-05-01T10:00:00Z"], "n": 1}),
    ] {
        let mut encoded = Vec::new();
        let timestamp = mapper
            .encode_doc(doc.to_string().as_bytes(), &mut encoded)
            .unwrap();
        assert_eq!(timestamp, None, "{doc}");
        assert_eq!(
            mapper.add_timestamp(1_714_557_600_000_000_000, &mut encoded),
            1_714_557_600_000_000_000
        );
    }
}

#[test]
fn what_is_no_document_is_refused_all_the_same() {
    let mapper = ignoring("dynamic");
    assert_eq!(reason(&mapper, "[1]"), DocErrorReason::NotAnObject);
    assert_eq!(reason(&mapper, "{"), DocErrorReason::NotJson);
    let deep = format!(
        "{{\"ts\": \"2024-05-01T10:00:00Z\", \"n\": {}{}}}",
        "[".repeat(80),
        "]".repeat(80)
    );
    assert_eq!(reason(&mapper, &deep), DocErrorReason::TooDeep);
    assert_eq!(
        reason(&mapper, r#"{"n": "a", "n": "b"}"#),
        DocErrorReason::DuplicateKey
    );
}
