//! OTLP requests: the documents equal those of a request decoded as a whole, and limits hold.

use std::sync::Arc;

use canter_formats::{Format, Hints, Layout};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
use opentelemetry_proto::tonic::resource::v1::Resource;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::nesting::MAX_VALUES;
use super::*;

const ENCODINGS: [LogsEncoding; 2] = [LogsEncoding::Json, LogsEncoding::Protobuf];

fn read(body: &[u8], encoding: LogsEncoding) -> Result<Logs, LogsError> {
    read_logs(body, encoding, &LogsLimits::default())
}

/// Returns a request in both encodings.
fn bodies(json: &Value) -> [(Vec<u8>, LogsEncoding); 2] {
    let request: ExportLogsServiceRequest = serde_json::from_value(json.clone()).unwrap();
    [
        (json.to_string().into_bytes(), LogsEncoding::Json),
        (request.encode_to_vec(), LogsEncoding::Protobuf),
    ]
}

fn with_records(records: &[Value]) -> Value {
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
}

/// Returns a length-delimited field of protobuf.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![(number << 3) | 2];
    prost::encoding::encode_varint(content.len() as u64, &mut field);
    field.extend_from_slice(content);
    field
}

/// Returns a protobuf request with one scope, whose fields are `records`.
fn protobuf_of(records: &[u8]) -> Vec<u8> {
    field(1, &field(2, records))
}

fn messages(logs: &Logs) -> Vec<&str> {
    let documents = &logs.documents;
    let messages = documents.iter().map(|document| {
        let text = std::str::from_utf8(document).unwrap();
        let (_, text) = text.split_once("\"message\":\"").unwrap();
        text.split_once('"').unwrap().0
    });
    messages.collect()
}

/// A large resource with many small records makes a short request and long documents.
#[test]
fn what_log_records_share_is_bounded() {
    let shared = "x".repeat(1 << 20);
    for (num_records, is_taken) in [(3, true), (200, false)] {
        let request = json!({"resourceLogs": [{
            "resource": {"attributes": [{"key": "a", "value": {"stringValue": shared}}]},
            "scopeLogs": [{"logRecords": vec![json!({"timeUnixNano": "1"}); num_records]}],
        }]});
        let limits = LogsLimits {
            max_bytes: usize::MAX,
            max_made_bytes: usize::MAX,
            ..LogsLimits::default()
        };
        for (body, encoding) in bodies(&request) {
            let logs = read_logs(&body, encoding, &limits);
            assert_eq!(logs.is_ok(), is_taken, "{encoding:?}, {num_records}");
            if let Err(error) = logs {
                assert!(!error.is_too_large());
                let message = error.to_string();
                assert!(message.contains("send fewer records at once"), "{message}");
            }
        }
    }
}

/// A bare resource is no request, at any depth.
#[test]
fn what_has_no_resources_is_no_request() {
    for depth in [1, 200] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let body = format!("{{\"scopeLogs\":[{{\"logRecords\":[{{\"body\":{open}{close}}}]}}]}}");
        let error = read(body.as_bytes(), LogsEncoding::Json).unwrap_err();
        assert!(error.to_string().contains("resourceLogs"), "{error}");
    }
}

#[test]
fn what_is_no_request_is_refused() {
    for json in [
        "",
        "[]",
        "7",
        "{\"resourceLogs\":[]",
        "{\"resourceLogs\":[]} x",
        "{\"resourceLogs\":[,]}",
        // Only the value itself is invalid.
        r#"{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"doubleValue":1e999}}]}]}]}"#,
    ] {
        let read = read(json.as_bytes(), LogsEncoding::Json);
        assert!(
            matches!(read, Err(LogsError::Malformed(_))),
            "{json}: {read:?}"
        );
    }
    let cut = &protobuf_of(&field(2, b""))[..3];
    for protobuf in [cut, b"\x08\x01", b"{}", b"\x0b"] {
        let read = read(protobuf, LogsEncoding::Protobuf);
        assert!(
            matches!(read, Err(LogsError::Malformed(_))),
            "{protobuf:?}: {read:?}"
        );
    }
}

#[test]
fn half_of_a_surrogate_pair_becomes_the_replacement_character() {
    let json = r#"{"resourceLogs":[{"resource":{"attributes":[{"key":"a","value":{"stringValue":"\ud800"}}]},
        "scopeLogs":[{"logRecords":[{"body":{"stringValue":"\udfffx"}}]}]}]}"#;
    let logs = read(json.as_bytes(), LogsEncoding::Json).unwrap();
    let document: Value = serde_json::from_slice(&logs.documents[0]).unwrap();
    assert_eq!(document["body"]["message"], "\u{fffd}x");
    assert_eq!(document["resource_attributes"]["a"], "\u{fffd}");
}

/// The result must equal that of readers that decode whole values.
#[test]
fn what_json_leaves_open_is_kept() {
    let record = r#"[{"timeUnixNano": 1}, {"body": {"stringValue": "a"}, "flags": 1, "flags": 2}]"#;
    for (json, num_documents) in [
        ("{}".to_owned(), 0),
        (r#"{"resourceLogs": null, "other": [{}]}"#.to_owned(), 0),
        (r#"{"resourceLogs": [7, {}, {"scopeLogs": {}}, {"scopeLogs": [7, {"logRecords": 7}]}]}"#.to_owned(), 0),
        (format!(r#"{{"resourceLogs": [{{"scopeLogs": null, "instrumentationLibraryLogs": [{{"logRecords": {record}}}]}}]}}"#), 2),
        (format!(r#"{{"resourceLogs": [], "resource\u004cogs": [{{"resource": 7, "scopeLogs": [{{"scope": [], "logRecords": {record}}}]}}]}}"#), 2),
        (format!(r#"{{"resourceLogs": [{{"scopeLogs": [{{"logRecords": {record}}}], "instrumentationLibraryLogs": 7}}]}}"#), 2),
    ] {
        let logs = read(json.as_bytes(), LogsEncoding::Json).unwrap();
        assert_eq!(logs, read_at_once(&json), "{json}");
        assert_eq!(logs.documents.len(), num_documents, "{json}");
    }
}

/// Each record takes two bytes in protobuf, and hundreds if all are decoded at once.
#[test]
fn empty_records_are_counted_and_not_gathered() {
    let num_in_1_mib = 1 << 19;
    assert!(LogsLimits::default().max_records < num_in_1_mib);
    let max_records = 1000;
    let limits = LogsLimits {
        max_records,
        ..LogsLimits::default()
    };
    for (num_records, is_taken) in [
        (max_records, true),
        (max_records + 1, false),
        (num_in_1_mib, false),
    ] {
        for (body, encoding) in bodies(&with_records(&vec![json!({}); num_records])) {
            let logs = read_logs(&body, encoding, &limits);
            let expected = Logs {
                documents: vec![b"{}".to_vec(); num_records],
                ..Logs::default()
            };
            let too_many = LogsError::TooManyRecords { max_records };
            assert!(too_many.is_too_large());
            let expected = is_taken.then_some(expected).ok_or(too_many);
            assert!(logs == expected, "{encoding:?}, {num_records}");
        }
    }
    // Scopes and resources without records count for nothing.
    for owners in [
        [0x0a, 0x00].repeat(1 << 20),
        field(1, &[0x12, 0x00].repeat(1 << 20)),
    ] {
        assert_eq!(read(&owners, LogsEncoding::Protobuf), Ok(Logs::default()));
    }
}

#[test]
fn the_documents_of_a_request_are_bounded_together() {
    let records = vec![json!({"body": {"stringValue": "x".repeat(100)}}); 10];
    for (body, encoding) in bodies(&with_records(&records)) {
        let logs = read(&body, encoding).unwrap();
        // Counted as lines.
        let num_bytes: usize = logs.documents.iter().map(|line| line.len() + 1).sum();
        let with = |max_bytes| LogsLimits {
            max_bytes,
            ..LogsLimits::default()
        };
        assert_eq!(read_logs(&body, encoding, &with(num_bytes)), Ok(logs));
        let max_bytes = num_bytes - 1;
        let error = read_logs(&body, encoding, &with(max_bytes)).unwrap_err();
        assert_eq!(error, LogsError::TooLarge { max_bytes });
        assert!(error.is_too_large());
    }
}

#[test]
fn records_that_are_too_long_are_rejected_alone() {
    let texts = ["first".to_owned(), "x".repeat(500), "last".to_owned()];
    let record = |text: &String| json!({"body": {"stringValue": text}});
    let request = with_records(&texts.each_ref().map(record));
    let limits = LogsLimits {
        max_document_bytes: 200,
        ..LogsLimits::default()
    };
    for (body, encoding) in bodies(&request) {
        let logs = read_logs(&body, encoding, &limits).unwrap();
        assert_eq!(messages(&logs), ["first", "last"], "{encoding:?}");
        let [problem] = logs.problems.as_slice() else {
            panic!("{:?}", logs.problems);
        };
        assert!(problem.starts_with("the log record has 5"), "{problem}");
        assert!(problem.ends_with("more than 200"), "{problem}");
    }
    // A short record with a long resource.
    let request = json!({"resourceLogs": [
        {"resource": {"attributes": [{"key": "a", "value": {"stringValue": "x".repeat(200)}}]},
            "scopeLogs": [{"logRecords": [record(&texts[0])]}]},
        {"scopeLogs": [{"logRecords": [record(&texts[2])]}]},
    ]});
    for (body, encoding) in bodies(&request) {
        let logs = read_logs(&body, encoding, &limits).unwrap();
        assert_eq!(messages(&logs), ["last"], "{encoding:?}");
        assert_eq!(logs.problems.len(), 1);
        let problem = &logs.problems[0];
        assert!(problem.starts_with("the document has 2"), "{problem}");
    }
}

/// An empty attribute takes two bytes in protobuf, as does an element of an array.
#[test]
fn records_with_too_many_values_are_rejected_alone() {
    let last = field(2, &field(5, &field(1, b"last")));
    let empty = |number| field(number, b"").repeat(1 << 20);
    let attributes = field(2, &empty(6));
    let map = field(2, &field(5, &field(6, &empty(1))));
    let array = field(2, &field(5, &field(5, &empty(1))));
    for wide in [attributes, map, array] {
        let protobuf = protobuf_of(&[wide, last.clone()].concat());
        let logs = read(&protobuf, LogsEncoding::Protobuf).unwrap();
        assert_eq!(messages(&logs), ["last"]);
        assert_eq!(logs.problems, [nesting::Problem::TooManyValues.message()]);
    }
    // In a resource, and in entities that it refers to: its record is rejected too.
    for resource in [empty(1), empty(3), field(3, &empty(3))] {
        let owned = field(2, &last);
        let with = field(1, &[field(1, &resource), owned.clone()].concat());
        let protobuf = [with, field(1, &owned)].concat();
        let logs = read(&protobuf, LogsEncoding::Protobuf).unwrap();
        assert_eq!(messages(&logs), ["last"]);
        assert_eq!(logs.problems.len(), 1);
    }
    for (num_values, num_problems) in [(MAX_VALUES - 10, 0), (MAX_VALUES, 1)] {
        let body = json!({"arrayValue": {"values": vec![1; num_values]}});
        let last = json!({"body": {"stringValue": "last"}});
        let json = with_records(&[json!({"body": body}), last]).to_string();
        let logs = read(json.as_bytes(), LogsEncoding::Json).unwrap();
        assert_eq!(logs.problems.len(), num_problems);
        assert_eq!(logs.documents.len(), 2 - num_problems);
    }
}

#[test]
fn records_that_are_nested_too_deep_are_rejected_alone() {
    let nested = |depth: usize| {
        let value = json!({"stringValue": "a"});
        (0..depth).fold(
            value,
            |value, _| json!({"kvlistValue": {"values": [{"key": "k", "value": value}]}}),
        )
    };
    let text = |text: &str| json!({"body": {"stringValue": text}});
    let with = |depth: usize| json!({"attributes": [{"key": "k", "value": nested(depth)}]});
    let request = json!({"resourceLogs": [
        {"scopeLogs": [{"logRecords": [text("a"), with(25), with(28), with(40), text("b")]}]},
        {"resource": with(31), "scopeLogs": [{"logRecords": [text("c"), text("d")]}]},
        {"scopeLogs": [
            {"scope": with(30), "logRecords": [text("e")]},
            {"scope": with(25), "logRecords": [text("f")]},
        ]},
    ]});
    for (body, encoding) in bodies(&request) {
        let logs = read(&body, encoding).unwrap();
        let too_deep = nesting::Problem::TooDeep.message();
        let num_deep = logs.problems.len();
        assert_eq!(logs.problems, vec![too_deep; num_deep]);
        assert_eq!(num_deep + logs.documents.len(), 9, "{encoding:?}");
        let texts: Vec<Value> = logs
            .documents
            .iter()
            .map(|document| serde_json::from_slice::<Value>(document).unwrap())
            .map(|document| document["body"]["message"].clone())
            .filter(|message| !message.is_null())
            .collect();
        assert_eq!(texts, ["a", "b", "f"], "{encoding:?}");
    }
}

/// Some programs forward their input unchecked.
#[test]
fn records_with_texts_that_are_not_utf8_are_rejected_alone() {
    let attribute = |key: &[u8], value: &[u8]| {
        let value = field(2, &field(1, value));
        [field(1, key), value].concat()
    };
    let not_utf8 = nesting::Problem::NotUtf8.message();
    let last = field(2, &field(5, &field(1, b"last")));
    for record in [
        field(3, b"\xff"),
        field(12, b"\xff"),
        field(5, &field(1, b"a\xff")),
        field(6, &attribute(b"\xff", b"v")),
        field(6, &attribute(b"k", b"\xc3")),
        field(5, &field(5, &field(1, &field(1, b"\xff")))),
        field(5, &field(6, &field(1, &attribute(b"\xff", b"v")))),
    ] {
        let protobuf = protobuf_of(&[field(2, &record), last.clone()].concat());
        let logs = read(&protobuf, LogsEncoding::Protobuf).unwrap();
        assert_eq!(messages(&logs), ["last"]);
        assert_eq!(logs.problems, [not_utf8.as_str()]);
    }
    // Bytes fields may contain any bytes.
    let bytes = protobuf_of(&field(2, &field(5, &field(7, b"\xff"))));
    let logs = read(&bytes, LogsEncoding::Protobuf).unwrap();
    assert_eq!((logs.documents.len(), logs.problems.len()), (1, 0));
    // In a resource, in entities that it refers to, and in a scope: their records are rejected too.
    let owned = field(2, &last);
    let of_resource = |resource: &[u8]| field(1, &[field(1, resource), owned.clone()].concat());
    let scope = field(1, &field(1, b"\xff"));
    for bad in [
        of_resource(&field(1, &attribute(b"k", b"\xff"))),
        of_resource(&field(3, &field(2, b"\xff"))),
        protobuf_of(&[scope, last.clone()].concat()),
    ] {
        let protobuf = [bad, field(1, &owned)].concat();
        let logs = read(&protobuf, LogsEncoding::Protobuf).unwrap();
        assert_eq!(messages(&logs), ["last"]);
        assert_eq!(logs.problems, [not_utf8.as_str()]);
    }
}

/// Tests the maximum depth of the protobuf reader and one more: the scan must know the exact limit.
#[test]
fn the_reader_of_protobuf_goes_as_deep_as_is_said() {
    let nested = |depth: usize| {
        // A body with nested arrays of one value each, which are two messages. The innermost may be
        // empty.
        let inmost = match depth % 2 {
            0 => field(5, b""),
            _ => Vec::new(),
        };
        let arrays = 0..(depth - 1) / 2;
        let body = arrays.fold(inmost, |inside, _| field(5, &field(1, &inside)));
        field(5, &body)
    };
    for (depth, is_read) in [(100, true), (101, false)] {
        let record = nested(depth);
        assert_eq!(
            LogRecord::decode(record.as_slice()).is_ok(),
            is_read,
            "{depth}"
        );
        let logs = read(&protobuf_of(&field(2, &record)), LogsEncoding::Protobuf).unwrap();
        // The limit of JSON is reached earlier.
        assert_eq!(logs.problems, [nesting::Problem::TooDeep.message()]);
    }
}

/// Pieces of a singular message are merged.
#[test]
fn a_resource_in_pieces_is_one() {
    let attribute = |key: &str| {
        let value = field(2, &field(1, b"v"));
        field(1, &[field(1, key.as_bytes()), value].concat())
    };
    let record = field(2, &field(2, &field(5, &field(1, b"text"))));
    let pieces = [
        field(1, &attribute("a")),
        record,
        field(1, &attribute("service.name")),
    ];
    let protobuf = field(1, &pieces.concat());
    let logs = read(&protobuf, LogsEncoding::Protobuf).unwrap();
    let document: Value = serde_json::from_slice(&logs.documents[0]).unwrap();
    let expected = json!({
        "body": {"message": "text"}, "service_name": "v",
        "resource_attributes": {"a": "v", "service.name": "v"},
    });
    assert_eq!(document, expected);
}

/// Returns the documents of a request that is decoded as one value.
fn read_at_once(json: &str) -> Logs {
    let layout = Layout::new(Format::OtlpJson, b',', Arc::new(Hints::default()));
    let mut logs = Logs::default();
    layout.parse(
        json.as_bytes(),
        &mut Vec::new(),
        &mut |parsed| match parsed {
            Ok(document) => logs.documents.push(document.to_vec()),
            Err(failure) if failure.reason == "no_log_records" => {}
            Err(failure) => logs.problems.push(failure.message),
        },
    );
    logs
}

/// Removes numbers of 0, which count as unset in protobuf.
fn remove_unset(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(remove_unset),
        Value::Object(object) => {
            for name in ["droppedAttributesCount", "severityNumber", "flags"] {
                if object.get(name).is_some_and(|number| *number == 0) {
                    object.shift_remove(name);
                }
            }
            object.values_mut().for_each(remove_unset);
        }
        _ => {}
    }
}

fn any_value() -> impl Strategy<Value = AnyValue> {
    let leaf = prop_oneof![
        Just(None),
        ".{0,6}".prop_map(|text| Some(Any::StringValue(text))),
        any::<bool>().prop_map(|value| Some(Any::BoolValue(value))),
        any::<i64>().prop_map(|value| Some(Any::IntValue(value))),
        (-1e9..1e9).prop_map(|value| Some(Any::DoubleValue(value))),
        prop::collection::vec(any::<u8>(), 0..5).prop_map(|bytes| Some(Any::BytesValue(bytes))),
    ];
    let leaf = leaf.prop_map(|value| AnyValue { value });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let array = prop::collection::vec(inner.clone(), 0..3)
            .prop_map(|values| Any::ArrayValue(ArrayValue { values }));
        let map = prop::collection::vec(key_value(inner), 0..3)
            .prop_map(|values| Any::KvlistValue(KeyValueList { values }));
        prop_oneof![array, map].prop_map(|value| AnyValue { value: Some(value) })
    })
}

fn key_value(value: impl Strategy<Value = AnyValue>) -> impl Strategy<Value = KeyValue> {
    let key = prop_oneof![
        "[a-c]?",
        Just("service.name".to_owned()),
        Just("flags".to_owned())
    ];
    (key, prop::option::of(value)).prop_map(|(key, value)| KeyValue {
        key,
        value,
        ..KeyValue::default()
    })
}

fn attributes() -> impl Strategy<Value = Vec<KeyValue>> {
    prop::collection::vec(key_value(any_value()), 0..3)
}

fn record() -> impl Strategy<Value = LogRecord> {
    let id = || prop::collection::vec(any::<u8>(), 0..3);
    let numbers = (0..3_u64, 0..3_u64, 0..25_i32, 0..2_u32, 0..3_u32);
    let values = ("[a-z]{0,3}", prop::option::of(any_value()), attributes());
    (numbers, values, (id(), id())).prop_map(|(numbers, values, ids)| LogRecord {
        time_unix_nano: numbers.0,
        observed_time_unix_nano: numbers.1,
        severity_number: numbers.2,
        flags: numbers.3,
        dropped_attributes_count: numbers.4,
        severity_text: values.0.clone(),
        body: values.1,
        attributes: values.2,
        trace_id: ids.0,
        span_id: ids.1,
        event_name: values.0,
    })
}

fn scope_logs() -> impl Strategy<Value = ScopeLogs> {
    let scope = ("[a-z]{0,3}", attributes(), 0..2_u32).prop_map(|(name, attributes, dropped)| {
        InstrumentationScope {
            version: name.clone(),
            name,
            attributes,
            dropped_attributes_count: dropped,
        }
    });
    let records = prop::collection::vec(record(), 0..4);
    (prop::option::of(scope), records, "[a-z]?").prop_map(|(scope, log_records, schema_url)| {
        ScopeLogs {
            scope,
            log_records,
            schema_url,
        }
    })
}

fn request() -> impl Strategy<Value = ExportLogsServiceRequest> {
    let resource = (attributes(), 0..2_u32).prop_map(|(attributes, dropped)| Resource {
        attributes,
        dropped_attributes_count: dropped,
        ..Resource::default()
    });
    let scopes = prop::collection::vec(scope_logs(), 0..3);
    let resource_logs = (prop::option::of(resource), scopes, "[a-z]?");
    let resource_logs = resource_logs.prop_map(|(resource, scope_logs, schema_url)| ResourceLogs {
        resource,
        scope_logs,
        schema_url,
    });
    prop::collection::vec(resource_logs, 0..3)
        .prop_map(|resource_logs| ExportLogsServiceRequest { resource_logs })
}

proptest! {
    #[test]
    fn documents_are_those_of_a_request_that_is_read_at_once(request in request()) {
        let mut value = serde_json::to_value(&request).unwrap();
        let json = value.to_string();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        for json in [&json, &pretty] {
            prop_assert_eq!(read(json.as_bytes(), LogsEncoding::Json).unwrap(), read_at_once(json));
        }
        remove_unset(&mut value);
        let expected = read_at_once(&value.to_string());
        prop_assert_eq!(expected.problems.len(), 0);
        let protobuf = request.encode_to_vec();
        prop_assert_eq!(read(&protobuf, LogsEncoding::Protobuf).unwrap(), expected);
    }
}

#[test]
fn an_encoding_is_known_by_its_content_type() {
    for encoding in ENCODINGS {
        let content_type = format!("{}; charset=utf-8", encoding.content_type().to_uppercase());
        assert_eq!(LogsEncoding::of(&content_type), Some(encoding));
    }
    assert_eq!(LogsEncoding::of("text/plain"), None);
}
