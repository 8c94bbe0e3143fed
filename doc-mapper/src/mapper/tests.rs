//! Documents: accepted and refused values, and their form in hits.

use serde_json::{Value, json};

use super::*;
use crate::config::IndexConfig;
use crate::{DocErrorReason, FieldKind};

mod as_elasticsearch;
mod completions;
mod fuzz;
mod index;
mod malformed;
mod members;
mod numbering;
mod speed;
mod terms;
mod text;
mod whole_values;

fn mapper(doc_mapping: Value) -> DocMapper {
    let config = json!({ "version": "0.9", "index_id": "test", "doc_mapping": doc_mapping });
    let config = IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
    DocMapper::new(&config).unwrap()
}

fn one_field(field: Value) -> DocMapper {
    mapper(json!({ "mode": "strict", "field_mappings": [field] }))
}

#[track_caller]
fn roundtrip(mapper: &DocMapper, doc: Value) -> Value {
    let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
    Value::Object(mapper.doc_to_json(&parsed.document))
}

#[track_caller]
fn reason(mapper: &DocMapper, line: &str) -> DocErrorReason {
    mapper.parse_doc(line.as_bytes()).unwrap_err().reason()
}

/// Checks the value that a hit shows for a field `f` of a type, or the reason of the refusal.
#[track_caller]
fn check(field: Value, value: Value, expect: Result<Value, DocErrorReason>) {
    let mut field = field;
    field["name"] = json!("f");
    let mapper = one_field(field.clone());
    let line = json!({ "f": value }).to_string();
    match (mapper.parse_doc(line.as_bytes()), expect) {
        (Ok(parsed), Ok(expect)) => {
            let hit = Value::Object(mapper.doc_to_json(&parsed.document));
            let expect = if expect.is_null() {
                json!({})
            } else {
                json!({ "f": expect })
            };
            assert_eq!(hit, expect, "{field} {line}");
        }
        (Err(error), Err(expect)) => {
            assert_eq!(error.reason(), expect, "{field} {line}: {error}");
            assert_eq!(error.field(), "f");
        }
        (got, expect) => panic!("{field} {line}: expected {expect:?}, got {got:?}"),
    }
}

use DocErrorReason::*;

#[test]
fn text_takes_strings_only() {
    check(
        json!({ "type": "text" }),
        json!("Hello"),
        Ok(json!("Hello")),
    );
    check(json!({ "type": "text" }), json!(""), Ok(json!("")));
    check(
        json!({ "type": "text" }),
        json!("a\"b\n\u{1F600}"),
        Ok(json!("a\"b\n\u{1F600}")),
    );
    check(json!({ "type": "text" }), Value::Null, Ok(Value::Null));
    for wrong in [json!(1), json!(true), json!({ "a": 1 }), json!(["a"])] {
        check(json!({ "type": "text" }), wrong, Err(WrongType));
    }
    check(
        json!({ "type": "text", "stored": false }),
        json!("Hello"),
        Ok(Value::Null),
    );
}

#[test]
fn integers_keep_their_range() {
    let i64 = || json!({ "type": "i64" });
    check(i64(), json!(i64::MIN), Ok(json!(i64::MIN)));
    check(i64(), json!(i64::MAX), Ok(json!(i64::MAX)));
    check(i64(), json!("-7"), Ok(json!(-7)));
    check(i64(), json!(5.0), Ok(json!(5)));
    check(i64(), json!(u64::MAX), Err(OutOfRange));
    check(i64(), json!("9223372036854775808"), Err(OutOfRange));
    check(i64(), json!(1e300), Err(OutOfRange));
    for wrong in [
        json!(1.5),
        json!("1.5"),
        json!("seven"),
        json!(""),
        json!(true),
        json!([1]),
    ] {
        check(i64(), wrong, Err(WrongType));
    }
    let u64 = || json!({ "type": "u64" });
    check(u64(), json!(u64::MAX), Ok(json!(u64::MAX)));
    check(u64(), json!(-1), Err(OutOfRange));
    check(u64(), json!("-1"), Err(OutOfRange));
    check(u64(), json!(-2.0), Err(OutOfRange));
    let strict = || json!({ "type": "u64", "coerce": false });
    check(strict(), json!(3), Ok(json!(3)));
    check(strict(), json!("3"), Err(WrongType));
    check(strict(), json!(3.0), Err(WrongType));
    check(
        json!({ "type": "u64", "output_format": "string" }),
        json!(3),
        Ok(json!("3")),
    );
}

#[test]
fn floats_are_finite() {
    let f64 = || json!({ "type": "f64" });
    check(f64(), json!(1.25), Ok(json!(1.25)));
    check(f64(), json!(3), Ok(json!(3.0)));
    check(f64(), json!("-2.5e3"), Ok(json!(-2500.0)));
    check(f64(), json!("NaN"), Err(OutOfRange));
    check(f64(), json!("inf"), Err(OutOfRange));
    check(f64(), json!("x"), Err(WrongType));
    check(
        json!({ "type": "f64", "output_format": "string" }),
        json!(1.5),
        Ok(json!("1.5")),
    );
}

#[test]
fn bools_ips_and_bytes_are_checked() {
    check(json!({ "type": "bool" }), json!(true), Ok(json!(true)));
    check(json!({ "type": "bool" }), json!("true"), Err(WrongType));
    check(json!({ "type": "bool" }), json!(1), Err(WrongType));
    check(
        json!({ "type": "ip" }),
        json!("10.0.0.1"),
        Ok(json!("10.0.0.1")),
    );
    check(
        json!({ "type": "ip" }),
        json!("2001:db8::1"),
        Ok(json!("2001:db8::1")),
    );
    check(json!({ "type": "ip" }), json!("10.0.0.256"), Err(WrongType));
    check(json!({ "type": "bytes" }), json!("AQID"), Ok(json!("AQID")));
    check(json!({ "type": "bytes" }), json!("A"), Err(WrongType));
    let hex = || json!({ "type": "bytes", "input_format": "hex", "output_format": "hex" });
    check(hex(), json!("0102FF"), Ok(json!("0102ff")));
    check(hex(), json!("012"), Err(WrongType));
    check(hex(), json!("0x"), Err(WrongType));
    check(
        json!({ "type": "bytes", "output_format": "hex" }),
        json!("AQID"),
        Ok(json!("010203")),
    );
}

#[test]
fn dates_go_in_and_out_by_their_formats() {
    let date = |inputs: &[&str], output: &str| json!({ "type": "datetime", "input_formats": inputs, "output_format": output });
    let default = || json!({ "type": "datetime" });
    check(
        default(),
        json!("2024-05-01T10:00:00+02:00"),
        Ok(json!("2024-05-01T08:00:00Z")),
    );
    check(
        default(),
        json!("2024-05-01T10:00:00.5Z"),
        Ok(json!("2024-05-01T10:00:00.5Z")),
    );
    check(
        default(),
        json!(1714557600),
        Ok(json!("2024-05-01T10:00:00Z")),
    );
    check(
        default(),
        json!(1714557600123i64),
        Ok(json!("2024-05-01T10:00:00.123Z")),
    );
    check(
        default(),
        json!("1714557600.25"),
        Ok(json!("2024-05-01T10:00:00.25Z")),
    );
    check(default(), json!("yesterday"), Err(BadDatetime));
    check(default(), json!(true), Err(BadDatetime));
    check(default(), json!([1714557600]), Err(WrongType));
    check(default(), json!(5), Err(OutOfRange));
    check(default(), json!(u64::MAX), Err(OutOfRange));
    check(default(), json!(1e300), Err(OutOfRange));
    check(default(), json!("9999-01-01T00:00:00Z"), Err(OutOfRange));
    check(
        date(&["rfc3339"], "rfc3339"),
        json!(1714557600),
        Err(BadDatetime),
    );
    check(
        date(&["unix_timestamp"], "unix_timestamp_secs"),
        json!(1714557600.75),
        Ok(json!(1714557600)),
    );
    check(
        date(&["unix_timestamp"], "unix_timestamp_millis"),
        json!(1714557600.123),
        Ok(json!(1714557600123i64)),
    );
    check(
        date(&["%d/%b/%Y:%H:%M:%S %z"], "%Y-%m-%d"),
        json!("01/May/2024:10:00:00 +0200"),
        Ok(json!("2024-05-01")),
    );
}

#[test]
fn digits_of_unix_times_are_those_of_the_document() {
    let shown = |kind: &str, json: &str| {
        let mapper = one_field(json!({
            "name": "f", "type": kind, "input_formats": ["rfc3339", "unix_timestamp"],
            "output_format": "unix_timestamp_nanos",
        }));
        let parsed = mapper.parse_doc(format!("{{\"f\": {json} }}").as_bytes());
        mapper.doc_to_json(&parsed.unwrap().document)["f"].clone()
    };
    // The nearest double of the first two is the same.
    for (json, expect) in [
        ("1646861401.5241024", 1_646_861_401_524_102_400_i64),
        ("1646861401.524102449", 1_646_861_401_524_102_449),
        ("1.646861401524102449e9", 1_646_861_401_524_102_449),
        ("\"1646861401.524102449\"", 1_646_861_401_524_102_449),
        ("1646861401524.102449", 1_646_861_401_524_102_449),
        ("1646861401", 1_646_861_401_000_000_000),
    ] {
        assert_eq!(shown("datetime", json), json!(expect), "{json}");
        let list = format!("[ {json}, {json}]");
        assert_eq!(
            shown("array<datetime>", &list),
            json!([expect, expect]),
            "{json}"
        );
    }
}

#[test]
fn arrays_need_an_array_type() {
    check(
        json!({ "type": "array<text>" }),
        json!(["a", null, "b"]),
        Ok(json!(["a", "b"])),
    );
    check(
        json!({ "type": "array<text>" }),
        json!("a"),
        Ok(json!(["a"])),
    );
    check(json!({ "type": "array<text>" }), json!([]), Ok(Value::Null));
    check(
        json!({ "type": "array<text>" }),
        json!([["a"]]),
        Err(WrongType),
    );
    check(
        json!({ "type": "array<i64>" }),
        json!([1, "2"]),
        Ok(json!([1, 2])),
    );
    check(
        json!({ "type": "array<i64>" }),
        json!([1, "x"]),
        Err(WrongType),
    );
    check(
        json!({ "type": "array<json>" }),
        json!([{ "a": 1 }, { "b": 2 }]),
        Ok(json!([{ "a": 1 }, { "b": 2 }])),
    );
    check(
        json!({ "type": "array<ip>" }),
        json!(["::1"]),
        Ok(json!(["::1"])),
    );
}

#[test]
fn json_keeps_any_shape() {
    let value = json!({ "s": "x", "n": -1, "u": u64::MAX, "f": 1.5, "b": true, "z": null, "a": [1, ["x"], {}], "o": { "k.d": 1 } });
    check(json!({ "type": "json" }), value.clone(), Ok(value));
    check(json!({ "type": "json" }), json!({}), Ok(json!({})));
    check(
        json!({ "type": "json" }),
        json!({ "d": "2024-05-01T10:00:00+02:00" }),
        Ok(json!({ "d": "2024-05-01T10:00:00+02:00" })),
    );
    for wrong in [json!(1), json!("x"), json!([{ "a": 1 }])] {
        check(json!({ "type": "json" }), wrong, Err(WrongType));
    }
}

#[test]
fn objects_are_flattened_and_restored_in_mapping_order() {
    let mapper = mapper(json!({ "mode": "lenient", "field_mappings": [
        { "name": "resource", "type": "object", "field_mappings": [
            { "name": "service", "type": "text", "tokenizer": "raw" },
            { "name": "k8s.node", "type": "text", "tokenizer": "raw" },
            { "name": "inner", "type": "object", "field_mappings": [{ "name": "n", "type": "u64" }] },
        ] },
        { "name": "body", "type": "text" },
    ] }));
    let names: Vec<&str> = mapper
        .schema()
        .fields()
        .map(|(_, entry)| entry.name())
        .collect();
    assert_eq!(
        names[5..],
        [
            "resource.service",
            r"resource.k8s\.node",
            "resource.inner.n",
            "body"
        ]
    );
    let hit = roundtrip(
        &mapper,
        json!({ "ignored": [1, { "a": [] }], "body": "x",
        "resource": { "inner": { "n": 1 }, "k8s.node": "n1", "service": "api", "ignored": 1 } }),
    );
    let expect = r#"{"resource":{"service":"api","k8s.node":"n1","inner":{"n":1}},"body":"x"}"#;
    assert_eq!(hit.to_string(), expect);
    assert_eq!(roundtrip(&mapper, json!({ "resource": null })), json!({}));
    let error = mapper
        .parse_doc(br#"{"resource":{"inner":[1]}}"#)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"field "resource.inner": expected an object, got an array"#
    );
}

#[test]
fn dynamic_mode_keeps_what_is_not_mapped() {
    let mapper = mapper(json!({ "field_mappings": [
        { "name": "a", "type": "u64" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] },
    ] }));
    let doc = json!({ "a": 1, "o": { "x": "t", "y": [1] }, "new": { "z": true }, "when": "2024-05-01T10:00:00Z" });
    assert_eq!(roundtrip(&mapper, doc.clone()), doc);
    assert_eq!(roundtrip(&mapper, json!({})), json!({}));
}

#[test]
fn what_is_not_mapped_comes_back_as_it_was_written() {
    let mapper = mapper(json!({ "field_mappings": [
        { "name": "a", "type": "u64" }, { "name": "j", "type": "array<json>" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] },
        { "name": "blind", "type": "json", "stored": false },
    ] }));
    let check = |line: &str, expected: &str| {
        let parsed = mapper.parse_doc(line.as_bytes()).unwrap();
        assert_eq!(
            mapper.doc_to_json_text(&parsed.document),
            expected,
            "{line}"
        );
    };
    let unchanged = r#"{"a":1,"j":[{"n":1.0}],"o":{"x":"t","y":[1E3,-0]},"z":"2024-05-01T10:00:00+02:00","\u0062":null}"#;
    check(unchanged, unchanged);
    check(
        r#" { "new" : { "s" : " a : b " } , "o" : { "y" : {} , "x" : "t" }, "a" : "7" } "#,
        r#"{"a":7,"o":{"x":"t","y":{}},"new":{"s":" a : b "}}"#,
    );
    check(
        r#"{"o":{"y":18446744073709551616}}"#,
        r#"{"o":{"y":18446744073709551616}}"#,
    );
    check(r#"{"blind":{"k":1},"j":null,"o":null}"#, "{}");
    check(r#"{"j":{"k":1.50}}"#, r#"{"j":{"k":1.50}}"#);
}

#[test]
fn strict_mode_refuses_what_is_not_mapped() {
    let mapper = mapper(json!({ "mode": "strict", "field_mappings": [
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] },
    ] }));
    let error = mapper.parse_doc(br#"{"o":{"x":"1","y.z":2}}"#).unwrap_err();
    assert_eq!(error.reason(), UnknownField);
    assert_eq!(error.field(), r"o.y\.z");
}

#[test]
fn a_line_that_is_no_document_is_refused_with_its_reason() {
    let mapper = mapper(json!({}));
    let check =
        |line: &str, expect: DocErrorReason| assert_eq!(reason(&mapper, line), expect, "{line}");
    check("", NotJson);
    check("{", NotJson);
    check(r#"{"a":1}{"#, NotJson);
    check(r#"{"a":1,}"#, NotJson);
    check(r#"{"a":"\u00zz"}"#, NotJson);
    check(r#"{"a":1e999}"#, OutOfRange);
    check("[]", NotAnObject);
    check("null", NotAnObject);
    check("3", NotAnObject);
    check("\"x\"", NotAnObject);
    check("true", NotAnObject);
    assert_eq!(
        mapper.parse_doc(b"{\"a\":\"\xff\"}").unwrap_err().reason(),
        InvalidUtf8
    );
    assert!(mapper.parse_doc(b"  {\"a\":1} \r\n").is_ok());
}

#[test]
fn a_key_twice_is_refused_wherever_it_is_read() {
    let config = json!({ "field_mappings": [
        { "name": "a", "type": "u64" }, { "name": "j", "type": "json" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] },
    ] });
    let mapper = mapper(config);
    let check = |line: &str, field: &str| {
        let error = mapper.parse_doc(line.as_bytes()).unwrap_err();
        assert_eq!(
            (error.reason(), error.field()),
            (DuplicateKey, field),
            "{line}"
        );
    };
    check(r#"{"a":1,"a":2}"#, "a");
    check(r#"{"a":null,"a":2}"#, "a");
    check(r#"{"o":{"x":"1","x":"2"}}"#, "o.x");
    check(r#"{"u":1,"u":2}"#, "u");
    check(r#"{"j":{"k":{"d.t":1,"d.t":2}}}"#, r"j.k.d\.t");
    check(r#"{"u":{"k":1,"\u006b":2}}"#, "u.k");
    let many: Vec<String> = (0..40).map(|i| format!("\"k{}\":1", i % 39)).collect();
    check(&format!("{{{}}}", many.join(",")), "k0");
}

#[test]
fn nesting_is_limited_everywhere() {
    let nested = |depth: usize| format!("{}1{}", r#"{"k":"#.repeat(depth), "}".repeat(depth));
    let arrays = |depth: usize| {
        format!(
            r#"{{"k":{}{}}}"#,
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    };
    for mode in ["dynamic", "lenient"] {
        let mapper = mapper(json!({ "mode": mode }));
        for make in [&nested as &dyn Fn(usize) -> String, &arrays] {
            assert!(
                mapper
                    .parse_doc(make(MAX_DEPTH as usize).as_bytes())
                    .is_ok()
            );
            assert_eq!(reason(&mapper, &make(MAX_DEPTH as usize + 1)), TooDeep);
            assert_eq!(reason(&mapper, &make(100_000)), TooDeep);
        }
    }
    let mapper = one_field(json!({ "name": "k", "type": "json" }));
    assert!(
        mapper
            .parse_doc(nested(MAX_DEPTH as usize).as_bytes())
            .is_ok()
    );
    assert_eq!(reason(&mapper, &nested(MAX_DEPTH as usize + 1)), TooDeep);
}

#[test]
fn the_timestamp_is_required_and_truncated() {
    let mapper = mapper(json!({ "timestamp_field": "meta.ts", "field_mappings": [
        { "name": "meta", "type": "object", "field_mappings": [
            { "name": "ts", "type": "datetime", "fast": true, "fast_precision": "milliseconds" } ] },
    ] }));
    let parsed = mapper
        .parse_doc(br#"{"meta":{"ts":"2024-05-01T10:00:00.123456Z"}}"#)
        .unwrap();
    assert_eq!(
        parsed.timestamp.unwrap().into_timestamp_nanos(),
        1_714_557_600_123_000_000
    );
    assert_eq!(mapper.timestamp_field().unwrap().1, "meta.ts");
    let check = |line: &str, expect: DocErrorReason| {
        let error = mapper.parse_doc(line.as_bytes()).unwrap_err();
        assert_eq!(
            (error.reason(), error.field()),
            (expect, "meta.ts"),
            "{line}"
        );
    };
    check("{}", MissingTimestamp);
    check(r#"{"meta":{}}"#, MissingTimestamp);
    check(r#"{"meta":{"ts":null}}"#, MissingTimestamp);
    check(r#"{"meta.ts":1714557600}"#, MissingTimestamp);
    check(r#"{"meta":{"ts":"soon"}}"#, BadTimestamp);
    check(r#"{"meta":{"ts":{}}}"#, BadTimestamp);
    check(r#"{"meta":{"ts":[]}}"#, BadTimestamp);
    check(r#"{"meta":{"ts":12}}"#, OutOfRange);
}

#[test]
fn an_error_names_field_expectation_and_value() {
    let mapper = one_field(json!({ "name": "f", "type": "u64" }));
    let check = |line: &str, expect: &str| {
        assert_eq!(
            mapper.parse_doc(line.as_bytes()).unwrap_err().to_string(),
            expect
        );
    };
    check(
        r#"{"f":"a value that is much too long to be shown in an error message"}"#,
        r#"field "f": expected an integer from 0 to 2^64-1 (u64), or a string with one, got the string "a value that is much too long to be show…""#,
    );
    check(
        r#"{"g":1}"#,
        r#"field "g": the field is not mapped, and the mode is strict"#,
    );
    check(
        "nope",
        r#"not JSON: expected ident at line 1 column 2; the line starts "nope""#,
    );
}

#[test]
fn store_source_keeps_the_line_verbatim() {
    let mapper =
        mapper(json!({ "mode": "lenient", "store_source": true, "store_document_size": true }));
    let line = br#" {"b": 1.10, "a": "2024-05-01T10:00:00+02:00"}"#;
    let parsed = mapper.parse_doc(line).unwrap();
    assert_eq!(
        mapper.doc_to_json_text(&parsed.document),
        r#"{"_source":{"b": 1.10, "a": "2024-05-01T10:00:00+02:00"}}"#
    );
    let hit = Value::Object(mapper.doc_to_json(&parsed.document));
    assert_eq!(
        hit,
        json!({ "_source": { "b": 1.10, "a": "2024-05-01T10:00:00+02:00" } })
    );
    let size = parsed
        .document
        .get_first(mapper.document_size_field().unwrap())
        .unwrap();
    assert_eq!(
        tantivy::schema::Value::as_u64(&size),
        Some(line.len() as u64)
    );
}

#[test]
fn keys_that_are_names_of_the_index_are_found_or_refused_by_name() {
    let plain = mapper(json!({ "mode": "dynamic" }));
    let full = mapper(json!({
        "mode": "dynamic", "store_source": true, "store_document_size": true, "index_field_presence": true,
    }));
    // The key, and whether each mapper takes it.
    for (key, of_plain, of_full) in [
        ("_source", true, false),
        ("_dynamic", false, false),
        ("_field_presence", true, true),
        ("_doc_length", false, false),
        ("_verbatim", true, true),
        ("_raw", true, true),
        ("_id", true, true),
    ] {
        for (mapper, is_taken) in [(&plain, of_plain), (&full, of_full)] {
            for value in [json!("x"), json!({ "a": "x" })] {
                let parsed = mapper.parse_doc(json!({ key: value }).to_string().as_bytes());
                let found = mapper.resolve(&format!("{key}.a"));
                match is_taken {
                    true => {
                        let hit = mapper.doc_to_json(&parsed.unwrap().document);
                        assert!(
                            hit.contains_key(key) || hit.contains_key("_source"),
                            "{key}"
                        );
                        assert_eq!(found.unwrap().json_path, format!("{key}.a"));
                    }
                    false => {
                        let refused = parsed.unwrap_err();
                        assert_eq!(refused.reason(), DocErrorReason::ReservedName, "{key}");
                        assert_eq!(refused.field(), key);
                    }
                }
            }
            // Deeper it is a name like any other.
            let deeper = json!({ "a": { key: 1 } }).to_string();
            mapper.parse_doc(deeper.as_bytes()).unwrap();
        }
    }
}

#[test]
fn half_of_a_surrogate_pair_becomes_the_replacement_character() {
    let mapper = mapper(json!({ "mode": "dynamic", "field_mappings": [
        { "name": "t", "type": "text" },
    ] }));
    for (line, t, other) in [
        (r#"{"t":"a\ud800b","o":"\udfff"}"#, "a\u{fffd}b", "\u{fffd}"),
        (
            r#"{"t":"\ud83d\ude00","o":"\ud83d"}"#,
            "\u{1f600}",
            "\u{fffd}",
        ),
        ("{\"t\":\"a\0b\",\"o\":\"x\"}\0", "a\0b", "x"),
    ] {
        let parsed = mapper.parse_doc(line.as_bytes()).unwrap();
        let hit = Value::Object(mapper.doc_to_json(&parsed.document));
        assert_eq!(hit, json!({ "t": t, "o": other }), "{line:?}");
    }
    let refused = mapper.parse_doc(br#"{"t":"\ud800",}"#).unwrap_err();
    assert_eq!(refused.reason(), DocErrorReason::NotJson);
}

#[test]
fn the_length_of_a_document_is_a_field_only_if_it_is_kept() {
    let kept = mapper(json!({ "mode": "lenient", "store_document_size": true }));
    let length = kept.resolve("_doc_length").unwrap();
    assert!(matches!(length.kind, FieldKind::U64(_)));
    assert!(length.is_fast() && !length.indexed && !length.stored && !length.is_dynamic);
    assert_eq!(length.fast_field_name(), "_doc_length");
    assert_eq!(Some(length.field), kept.document_size_field());
    assert!(kept.resolve("_doc_length.x").is_none());
    for mode in ["lenient", "dynamic"] {
        assert!(
            mapper(json!({ "mode": mode }))
                .resolve("_doc_length")
                .is_none()
        );
    }
}

#[test]
fn presence_hashes_of_document_and_query_agree() {
    let mapper = mapper(
        json!({ "index_field_presence": true, "dynamic_mapping": { "fast": false }, "field_mappings": [
        { "name": "a", "type": "text" }, { "name": "fast", "type": "u64", "fast": true },
        { "name": "blind", "type": "u64", "indexed": false },
        { "name": "j", "type": "json" }, { "name": "e", "type": "json", "expand_dots": false },
    ] }),
    );
    let doc = br#"{"a":"x","fast":1,"blind":1,"j":{"k.d":[{"z":1}],"n":null,"o":{"p":[{},null]}},"e":{"k.d":1},"dyn":{"x":1}}"#;
    let parsed = mapper.parse_doc(doc).unwrap();
    let field = mapper.field_presence_field().unwrap();
    let hashes: Vec<u64> = parsed
        .document
        .get_all(field)
        .filter_map(|v| tantivy::schema::Value::as_u64(&v))
        .collect();
    for path in [
        "a", "j", "j.k", "j.k.d", r"j.k\.d", "j.k.d.z", "e", r"e.k\.d", "dyn", "dyn.x",
    ] {
        assert!(
            hashes.contains(&mapper.field_presence_hash(path).unwrap()),
            "{path}"
        );
    }
    // An object without values is absent.
    for path in ["j.n", "j.o", "j.o.p", "j.q", "e.k", "dyn.y", "other"] {
        assert!(
            !hashes.contains(&mapper.field_presence_hash(path).unwrap()),
            "{path}"
        );
    }
    for path in ["fast", "blind"] {
        assert_eq!(mapper.field_presence_hash(path), None);
    }
    assert!(hashes.is_sorted());
}

#[test]
fn a_path_resolves_to_its_field() {
    let dynamic = mapper(json!({ "field_mappings": [
        { "name": "body", "type": "text" }, { "name": "attrs", "type": "json", "fast": true },
        { "name": "k8s.node", "type": "text" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "u64" }, { "name": "y", "type": "u64" }] },
    ] }));
    let check = |path: &str, name: &str, json_path: &str| {
        let resolved = dynamic.resolve(path).unwrap();
        assert_eq!(
            (resolved.name, resolved.json_path.as_str()),
            (name, json_path),
            "{path}"
        );
    };
    check("body", "body", "");
    check("attrs", "attrs", "");
    check("attrs.a.b", "attrs", "a.b");
    check(r"attrs.a\.b", "attrs", r"a\.b");
    check(r"k8s\.node", r"k8s\.node", "");
    check("k8s.node", r"k8s\.node", "");
    check("o.x", "o.x", "");
    check("o.z", "_dynamic", "o.z");
    check("body.sub", "_dynamic", "body.sub");
    check("new.field", "_dynamic", "new.field");
    check("_dynamic.new", "_dynamic", "new");
    // Keys of documents: the index has no such fields, or none that a query reads.
    check("_source.a", "_dynamic", "_source.a");
    check("_field_presence", "_dynamic", "_field_presence");
    check("_verbatim.x", "_dynamic", "_verbatim.x");
    for none in ["_dynamic", "_doc_length.x", "", "a..b"] {
        assert!(dynamic.resolve(none).is_none(), "{none}");
    }
    let names: Vec<&str> = dynamic.resolve_all("o").iter().map(|f| f.name).collect();
    assert_eq!(names, ["o.x", "o.y", "_dynamic"]);
    assert_eq!(
        dynamic.resolve("attrs.a").unwrap().fast_field_name(),
        "attrs.a"
    );
    assert!(
        matches!(dynamic.resolve("body").unwrap().kind, FieldKind::Text(t) if t.tokenizer == "default")
    );
    let lenient =
        mapper(json!({ "mode": "lenient", "field_mappings": [{ "name": "a", "type": "text" }] }));
    assert!(lenient.resolve("b").is_none());
    assert!(lenient.resolve("a.b").is_none());
}
