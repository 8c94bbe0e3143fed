//! Encoded documents: their values in tantivy, and their stored form.

use serde_json::json;
use tantivy::schema::document::OwnedValue;

use super::*;
use crate::config::IndexConfig;
use crate::{DocMapper, write_stored};

fn mapper(mapping: serde_json::Value) -> DocMapper {
    let config = json!({ "version": "0.8", "index_id": "docs", "doc_mapping": mapping });
    let config = IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
    DocMapper::new(&config).unwrap()
}

/// Returns a mapper with every kind of field, one of them not stored, and mapped and unmapped JSON.
fn every_kind() -> DocMapper {
    mapper(json!({
        "mode": "dynamic", "store_source": true, "index_field_presence": true, "store_document_size": true,
        "field_mappings": [
            { "name": "text", "type": "array<text>", "stored": false },
            { "name": "unsigned", "type": "u64" },
            { "name": "signed", "type": "i64" },
            { "name": "float", "type": "f64", "fast": true },
            { "name": "is", "type": "bool" },
            { "name": "at", "type": "datetime" },
            { "name": "ip", "type": "ip" },
            { "name": "raw", "type": "bytes" },
            { "name": "json", "type": "json" },
        ],
    }))
}

const LINE: &str = r#"{"text":["a","","ä\u0000"],"unsigned":18446744073709551615,"signed":-5,"float":-1.5,"is":true,
    "at":"2024-01-02T03:04:05.678Z","ip":"10.1.2.3","raw":"AP8=","json":{"a":[1,-2,null,{"b":[]}],"c":{}},
    "new":{"big":18446744073709551615,"f":1e300,"t":"2024-01-01T00:00:00Z","no":false,"s":"x"}}"#;

fn encoded(mapper: &DocMapper, line: &str) -> EncodedDoc {
    // Other bytes precede and follow the document.
    let mut bytes = b"before".to_vec();
    mapper.encode_doc(line.as_bytes(), &mut bytes).unwrap();
    let range = "before".len()..bytes.len();
    bytes.extend_from_slice(b"\xff\xff");
    EncodedDocs::new(bytes, DocShape::of(mapper.schema())).doc(range)
}

#[test]
fn tantivy_gets_every_value_of_a_document() {
    let mapper = every_kind();
    let doc = encoded(&mapper, LINE);
    let values = doc.iter_fields_and_values().map(|(field, value)| {
        let name = mapper.schema().get_field_name(field);
        (name, OwnedValue::from(value.as_value()))
    });
    let values: Vec<(&str, OwnedValue)> = values.collect();
    let all = |name: &str| -> Vec<&OwnedValue> {
        let mine = values.iter().filter(|(field, _)| *field == name);
        mine.map(|(_, value)| value).collect()
    };
    let text = |text: &str| OwnedValue::Str(text.to_owned());
    assert_eq!(all("text"), [&text("a"), &text(""), &text("ä\0")]);
    assert_eq!(all("unsigned"), [&OwnedValue::U64(u64::MAX)]);
    assert_eq!(all("signed"), [&OwnedValue::I64(-5)]);
    assert_eq!(all("float"), [&OwnedValue::F64(-1.5)]);
    assert_eq!(all("is"), [&OwnedValue::Bool(true)]);
    let time = |ns| OwnedValue::Date(DateTime::from_timestamp_nanos(ns));
    assert_eq!(all("at"), [&time(1_704_164_645_678_000_000)]);
    let ip = std::net::Ipv4Addr::new(10, 1, 2, 3).to_ipv6_mapped();
    assert_eq!(all("ip"), [&OwnedValue::IpAddr(ip)]);
    assert_eq!(all("raw"), [&OwnedValue::Bytes(vec![0, 255])]);
    let object = |entries: &[(&str, OwnedValue)]| {
        let entries = entries
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        OwnedValue::Object(entries.collect())
    };
    let inner = object(&[("b", OwnedValue::Array(Vec::new()))]);
    let items = [
        OwnedValue::I64(1),
        OwnedValue::I64(-2),
        OwnedValue::Null,
        inner,
    ];
    let json = object(&[("a", OwnedValue::Array(items.into())), ("c", object(&[]))]);
    assert_eq!(all("json"), [&json]);
    let new = object(&[
        ("big", OwnedValue::U64(u64::MAX)),
        ("f", OwnedValue::F64(1e300)),
        ("t", time(1_704_067_200_000_000_000)),
        ("no", OwnedValue::Bool(false)),
        ("s", text("x")),
    ]);
    assert_eq!(all("_dynamic"), [&object(&[("new", new)])]);
    assert_eq!(all("_source"), [&text(LINE)]);
}

#[test]
fn what_is_stored_is_what_the_schema_stores() {
    let mapper = every_kind();
    for line in [
        LINE,
        "{}",
        r#"{"text":["only"]}"#,
        r#"{"unsigned":1,"text":[],"signed":2}"#,
    ] {
        let doc = encoded(&mapper, line);
        let mut copied = Vec::new();
        doc.write_stored(&mut copied);
        let mut written = Vec::new();
        let document = doc.into_tantivy_document();
        write_stored(&document, mapper.schema(), &mut written).unwrap();
        assert_eq!(copied, written, "{line}");
    }
}

#[test]
fn nothing_is_appended_of_a_document_that_is_refused() {
    let mapper = mapper(
        json!({ "timestamp_field": "at", "mode": "strict", "field_mappings": [
        { "name": "at", "type": "datetime", "fast": true },
        { "name": "n", "type": "u64" },
    ] }),
    );
    for line in [r#"{"n":1}"#, r#"{"n":1,"m":2}"#, r#"{"n":1,"#, "\u{fffd}"] {
        let mut bytes = b"before".to_vec();
        let refused = mapper.encode_doc(line.as_bytes(), &mut bytes);
        assert!(refused.is_err(), "{line}");
        assert_eq!(bytes, b"before", "{line}");
    }
}
