//! Documents that are handed over member by member: the same bytes as those of their JSON, or none.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::mapper;
use crate::DocMapper;

fn of_mode(mode: &str, ignores_malformed: bool, others: Value) -> DocMapper {
    let mut mapping = json!({
        "mode": mode, "ignore_malformed": ignores_malformed, "timestamp_field": "ts", "index_field_presence": true,
        "field_mappings": [
            {"name": "ts", "type": "datetime", "input_formats": ["rfc3339"], "fast": true},
            {"name": "level", "type": "text", "tokenizer": "raw", "fast": true},
            {"name": "message", "type": "text", "record": "position", "fields": {"raw": {"tokenizer": "raw"}}},
            {"name": "n", "type": "f64", "fast": true},
            {"name": "tags", "type": "array<text>"},
            {"name": "obj", "type": "object", "field_mappings": [{"name": "n", "type": "u64"}]},
            {"name": "all", "type": "concatenate", "concatenate_fields": ["level", "message"]},
        ],
    });
    for (key, value) in others.as_object().unwrap() {
        mapping[key] = value.clone();
    }
    mapper(mapping)
}

/// A member whose value is JSON, or a text if that is no string.
type Member = (&'static str, Value);

/// Returns whether a document was encoded by its members, after checking that it is as its JSON is encoded.
fn is_encoded(mapper: &DocMapper, members: &[Member]) -> bool {
    let line: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{}:{value}", json!(name)))
        .collect();
    let line = format!("{{{}}}", line.join(","));
    let mut expected = b"before".to_vec();
    let of_json = mapper.encode_doc(line.as_bytes(), &mut expected);
    let mut encoded = b"before".to_vec();
    let found = mapper.encode_members(&mut encoded, |encoder| {
        for (name, value) in members {
            match value.as_str() {
                Some(text) => encoder.string(name, text),
                None => encoder.json(name, &value.to_string()),
            }
        }
        true
    });
    match found {
        Some(timestamp) => {
            assert_eq!(timestamp, of_json.unwrap(), "{line}");
            assert_eq!(encoded, expected, "{line}");
        }
        None => assert_eq!(encoded, b"before", "{line}"),
    }
    found.is_some()
}

#[test]
fn what_needs_the_json_of_a_document_is_left_to_it() {
    let time = || ("ts", json!("2024-05-01T10:00:00.123+02:00"));
    let none = || json!({});
    let lenient = of_mode("lenient", false, none());
    let dynamic = of_mode("dynamic", true, none());
    let text = || ("message", json!("\"quoted\"\n\u{0}tab\té\u{1f600}"));
    let check = |mapper: &DocMapper, members: &[Member], expected: bool| {
        assert_eq!(is_encoded(mapper, members), expected, "{members:?}");
    };
    for mapper in [&lenient, &dynamic] {
        check(mapper, &[time(), text(), ("n", json!(1.5))], true);
        check(mapper, &[("tags", json!("a")), time()], true);
        // Twice, and an object by its name.
        check(mapper, &[time(), text(), text()], false);
        check(mapper, &[time(), ("obj", json!("x"))], false);
        check(mapper, &[time(), ("n", json!("no number"))], false);
    }
    check(&lenient, &[time(), ("other", json!("x"))], true);
    check(&dynamic, &[time(), ("other", json!("x"))], false);
    check(&lenient, &[time(), ("all", json!("x"))], true);
    check(&lenient, &[text()], false);
    check(&dynamic, &[text()], true);
    let places = json!([
        {"name": "ts", "type": "datetime", "input_formats": ["rfc3339"], "fast": true},
        {"name": "message", "type": "text"},
        {"name": "at", "type": "geo_point"},
    ]);
    for others in [
        json!({"field_mappings": places}),
        json!({"store_source": true}),
        json!({"store_document_size": true}),
    ] {
        let mapper = of_mode("lenient", false, others);
        check(&mapper, &[time(), text()], false);
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        ".{0,20}".prop_map(Value::from),
        "2024-0[1-9]-0[0-9]T1[0-9]:00:0[0-9](\\.[0-9]{1,9})?(Z|\\+0[0-9]:30)".prop_map(Value::from),
        (0_u32..1_000).prop_map(|number| json!(f64::from(number) / 8.0)),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ]
}

proptest! {
    #[test]
    fn members_are_encoded_as_their_json(
        names in proptest::sample::subsequence(
            vec!["ts", "level", "message", "n", "tags", "obj", "all", "other"], 1..8),
        values in proptest::collection::vec(value(), 9),
        mode in 0_usize..3,
        ignores in any::<bool>(),
    ) {
        let mapper = of_mode(["lenient", "strict", "dynamic"][mode], ignores, json!({}));
        let members: Vec<Member> = names.into_iter().zip(values).collect();
        is_encoded(&mapper, &members);
    }
}
