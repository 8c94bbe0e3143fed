//! Each layout with its preset: every record of a sample becomes a document that is found, with the
//! right types and with any compression, and different formats produce the same documents.

use std::io::{Cursor, Write};

use canter_formats::Format;
use canter_formats::presets::preset_of;
use canter_index_builder::{IngestOptions, Source};
use canter_samples::{LAYOUTS, sample};
use canter_tests::TestIndex;
use serde_json::{Map, Value, json};

const NUM_DOCS: u64 = 1_000;

fn options() -> IngestOptions {
    IngestOptions {
        year: Some(2024),
        ..IngestOptions::default()
    }
}

fn index_of(config: &str, bytes: Vec<u8>, options: &IngestOptions) -> TestIndex {
    let source = Source::reader("sample", Cursor::new(bytes)).with_id("sample");
    TestIndex::of_sources(config, vec![source], options).unwrap()
}

fn hits(index: &TestIndex, query: &str) -> Vec<Value> {
    let request = json!({"query": query, "max_hits": 10_000});
    let answer = index.search(&request).unwrap();
    let answer = answer.json;
    answer["hits"].as_array().unwrap().clone()
}

/// Normalizes a value: numbers without their type, times without trailing zeros.
fn normal(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.iter().map(normal).collect(),
        Value::Object(object) => {
            let members = object.iter().filter(|(_, value)| !value.is_null());
            Value::Object(
                members
                    .map(|(key, value)| (key.clone(), normal(value)))
                    .collect(),
            )
        }
        Value::String(text) => match text.parse::<jiff::Timestamp>() {
            Ok(time) => time.to_string().into(),
            Err(_) => value.clone(),
        },
        value => value.clone(),
    }
}

/// Returns the documents as sorted texts.
fn sorted(docs: &[Value]) -> Vec<String> {
    let text = |doc: &Value| {
        let mut members: Vec<String> = match normal(doc) {
            Value::Object(object) => object.iter().map(|(k, v)| format!("{k}: {v}")).collect(),
            other => vec![other.to_string()],
        };
        members.sort();
        members.join(", ")
    };
    let mut texts: Vec<String> = docs.iter().map(text).collect();
    texts.sort();
    texts
}

#[track_caller]
fn check_same(found: &[Value], expect: &[Value], what: &str) {
    let (found, expect) = (sorted(found), sorted(expect));
    assert_eq!(found.len(), expect.len(), "{what}");
    for (found, expect) in found.iter().zip(&expect) {
        assert_eq!(found, expect, "{what}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_record_of_every_layout_is_found_with_its_types() {
    for format in LAYOUTS {
        let preset = preset_of(format).unwrap();
        let sample = sample(format, NUM_DOCS, 7);
        let index = index_of(preset.yaml, sample.bytes.clone(), &options());
        let report = &index.report;
        assert_eq!(report.num_ingested_docs, NUM_DOCS, "{format}: {report:?}");
        assert_eq!(report.num_rejected_docs, 0, "{format}");
        assert_eq!(report.inputs[0].format, format.name());
        check_same(&hits(&index, "*"), &sample.docs, format.name());

        let packed = index_of(preset.yaml, gzip(&sample.bytes), &options());
        assert_eq!(packed.report.splits, report.splits, "{format}");
    }
}

#[test]
fn the_first_search_needs_no_more_than_a_word() {
    for (format, query) in [
        (Format::AccessLog, "chrome"),
        (Format::Alb, "orders"),
        (Format::W3c, "logo"),
        (Format::CloudTrail, "RunInstances"),
        (Format::VpcFlow, "REJECT"),
        (Format::OtlpJson, "connection"),
        (Format::Syslog, "upstream"),
        (Format::Logfmt, "peer"),
        (Format::Log, "upstream"),
        (Format::Container, "peer"),
        (Format::Plain, "warning"),
        (Format::Ndjson, "timeout"),
    ] {
        let index = index_of(
            preset_of(format).unwrap().yaml,
            sample(format, 300, 7).bytes,
            &options(),
        );
        let num = hits(&index, query).len();
        assert!(num > 0 && num < 300, "{format}: {num} for {query}");
    }
}

#[test]
fn splits_do_not_depend_on_how_many_threads_there_are() {
    for format in LAYOUTS {
        let sample = sample(format, 5_000, 3);
        let of = |num_parsers, num_indexers| {
            let options = IngestOptions {
                num_parsers,
                num_indexers,
                split_num_docs_target: Some(700),
                ..options()
            };
            index_of(
                preset_of(format).unwrap().yaml,
                sample.bytes.clone(),
                &options,
            )
            .report
            .splits
        };
        assert_eq!(of(1, 1), of(4, 2), "{format}");
    }
}

/// Returns the documents as a table with quoted texts.
fn csv_of(docs: &[Value], delimiter: &str) -> String {
    let mut names: Vec<&String> = Vec::new();
    for name in docs.iter().flat_map(|doc| doc.as_object().unwrap().keys()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let cell = |value: Option<&Value>| match value {
        Some(Value::String(text)) => format!("\"{}\"", text.replace('"', "\"\"")),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let header: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    let mut csv = header.join(delimiter) + "\n";
    for doc in docs {
        let cells: Vec<String> = names
            .iter()
            .map(|name| cell(doc.get(name.as_str())))
            .collect();
        csv += &(cells.join(delimiter) + "\n");
    }
    csv
}

/// Returns the documents as attributes of log records.
fn otlp_of(docs: &[Value]) -> String {
    let any = |value: &Value| match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) if number.is_i64() => json!({"intValue": number.to_string()}),
        Value::Number(number) => json!({"doubleValue": number}),
        Value::Bool(is_so) => json!({"boolValue": is_so}),
        other => panic!("{other}"),
    };
    let record = |doc: &Value| {
        let attributes: Vec<Value> = doc
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| json!({"key": key, "value": any(value)}))
            .collect();
        json!({"timeUnixNano": "1714521600000000000", "attributes": attributes})
    };
    let batch = |docs: &[Value]| {
        let records: Vec<Value> = docs.iter().map(record).collect();
        json!({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).to_string() + "\n"
    };
    docs.chunks(500).map(batch).collect()
}

/// Checks that a log, NDJSON, CSV, TSV, an array and OTLP result in the same documents.
fn check_formats(config: &str, docs: &[Value], log: Option<Vec<u8>>) {
    let lines: String = docs.iter().map(|doc| format!("{doc}\n")).collect();
    let mut forms = vec![
        ("ndjson", lines.clone().into_bytes()),
        ("csv", csv_of(docs, ",").into_bytes()),
        ("csv", csv_of(docs, ";").into_bytes()),
        ("tsv", csv_of(docs, "\t").into_bytes()),
        ("json-array", serde_json::to_vec(docs).unwrap()),
        ("json", lines.replace('\n', "").into_bytes()),
        (
            "cloudtrail",
            json!({"Records": docs}).to_string().into_bytes(),
        ),
    ];
    forms.extend(log.map(|log| ("access-log", log)));
    for (format, bytes) in forms {
        let index = index_of(config, bytes, &options());
        assert_eq!(index.report.inputs[0].format, format);
        assert_eq!(index.report.num_rejected_docs, 0, "{:?}", index.report);
        assert_eq!(
            index.report.num_ingested_docs,
            docs.len() as u64,
            "{format}"
        );
        if docs.len() <= 10_000 {
            check_same(&hits(&index, "*"), docs, format);
        }
    }
    let otlp = preset_of(Format::OtlpJson).unwrap().yaml;
    let index = index_of(otlp, otlp_of(docs).into_bytes(), &options());
    assert_eq!(index.report.num_ingested_docs, docs.len() as u64);
    if docs.len() <= 10_000 {
        let attributes: Vec<Value> = hits(&index, "*")
            .iter()
            .map(|hit| hit["attributes"].clone())
            .collect();
        check_same(&attributes, docs, "otlp-json");
    }
}

#[test]
fn the_same_documents_come_from_every_format() {
    let sample = sample(Format::AccessLog, 500, 11);
    let config = preset_of(Format::AccessLog).unwrap().yaml;
    check_formats(config, &sample.docs, Some(sample.bytes));
    let cities: Vec<Value> = (0..300)
        .map(|n| {
            json!({
                "id": n, "name": format!("Città, \"{n}\"\nalta"), "alt_name": if n % 3 == 0 { "" } else { "x" },
                "admin": format!("{:02}", n % 20), "population": n * 1_000, "lon": -1.5 + f64::from(n),
                "open": n % 2 == 0,
            })
        })
        .collect();
    check_formats(CITIES, &cities, None);
}

const CITIES: &str = "
version: 0.8
index_id: cities
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: id, type: u64, fast: true}
    - {name: name, type: text}
    - {name: alt_name, type: text}
    - {name: country, type: text, tokenizer: raw, fast: true}
    - {name: feature, type: text, tokenizer: raw, fast: true}
    - {name: admin, type: text, tokenizer: raw, fast: true}
    - {name: population, type: u64, fast: true}
    - {name: lon, type: f64, fast: true}
    - {name: lat, type: f64, fast: true}
";

/// Runs the same comparison over the files in `CANTER_CITIES` (NDJSON with the fields of geonames)
/// and `CANTER_APACHE_LOG`.
#[test]
fn so_they_do_from_the_files_that_are_named() {
    if let Some(path) = std::env::var_os("CANTER_CITIES") {
        let text = std::fs::read_to_string(&path).unwrap();
        let docs: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        println!("{} cities", docs.len());
        // Maximum number of hits of one search.
        for docs in docs.chunks(10_000) {
            check_formats(CITIES, docs, None);
        }
    }
    if let Some(path) = std::env::var_os("CANTER_APACHE_LOG") {
        let bytes = std::fs::read(&path).unwrap();
        let index = index_of(
            preset_of(Format::AccessLog).unwrap().yaml,
            bytes,
            &options(),
        );
        let report = &index.report;
        println!(
            "{} documents, rejects {:?}",
            report.num_ingested_docs, report.rejects_by_reason
        );
        let docs = hits(&index, "*");
        assert_eq!(docs.len() as u64, report.num_ingested_docs);
        let docs: Vec<Value> = docs
            .into_iter()
            .map(|doc| {
                Value::Object(
                    doc.as_object()
                        .unwrap()
                        .clone()
                        .into_iter()
                        .collect::<Map<_, _>>(),
                )
            })
            .collect();
        check_formats(preset_of(Format::AccessLog).unwrap().yaml, &docs, None);
    }
}
