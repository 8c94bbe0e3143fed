//! Arbitrary bytes never cause a panic, and accepted documents can be shown and parsed again.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn everything() -> DocMapper {
    mapper(
        json!({ "store_source": true, "index_field_presence": true, "field_mappings": [
        { "name": "t", "type": "text" }, { "name": "i", "type": "i64" }, { "name": "u", "type": "array<u64>" },
        { "name": "f", "type": "f64" }, { "name": "b", "type": "bool" }, { "name": "p", "type": "ip" },
        { "name": "d", "type": "datetime", "input_formats":
            ["rfc3339", "rfc2822", "iso8601", "unix_timestamp", "%Y-%m-%d %H:%M:%S%.f %z"] },
        { "name": "y", "type": "bytes", "input_format": "hex" }, { "name": "j", "type": "array<json>" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "t", "type": "text" }] },
    ] }),
    )
}

/// Generates JSON-like text with the mapped keys, so that values reach their fields.
fn json_like() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| n.to_string()),
        Just("null".to_string()),
        Just("true".to_string()),
        "[-0-9.e+]{1,12}",
        "\"[-+:.TZ0-9 ]{0,30}\"",
        "[ -~]{0,12}".prop_map(|s| json!(s).to_string()),
        any::<String>().prop_map(|s| json!(s).to_string()),
    ];
    let value = scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|v| format!("[{}]", v.join(","))),
            prop::collection::vec(("[a-z.]{1,2}", inner), 0..4).prop_map(|v| {
                let entries: Vec<String> = v.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    });
    prop::collection::vec(("[tiufbpdyjoxz]", value), 0..5).prop_map(|v| {
        let entries: Vec<String> = v.iter().map(|(k, v)| format!("\"{k}\":{v}")).collect();
        format!("{{{}}}", entries.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = everything().parse_doc(&bytes);
    }

    #[test]
    fn json_never_panics_and_what_is_accepted_is_shown(line in json_like()) {
        let mapper = everything();
        if let Ok(parsed) = mapper.parse_doc(line.as_bytes()) {
            let hit = mapper.doc_to_json(&parsed.document);
            prop_assert!(hit.contains_key("_source"));
        }
    }

    #[test]
    fn a_path_never_panics(path in "[a-z.\\\\_]{0,12}") {
        let mapper = everything();
        let _ = (mapper.resolve(&path), mapper.resolve_all(&path), mapper.field_presence_hash(&path));
    }

    #[test]
    fn a_date_literal_never_panics(text in "[-+:.TZ0-9WeE \\[\\]]{0,40}") {
        let _ = crate::parse_datetime_literal(&text);
    }
}
