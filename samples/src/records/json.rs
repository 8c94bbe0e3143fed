//! JSON in several layouts.

use serde_json::{Value, json};

use super::super::rng::Rng;
use super::values::WORDS;

type Made = (Vec<u8>, Vec<Value>);

fn docs(rng: &mut Rng, num_docs: u64) -> Vec<Value> {
    let doc = |n| {
        let (day, time) = rng.may(n);
        json!({
            "time": format!("2024-05-{day:02}T{time}Z"),
            "level": rng.pick(&["INFO", "WARN", "ERROR"]),
            "message": format!("{} }}{{ \"{}\" \\ [{n}", rng.pick(&WORDS), rng.pick(&WORDS)),
            "took_ms": rng.modulo(10_000),
            "user": {"id": rng.hex(8), "tags": ["a", rng.pick(&WORDS)]},
        })
    };
    (0..num_docs).map(doc).collect()
}

pub(super) fn one_a_line(rng: &mut Rng, num_docs: u64) -> Made {
    let docs = docs(rng, num_docs);
    let text: String = docs.iter().map(|doc| format!("{doc}\n")).collect();
    (text.into_bytes(), docs)
}

/// Writes records as Firehose delivers them:
/// `https://docs.aws.amazon.com/firehose/latest/dev/basic-deliver.html` (a delimiter is optional).
pub(super) fn without_delimiter(rng: &mut Rng, num_docs: u64) -> Made {
    let docs = docs(rng, num_docs);
    let text: String = docs.iter().map(Value::to_string).collect();
    (text.into_bytes(), docs)
}

pub(super) fn array(rng: &mut Rng, num_docs: u64) -> Made {
    let docs = docs(rng, num_docs);
    let text = serde_json::to_string_pretty(&docs).unwrap_or_default();
    (text.into_bytes(), docs)
}

/// Writes two batches per line, as the collector's exporters do, with 64-bit numbers as strings:
/// `https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding`.
pub(super) fn otlp(rng: &mut Rng, num_docs: u64) -> Made {
    const PER_SCOPE: u64 = 7;
    let (mut text, mut docs) = (String::new(), Vec::new());
    let mut n = 0;
    while n < num_docs {
        let service = rng.pick(&["checkout", "payment"]);
        let resource_attributes = json!({"service.name": service, "host.id": rng.hex(6)});
        let mut records = Vec::new();
        for _ in 0..PER_SCOPE.min(num_docs - n) {
            let nanos = 1_714_521_600_000_000_000 + n * 1_000_003;
            let message = format!("{} {n}", rng.pick(&WORDS));
            let (trace, span) = (rng.hex(32), rng.hex(16));
            let (retries, ratio) = (rng.modulo(9), 0.5 + n as f64);
            let mut doc = json!({
                "timestamp_nanos": nanos, "observed_timestamp_nanos": nanos + 5,
                "severity_text": "INFO", "severity_number": 9,
                "attributes": {"retries": retries, "ratio": ratio, "ok": true, "list": ["a", 1]},
                "trace_id": trace, "span_id": span, "trace_flags": 1,
                "service_name": service, "resource_attributes": resource_attributes,
                "scope_name": "log", "scope_version": "1.2",
            });
            let body = match n % 3 {
                0 => {
                    json!({"kvlistValue": {"values": [{"key": "text", "value": {"stringValue": message}}]}})
                }
                _ => json!({"stringValue": message}),
            };
            let plain = match n % 3 {
                0 => json!({"text": message}),
                _ => json!({"message": message}),
            };
            if let Some(fields) = doc.as_object_mut() {
                fields.insert("body".into(), plain);
            }
            records.push(json!({
                "timeUnixNano": nanos.to_string(), "observedTimeUnixNano": (nanos + 5).to_string(),
                "severityNumber": 9, "severityText": "INFO", "body": body,
                "attributes": [
                    {"key": "retries", "value": {"intValue": retries.to_string()}},
                    {"key": "ratio", "value": {"doubleValue": ratio}},
                    {"key": "ok", "value": {"boolValue": true}},
                    {"key": "list", "value": {"arrayValue": {"values": [
                        {"stringValue": "a"}, {"intValue": "1"}]}}},
                ],
                "traceId": trace, "spanId": span, "flags": 1,
            }));
            docs.push(doc);
            n += 1;
        }
        let host = resource_attributes.get("host.id").cloned();
        let batch = json!({"resourceLogs": [{
            "resource": {"attributes": [
                {"key": "service.name", "value": {"stringValue": service}},
                {"key": "host.id", "value": {"stringValue": host}},
            ]},
            "scopeLogs": [{"scope": {"name": "log", "version": "1.2"}, "logRecords": records}],
        }]});
        text.push_str(&format!("{batch}\n"));
    }
    (text.into_bytes(), docs)
}
