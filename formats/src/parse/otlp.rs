//! OTLP logs in JSON, as the collector's exporters write them: a document for each log record, with the
//! attributes of its resource and scope. The fields are those of Quickwit's `otel-logs` indexes.
//! `https://opentelemetry.io/docs/specs/otel/logs/data-model/`

use serde_json::{Map, Value};

use super::any_value::{array, attributes, integer, member, plain};
use crate::failure::{Failure, Sink};
use crate::json::read_json;

/// `record` is an element of `resourceLogs`, or an object that contains them.
pub(crate) fn parse(record: &[u8], scratch: &mut Vec<u8>, sink: &mut Sink<'_>) {
    let value: Value = match read_json(record) {
        Ok(value) => value,
        Err(error) => {
            return sink(Err(Failure {
                reason: "not_json",
                message: format!("not JSON: {error}"),
            }));
        }
    };
    let mut num_records = 0;
    for resource_logs in resources(value) {
        each_record(resource_logs, &mut |document, shared| {
            num_records += 1;
            scratch.clear();
            match serde_json::to_writer(&mut *scratch, &document) {
                Ok(()) => {
                    join(scratch, shared);
                    sink(Ok(scratch));
                }
                Err(error) => sink(Err(Failure::format(error.to_string()))),
            }
        });
    }
    if num_records == 0 {
        sink(Err(Failure {
            reason: "no_log_records",
            message: "there are no logRecords in it (resourceLogs → scopeLogs → logRecords)".into(),
        }));
    }
}

fn resources(value: Value) -> Vec<Value> {
    match value {
        Value::Object(mut object) if object.contains_key("resourceLogs") => {
            array(object.remove("resourceLogs").unwrap_or(Value::Null))
        }
        value => vec![value],
    }
}

/// Appends the members of one object, as text, to another.
fn join(object: &mut Vec<u8>, members: &[u8]) {
    if object.ends_with(b"}") && !members.is_empty() {
        object.pop();
        if object.len() > 1 {
            object.push(b',');
        }
        object.extend_from_slice(members);
        object.push(b'}');
    }
}

/// Receives a log record, and its shared members.
type Add<'a> = dyn FnMut(Map<String, Value>, &[u8]) + 'a;

/// Passes on each log record as an object, and its shared members as text.
fn each_record(resource_logs: Value, add: &mut Add<'_>) {
    let Value::Object(mut resource_logs) = resource_logs else {
        return;
    };
    let mut take = |name: &str| resource_logs.remove(name).unwrap_or(Value::Null);
    let mut resource = take("resource");
    let scopes = match take("scopeLogs") {
        // Its name before version 0.15 of the protocol.
        Value::Null => take("instrumentationLibraryLogs"),
        scopes => scopes,
    };
    let dropped = integer(member(resource.clone(), "droppedAttributesCount"));
    let resource_attributes = match &mut resource {
        Value::Object(object) => attributes(object.remove("attributes").unwrap_or(Value::Null)),
        _ => Map::new(),
    };
    for scope_logs in array(scopes) {
        let Value::Object(mut scope_logs) = scope_logs else {
            continue;
        };
        let scope = scope_logs.remove("scope").unwrap_or(Value::Null);
        let mut shared = Map::new();
        if let Some(name) = resource_attributes.get("service.name") {
            shared.insert("service_name".into(), name.clone());
        }
        insert(
            &mut shared,
            "resource_attributes",
            Value::Object(resource_attributes.clone()),
        );
        insert(
            &mut shared,
            "resource_dropped_attributes_count",
            dropped.clone(),
        );
        if let Value::Object(mut scope) = scope {
            let mut take = |name: &str| scope.remove(name).unwrap_or(Value::Null);
            insert(&mut shared, "scope_name", take("name"));
            insert(&mut shared, "scope_version", take("version"));
            let scope_attributes = attributes(take("attributes"));
            insert(
                &mut shared,
                "scope_attributes",
                Value::Object(scope_attributes),
            );
            let dropped = integer(take("droppedAttributesCount"));
            insert(&mut shared, "scope_dropped_attributes_count", dropped);
        }
        let shared = Value::Object(shared).to_string();
        let shared = shared.trim_start_matches('{').strip_suffix('}');
        let records = scope_logs.remove("logRecords").unwrap_or(Value::Null);
        for record in array(records) {
            add(document(record), shared.unwrap_or_default().as_bytes());
        }
    }
}

fn document(record: Value) -> Map<String, Value> {
    let mut document = Map::new();
    let mut record = match record {
        Value::Object(record) => record,
        // It is not a log record, but must not be lost.
        other => Map::from_iter([("body".to_string(), other)]),
    };
    let mut take = |name: &str| record.remove(name).unwrap_or(Value::Null);
    let is_time = |value: &Value| !matches!(value.as_u64(), None | Some(0));
    let time = integer(take("timeUnixNano"));
    let observed = integer(take("observedTimeUnixNano"));
    // According to the data model, a record without a time of its own has that of its observation.
    let timestamp = match is_time(&time) {
        true => time,
        false => observed.clone(),
    };
    if is_time(&timestamp) {
        document.insert("timestamp_nanos".into(), timestamp);
    }
    if is_time(&observed) {
        document.insert("observed_timestamp_nanos".into(), observed);
    }
    insert(&mut document, "severity_text", take("severityText"));
    insert(
        &mut document,
        "severity_number",
        integer(take("severityNumber")),
    );
    match plain(take("body")) {
        Value::Null => {}
        body @ Value::Object(_) => drop(document.insert("body".into(), body)),
        body => {
            let body = Map::from_iter([("message".to_string(), body)]);
            document.insert("body".into(), Value::Object(body));
        }
    }
    insert(&mut document, "event_name", take("eventName"));
    insert(
        &mut document,
        "attributes",
        Value::Object(attributes(take("attributes"))),
    );
    let dropped = integer(take("droppedAttributesCount"));
    insert(&mut document, "dropped_attributes_count", dropped);
    insert(&mut document, "trace_id", take("traceId"));
    insert(&mut document, "span_id", take("spanId"));
    insert(&mut document, "trace_flags", integer(take("flags")));
    document
}

/// Inserts a value; nulls, empty texts and empty objects are left out.
fn insert(object: &mut Map<String, Value>, name: &str, value: Value) {
    let is_empty = match &value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Object(inside) => inside.is_empty(),
        _ => false,
    };
    if !is_empty {
        object.insert(name.to_string(), value);
    }
}
