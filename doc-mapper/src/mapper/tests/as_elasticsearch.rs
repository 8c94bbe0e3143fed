//! Documents as Elasticsearch reads them, in an index whose mapping came from there.

use serde_json::{Value, json};
use tantivy::schema::OwnedValue;

use super::mapper;
use crate::DocMapper;

fn elastic() -> DocMapper {
    mapper(json!({
        "mode": "dynamic", "coerce": true, "store_source": true,
        "field_mappings": [
            {"name": "n", "type": "array<i64>", "null_value": -1},
            {"name": "small", "type": "array<i64>", "width": "i8", "ignore_malformed": true},
            {"name": "half", "type": "array<f64>", "width": "f16"},
            {"name": "price", "type": "array<f64>", "scaling_factor": 100},
            {"name": "big", "type": "array<u64>", "ignore_malformed": true},
            {"name": "at", "type": "array<datetime>", "input_formats": ["date_optional_time", "unix_timestamp_millis"]},
            {"name": "o", "type": "object", "field_mappings": [
                {"name": "p", "type": "array<i64>"},
                {"name": "deep", "type": "object", "field_mappings": [{"name": "q", "type": "array<i64>"}]},
            ]},
            {"name": "list", "type": "object", "field_mappings": [
                {"name": "of", "type": "nested", "field_mappings": [{"name": "x", "type": "array<i64>"}]},
            ]},
            {"name": "one", "type": "object", "field_mappings": [{"name": "x", "type": "i64"}]},
            {"name": "_ignored", "type": "array<text>", "tokenizer": "raw", "fast": true},
            {"name": "short", "type": "array<text>", "tokenizer": "raw", "fast": true, "ignore_above": 3},
            {"name": "all", "type": "concatenate", "concatenate_fields": ["n"]},
        ],
    }))
}

fn values(document: &Value, field: &str) -> Vec<OwnedValue> {
    let mapper = elastic();
    let parsed = mapper.parse_doc(document.to_string().as_bytes()).unwrap();
    let field = mapper.schema().get_field(field).unwrap();
    parsed.document.get_all(field).map(Into::into).collect()
}

#[test]
fn documents_are_read_as_elasticsearch_documents_it() {
    let integers = |numbers: &[i64]| -> Vec<OwnedValue> {
        numbers.iter().copied().map(OwnedValue::from).collect()
    };
    for (document, field, expect) in [
        (
            json!({"o": [{"p": 1}, {"p": [2, 3]}, {}, null]}),
            "o.p",
            &[1, 2, 3][..],
        ),
        (
            json!({"o": [{"deep": [{"q": 1}, {"q": 2}]}]}),
            "o.deep.q",
            &[1, 2],
        ),
        (json!({"o.p": 1}), "o.p", &[1]),
        (json!({"o.deep.q": [4]}), "o.deep.q", &[4]),
        (
            json!({"o.deep": {"q": 5}, "o": {"deep.q": 6}}),
            "o.deep.q",
            &[5, 6],
        ),
        (json!({"n": [1, [2, [3]], ""]}), "n", &[1, 2, 3, -1]),
        (
            json!({"n": "", "small": ["", 127, 128, -128.9]}),
            "small",
            &[127, -128],
        ),
    ] {
        assert_eq!(values(&document, field), integers(expect), "{document}");
    }
    let float = |number: f64| vec![OwnedValue::from(number)];
    assert_eq!(
        values(&json!({"half": 0.1}), "half"),
        float(0.099_975_585_937_5)
    );
    assert_eq!(values(&json!({"price": "1.006"}), "price"), float(1.01));
    // As OpenSearch has it; a negative fraction is below all numbers of the field.
    assert_eq!(
        values(&json!({"big": ["18446744073709551614.5", 1.5]}), "big"),
        [u64::MAX - 1, 1].map(OwnedValue::from)
    );
    assert_eq!(values(&json!({"big": -0.5}), "big"), []);
    let text = |text: &str| OwnedValue::from(text.to_owned());
    assert_eq!(
        values(&json!({"big": [-1.5, 2]}), "_ignored"),
        [text("big")]
    );
    assert_eq!(
        values(&json!({"short": ["abcd", "abc"]}), "_ignored"),
        [text("short")]
    );
    assert_eq!(values(&json!({"n": 7, "all": "own"}), "all").len(), 2);
    let date = |secs| OwnedValue::from(tantivy::DateTime::from_timestamp_secs(secs));
    let at = json!({"at": ["2024", 2024, 1000, "2024-05"]});
    let (year, month) = (1_704_067_200, 1_714_521_600);
    assert_eq!(
        values(&at, "at"),
        [date(year), date(year), date(1), date(month)]
    );
}

#[test]
fn what_elasticsearch_refuses_is_refused() {
    let mapper = elastic();
    for document in [
        // A field with one value takes no list of objects.
        json!({"one": [{"x": 1}, {"x": 2}]}),
        json!({"half": 70_000}),
        json!({"o": [1]}),
        json!({"at": "20240501"}),
    ] {
        let parsed = mapper.parse_doc(document.to_string().as_bytes());
        let is_date = document.get("at").is_some();
        // Digits are milliseconds, as they are for Elasticsearch.
        assert_eq!(parsed.is_err(), !is_date, "{document}");
    }
}

#[test]
fn values_are_shown_as_their_fields_have_them() {
    let mapper = elastic();
    for (name, value, expect) in [
        ("n", json!("42.7"), Some(json!(42))),
        ("n", json!(null), Some(json!(-1))),
        ("n", json!(""), Some(json!(-1))),
        ("small", json!(300), None),
        ("half", json!(0.1), Some(json!(0.099_975_586))),
        ("price", json!(0.126), Some(json!(0.13))),
        ("short", json!("abcd"), None),
        ("short", json!(7), Some(json!("7"))),
    ] {
        assert_eq!(mapper.value_as(name, &value), expect, "{name} {value}");
    }
}

#[test]
fn objects_of_lists_are_found_behind_dots() {
    let mapper = elastic();
    for document in [
        r#"{"list":{"of":[{"x":1},{"x":2}]}}"#,
        r#"{"list.of":[{"x":1},{"x":2}]}"#,
        r#"{"list":[{"of":{"x":1}},{"of":[{"x":2}]}]}"#,
        r#"{"list":{"of":{"x":1}},"list.of":{"x":2}}"#,
    ] {
        let objects = mapper.objects_at(document, "list.of");
        assert_eq!(objects, [r#"{"x":1}"#, r#"{"x":2}"#], "{document}");
        assert_eq!(mapper.objects_at(document, "list.of.x"), [""; 0]);
    }
}
