//! Transforms in whole ingests: the programs of `examples/transforms` over each layout, with any
//! format and number of threads; dropped, rejected and kept records; and the identities of
//! documents.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use canter_formats::Format;
use canter_formats::presets::preset_of;
use canter_index_builder::{
    IngestOptions, Source, Transform, VerifyOptions, build_part, create_index, publish_receipts,
};
use canter_samples::{LAYOUTS, sample};
use canter_tests::TestIndex;
use serde_json::{Map, Value, json};

const NUM_DOCS: u64 = 1_000;
const DYNAMIC: &str = "{version: 0.8, index_id: transforms, doc_mapping: {mode: dynamic}}";

fn options(program: Option<&str>) -> IngestOptions {
    IngestOptions {
        year: Some(2024),
        transform: program.map(|text| Transform::compile("test.vrl", text).unwrap()),
        ..IngestOptions::default()
    }
}

fn source(bytes: impl Into<Vec<u8>>) -> Source {
    Source::reader("sample", Cursor::new(bytes.into())).with_id("sample")
}

fn index_of(config: &str, bytes: impl Into<Vec<u8>>, options: &IngestOptions) -> TestIndex {
    TestIndex::of_sources(config, vec![source(bytes)], options).unwrap()
}

fn hits(index: &TestIndex) -> Vec<Value> {
    let request = json!({"query": "*", "max_hits": 10_000});
    let answer = index.search(&request).unwrap().json;
    answer["hits"].as_array().unwrap().clone()
}

/// Returns the documents as sorted texts, with numbers without their type and times without
/// trailing zeros.
fn sorted(docs: &[Value]) -> Vec<String> {
    fn normal(value: &Value) -> Value {
        match value {
            Value::Number(number) => json!(number.as_f64()),
            Value::Array(values) => values.iter().map(normal).collect(),
            Value::Object(object) => {
                let members: BTreeMap<&String, Value> = object
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (key, normal(value)))
                    .collect();
                json!(members)
            }
            Value::String(text) => match text.parse::<jiff::Timestamp>() {
                Ok(time) => time.to_string().into(),
                Err(_) => value.clone(),
            },
            value => value.clone(),
        }
    }
    let mut texts: Vec<String> = docs.iter().map(|doc| normal(doc).to_string()).collect();
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

/// Returns a preset that accepts new fields.
fn preset(format: Format) -> String {
    let yaml = preset_of(format).unwrap().yaml;
    yaml.replace("mode: lenient", "mode: dynamic")
}

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/transforms");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Runs an example over the sample of a layout, and compares it with `expect`, which does the same
/// in Rust. Returns the number of dropped records by reason.
#[track_caller]
fn check_example(
    name: &str,
    format: Format,
    expect: impl Fn(&mut Map<String, Value>) -> Vec<Value>,
) -> BTreeMap<String, u64> {
    let sample = sample(format, NUM_DOCS, 7);
    let mut docs = Vec::new();
    for doc in &sample.docs {
        docs.extend(expect(&mut doc.as_object().unwrap().clone()));
    }
    let index = index_of(
        &preset(format),
        sample.bytes,
        &options(Some(&example(name))),
    );
    let report = &index.report;
    assert_eq!(report.num_rejected_docs, 0, "{report:?}");
    assert_eq!(report.num_ingested_docs, docs.len() as u64);
    assert_eq!(
        report.num_ingested_docs + report.num_dropped_docs,
        report.num_lines
    );
    check_same(&hits(&index), &docs, name);
    report.dropped_by_reason.clone()
}

fn doc(fields: &Map<String, Value>) -> Vec<Value> {
    vec![Value::Object(fields.clone())]
}

#[test]
fn cloudtrail_says_who_did_what() {
    let dropped = check_example("cloudtrail.vrl", Format::CloudTrail, |fields| {
        let user = fields["userIdentity"]["userName"].clone();
        let is_error = fields.contains_key("errorCode");
        for gone in ["userIdentity", "requestParameters", "responseElements"] {
            fields.remove(gone);
        }
        fields.extend([
            ("user".to_owned(), user),
            ("mfa".to_owned(), json!(false)),
            ("service".to_owned(), json!("ec2")),
            ("is_error".to_owned(), json!(is_error)),
        ]);
        doc(fields)
    });
    assert!(dropped.is_empty());
}

#[test]
fn load_balancers_have_urls_in_parts() {
    check_example("alb.vrl", Format::Alb, |fields| {
        let path = fields["path"].as_str().unwrap();
        let path = path.split_once(":443").unwrap().1.replace('ü', "%C3%BC");
        fields.extend([
            ("path".to_owned(), json!(path)),
            ("url_host".to_owned(), json!("www.example.com")),
        ]);
        if fields["target_processing_time"] == json!(-1) {
            for gone in ["request", "target", "response"] {
                fields.remove(&format!("{gone}_processing_time"));
            }
            fields.insert("is_unanswered".to_owned(), json!(true));
        }
        doc(fields)
    });
}

#[test]
fn access_logs_have_classes_and_arguments() {
    let dropped = check_example("access-log.vrl", Format::AccessLog, |fields| {
        let status = fields["status"].as_u64().unwrap();
        if status == 304 {
            return Vec::new();
        }
        fields.insert(
            "status_class".to_owned(),
            json!(format!("{}xx", status / 100)),
        );
        match fields.get("query").and_then(Value::as_str) {
            Some("q=a%20b") => drop(fields.insert("args".to_owned(), json!({"q": "a b"}))),
            Some(_) => {
                let args = json!({"page": "2", "sort": "up"});
                fields.insert("args".to_owned(), args);
            }
            None => {}
        }
        doc(fields)
    });
    assert_eq!(dropped.keys().collect::<Vec<_>>(), ["not modified"]);
    assert!(dropped["not modified"] > 50);
}

#[test]
fn syslog_has_its_data_as_fields() {
    let dropped = check_example("syslog.vrl", Format::Syslog, |fields| {
        if fields["severity"] == "debug" {
            return Vec::new();
        }
        if fields.remove("structured_data").is_some() {
            fields.insert("class".to_owned(), json!("a \"b\" ]"));
            fields.insert("seq".to_owned(), json!("7"));
        }
        fields.insert("words".to_owned(), json!(3));
        doc(fields)
    });
    assert_eq!(dropped.keys().collect::<Vec<_>>(), ["debug"]);
}

#[test]
fn open_telemetry_has_a_document_for_each_element() {
    check_example("otel-logs.vrl", Format::OtlpJson, |fields| {
        let body = fields.remove("body").unwrap();
        let text = [&body["message"], &body["text"]];
        let text = text
            .into_iter()
            .find(|text| !text.is_null())
            .unwrap()
            .clone();
        let host = fields.remove("resource_attributes").unwrap()["host.id"].clone();
        let Some(Value::Object(attributes)) = fields.remove("attributes") else {
            panic!("no attributes");
        };
        fields.extend(attributes);
        fields.insert("message".to_owned(), text);
        fields.insert("host".to_owned(), host);
        let with = |element: Value| {
            let mut fields = fields.clone();
            fields.insert("list".to_owned(), element);
            Value::Object(fields)
        };
        vec![with(json!("a")), with(json!(1))]
    });
}

#[test]
fn flow_logs_have_names_of_protocols() {
    let dropped = check_example("vpc-flow.vrl", Format::VpcFlow, |fields| {
        if fields["log_status"] == "NODATA" {
            return Vec::new();
        }
        fields.insert("protocol_name".to_owned(), json!("tcp"));
        fields.insert("seconds".to_owned(), json!(60));
        doc(fields)
    });
    assert_eq!(dropped.keys().collect::<Vec<_>>(), ["no data"]);
}

#[test]
fn a_program_that_does_nothing_changes_no_document_of_any_format() {
    for format in LAYOUTS {
        let preset = preset_of(format).unwrap().yaml;
        let sample = sample(format, 300, 7);
        let with = index_of(preset, sample.bytes.clone(), &options(Some(".")));
        let without = index_of(preset, sample.bytes, &options(None));
        assert_eq!(with.report.num_ingested_docs, 300, "{format}");
        assert_eq!(hits(&with), hits(&without), "{format}");
        let sizes = |index: &TestIndex| {
            let splits = index.report.splits.iter();
            splits
                .map(|split| (split.num_docs, split.num_raw_bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(sizes(&with), sizes(&without), "{format}");
    }
}

#[test]
fn the_same_input_makes_the_same_splits_with_any_number_of_threads() {
    let sample = sample(Format::AccessLog, 20_000, 3);
    let program = example("access-log.vrl");
    let splits = |num_threads: usize| {
        let options = IngestOptions {
            num_parsers: num_threads,
            num_indexers: num_threads,
            split_num_docs_target: Some(3_000),
            ..options(Some(&program))
        };
        let index = index_of(&preset(Format::AccessLog), sample.bytes.clone(), &options);
        (index.report.splits, index.report.dropped_by_reason)
    };
    let one = splits(1);
    assert_eq!(one.0.len(), 6);
    assert_eq!(splits(3), one);
    assert_eq!(splits(5), one);
}

const LINES: &str = concat!(
    "{\"n\":1,\"v\":\"1\"}\n",
    "{\"n\":2,\"v\":\"x\"}\n",
    "not json\n",
    "{\"n\":3,\"v\":\"3\"}\n",
    "{\"n\":4,\"n\":4}\n",
    "{\"n\":5,\"debug\":true}\n",
    "{\"n\":6,\"v\":\"6\",\"bad\":true}\n",
);
const PROGRAM: &str = "if .debug == true { abort \"debug\" }\n\
     if .bad == true { %route = \"reject\"; %reason = \"it is bad\" }\n\
     .v = to_int!(.v)\n";

#[test]
fn what_goes_wrong_in_a_program_follows_the_rule_of_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let rejects = folder.path().join("rejects.ndjson");
    let rejecting = IngestOptions {
        rejects_path: Some(rejects.clone()),
        format: Some(Format::Ndjson),
        ..options(Some(PROGRAM))
    };
    let index = index_of(DYNAMIC, LINES, &rejecting);
    let report = &index.report;
    let counts = [
        report.num_ingested_docs,
        report.num_rejected_docs,
        report.num_dropped_docs,
        report.num_lines,
    ];
    assert_eq!(counts, [2, 4, 1, 7]);
    assert_eq!(
        report.dropped_by_reason,
        BTreeMap::from([("debug".to_owned(), 1)])
    );
    let told = std::fs::read_to_string(&rejects).unwrap();
    let told: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let reasons: Vec<(u64, u64, &str)> = told
        .iter()
        .map(|reject| {
            let number = |name: &str| reject[name].as_u64().unwrap();
            (
                number("line"),
                number("byte_offset"),
                reject["reason"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        reasons,
        [
            (2, 16, "transform_failed"),
            (3, 32, "not_json"),
            (5, 57, "duplicate_key"),
            (7, 92, "rejected_by_transform"),
        ]
    );
    assert_eq!(told[0]["document"], "{\"n\":2,\"v\":\"x\"}");
    assert!(told[0]["message"].as_str().unwrap().contains("to_int"));
    assert_eq!(told[3]["message"], "it is bad");

    let keeping = "{version: 0.8, index_id: transforms, doc_mapping: {mode: dynamic}, ingest_settings: {on_error: keep}}";
    let index = index_of(keeping, LINES, &rejecting);
    assert_eq!(index.report.num_ingested_docs, 6);
    let kept = hits(&index);
    let kept = kept
        .iter()
        .find(|doc| doc["_parse_error"] == "transform_failed")
        .unwrap();
    assert_eq!(kept["_raw"], "{\"n\":2,\"v\":\"x\"}");
    assert!(kept["_parse_message"].as_str().unwrap().contains("to_int"));
}

#[test]
fn a_source_that_grows_is_gone_on_with_and_its_documents_stay_who_they_are() {
    let config = canter_doc_mapper::IndexConfig::from_yaml(DYNAMIC, |_| None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &config).unwrap();
    let line = |n: u64| format!("{{\"n\":{n}}}\n");
    let all: String = (0..100).map(line).collect();
    let ingest = |num_lines: usize, program: &str| {
        let bytes: String = all.split_inclusive('\n').take(num_lines).collect();
        canter_index_builder::ingest(&store, &options(Some(program)), vec![source(bytes)], &())
            .unwrap()
    };
    let odd = "if mod(int!(.n), 2) == 0 { abort }";
    let report = ingest(40, odd);
    assert_eq!(
        (report.num_ingested_docs, report.num_dropped_docs),
        (20, 20)
    );
    let report = ingest(40, odd);
    assert_eq!((report.num_ingested_docs, report.num_known_docs), (0, 20));
    let report = ingest(60, odd);
    assert_eq!((report.num_ingested_docs, report.num_known_docs), (10, 20));
    // Another program applies to new records only; known ones are not ingested again.
    let report = ingest(100, ". = [., .]");
    assert_eq!((report.num_ingested_docs, report.num_known_docs), (80, 120));
    assert_eq!(store.describe().unwrap().num_docs, 20 + 10 + 80);
    let verified = canter_index_builder::verify_index(&store, &VerifyOptions::default()).unwrap();
    assert!(verified.problems.is_empty(), "{:?}", verified.problems);
}

#[test]
fn parts_that_went_through_different_programs_are_not_published_together() {
    let config = canter_doc_mapper::IndexConfig::from_yaml(DYNAMIC, |_| None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &config).unwrap();
    let part = |id: &str, program: Option<&str>| {
        let bytes = format!("{{\"id\":\"{id}\"}}\n{{\"debug\":true}}\n").into_bytes();
        let source = Source::reader(id, Cursor::new(bytes)).with_id(id);
        build_part(&store, &options(program), vec![source], &()).unwrap()
    };
    let program = Some("if .debug == true { abort }");
    let error = publish_receipts(&store, &[part("a", program), part("b", None)]).unwrap_err();
    assert!(
        error.to_string().contains("different transforms"),
        "{error}"
    );
    let parts = [part("a", program), part("b", program)];
    assert_eq!(parts[0].num_dropped_docs, 1);
    let published = publish_receipts(&store, &parts).unwrap();
    assert_eq!(published.num_published_docs, 2);
}
