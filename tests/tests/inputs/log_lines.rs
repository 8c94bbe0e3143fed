//! Log lines with a time, of every family: ingested with the suggested config, compressed and with
//! a byte order mark, without rejected lines.

use std::io::{Cursor, Write};

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, preview, suggest};
use canter_samples::{Family, families};
use canter_tests::TestIndex;
use serde_json::{Value, json};

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";
/// 2024-07-01.
const INGESTED_AT_MS: u64 = 1_719_792_000_000;

fn options() -> IngestOptions {
    IngestOptions {
        ingested_at_ms: INGESTED_AT_MS,
        ..IngestOptions::default()
    }
}

fn source(bytes: &[u8]) -> Source {
    Source::reader("sample", Cursor::new(bytes.to_vec())).with_id("sample")
}

/// Returns the lines with a byte order mark, compressed with gzip.
fn packed(family: &Family, num: u64, seed: u64) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all("\u{feff}".as_bytes()).unwrap();
    for record in family.records(num, seed) {
        writeln!(encoder, "{}", record.text).unwrap();
    }
    encoder.finish().unwrap()
}

fn suggested(bytes: &[u8]) -> String {
    let any = IndexConfig::from_yaml(ANY, |_| None).unwrap();
    let first = preview(&any, &options(), source(bytes), 1_000).unwrap();
    suggest(&[first], "suggested", None).yaml
}

#[test]
fn what_is_suggested_for_a_family_takes_all_of_it_by_its_time() {
    for family in families() {
        let name = family.name;
        let yaml = suggested(&packed(family, 60, 1));
        let config = IndexConfig::from_yaml(&yaml, |_| None).unwrap();
        let records = family.records(60, 2);
        let is_dated = records[0].fields.contains_key("timestamp");
        let timestamp = config.doc_mapping.timestamp_field.as_deref();
        assert_eq!(timestamp, is_dated.then_some("timestamp"), "{name}\n{yaml}");
        let has_level = family.levels.len() > 1;
        let is_tag = config
            .doc_mapping
            .tag_fields
            .iter()
            .any(|tag| tag == "level");
        assert_eq!(is_tag, has_level, "{name}\n{yaml}");
        let searched = &config.search_settings.default_search_fields;
        assert!(
            searched.iter().any(|field| field == "message"),
            "{name}\n{yaml}"
        );

        let bytes = packed(family, 60, 2);
        let index = TestIndex::of_sources(&yaml, vec![source(&bytes)], &options()).unwrap();
        let report = &index.report;
        assert_eq!(report.num_rejected_docs, 0, "{name}: {report:?}");
        assert_eq!(report.num_ingested_docs, 60, "{name}: {report:?}");
        assert_eq!(report.inputs[0].format, "log", "{name}");
        assert_eq!(report.splits[0].time_range.is_some(), is_dated, "{name}");
    }
}

#[test]
fn a_family_is_searched_by_time_level_and_words() {
    let mut lines = String::new();
    for n in 0..60 {
        let level = if n % 3 == 0 { "ERROR" } else { "INFO" };
        lines +=
            &format!("I, [2024-05-01T10:{n:02}:00.000001 #7]  {level} -- app: request {n} done\n");
        lines += if n % 2 == 0 { "\tat some.Place\n" } else { "" };
    }
    let index = TestIndex::of_sources(
        &suggested(lines.as_bytes()),
        vec![source(lines.as_bytes())],
        &options(),
    );
    let index = index.unwrap();
    let check = |request: Value, expect: u64| {
        let answer = index.search(&request).unwrap().json;
        assert_eq!(answer["num_hits"], expect, "{request}");
    };
    check(json!({"query": "*"}), 60);
    check(json!({"query": "level:ERROR"}), 20);
    check(json!({"query": "Place"}), 30);
    check(json!({"query": "\"request 7 done\""}), 1);
    check(json!({"query": "process_id:7"}), 60);
    // Text before the message is found, too.
    check(json!({"query": "app"}), 60);
    check(json!({"query": "info"}), 40);
    check(json!({"query": "7"}), 60);
    let noon = 1_714_557_600;
    check(
        json!({"query": "*", "start_timestamp": noon, "end_timestamp": noon + 600}),
        10,
    );
    let hits = index
        .search(&json!({"query": "\"request 2 done\""}))
        .unwrap()
        .json;
    let hit = &hits["hits"][0];
    assert_eq!(hit.get("head_words"), None, "{hit}");
    let line = format!(
        "{}{}",
        hit["head"].as_str().unwrap(),
        hit["message"].as_str().unwrap()
    );
    assert_eq!(
        line,
        "I, [2024-05-01T10:02:00.000001 #7]  INFO -- app: request 2 done\n\tat some.Place"
    );
}

#[test]
fn years_and_zones_that_are_not_written_are_taken_from_what_is_said_of_the_input() {
    let lines = "E1231 23:59:59.000001 7 a.go:1] last\nE0101 00:00:00.000001 7 a.go:1] first\n";
    let times = |options: &IngestOptions| {
        let config = "{version: 0.8, index_id: lines, doc_mapping: {mode: dynamic, timestamp_field: timestamp, \
                      field_mappings: [{name: timestamp, type: datetime, fast: true, fast_precision: microseconds}]}}";
        let index = TestIndex::of_sources(config, vec![source(lines.as_bytes())], options).unwrap();
        let answer = index.search(&json!({"query": "*"})).unwrap().json;
        let hits = answer["hits"].as_array().unwrap();
        let mut times: Vec<&str> = hits
            .iter()
            .map(|hit| hit["timestamp"].as_str().unwrap())
            .collect();
        times.sort_unstable();
        (json!(times), index.report.inputs[0].times.clone().unwrap())
    };
    // 2025-01-01.
    let new_year = IngestOptions {
        ingested_at_ms: 1_735_689_600_000,
        ..options()
    };
    let (found, said) = times(&new_year);
    assert_eq!(
        found,
        json!(["2024-12-31T23:59:59.000001Z", "2025-01-01T00:00:00.000001Z"])
    );
    assert_eq!(
        said,
        "its times have no year: the latest before its last change, 2025-01-01; its times name no zone: UTC"
    );
    let (found, said) = times(&IngestOptions {
        year: Some(2020),
        zone: canter_formats::Zone::parse("+02:00"),
        ..new_year
    });
    assert_eq!(
        found,
        json!(["2019-12-31T22:00:00.000001Z", "2020-12-31T21:59:59.000001Z"])
    );
    assert_eq!(
        said,
        "its times have no year: 2020 was said; its times name no zone: +02:00"
    );
}

#[test]
fn lines_whose_time_lies_before_that_of_earlier_lines_are_found_by_it() {
    // Every seventh line is late, and increasingly so. The splits have ten documents each, and overlap in time.
    let second = |n: i64| if n % 7 == 6 { n - 3 * n / 4 } else { n };
    let mut lines = String::new();
    for n in 0..120 {
        let at = second(n);
        lines += &format!(
            "2024-05-01 10:{:02}:{:02} INFO [main] a.B - line number{n}\n",
            at / 60,
            at % 60
        );
    }
    let yaml = suggested(lines.as_bytes());
    let options = IngestOptions {
        split_num_docs_target: Some(10),
        ..options()
    };
    let index = TestIndex::of_sources(&yaml, vec![source(lines.as_bytes())], &options).unwrap();
    assert_eq!(index.report.splits.len(), 12);
    let ten = 1_714_557_600;
    for n in 0..120 {
        let at = ten + second(n);
        let request = |query: String| {
            let request = json!({"query": query, "start_timestamp": at, "end_timestamp": at + 1});
            index.search(&request).unwrap().json["num_hits"].clone()
        };
        let num_there = (0..120).filter(|other| second(*other) == second(n)).count();
        assert_eq!(request("*".to_owned()), num_there, "{n}");
        assert_eq!(request(format!("number{n}")), 1, "{n}");
    }
}

#[test]
fn a_config_may_name_the_zone_of_times() {
    let config = |zone: &str| {
        format!(
            "{{version: 0.8, index_id: lines, ingest_settings: {{time_zone: {zone}}}, doc_mapping: {{mode: dynamic, \
             timestamp_field: timestamp, field_mappings: [{{name: timestamp, type: datetime, fast: true}}]}}}}"
        )
    };
    let lines = "2024-01-01 10:00:00 INFO winter\n2024-07-01 10:00:00 INFO summer\n";
    let first = |zone: &str, options: &IngestOptions| {
        let sources = vec![source(lines.as_bytes())];
        let index = TestIndex::of_sources(&config(zone), sources, options).unwrap();
        let answer = index
            .search(&json!({"query": "*", "sort_by": "timestamp"}))
            .unwrap();
        let hits = answer.json["hits"].as_array().unwrap();
        let times = hits.iter().map(|hit| hit["timestamp"].clone());
        let mut times: Vec<Value> = times.collect();
        times.sort_by_key(|time| time.as_str().unwrap().to_owned());
        (json!(times), index.report.inputs[0].times.clone().unwrap())
    };
    assert_eq!(
        first("Europe/Berlin", &options()),
        (
            json!(["2024-01-01T09:00:00Z", "2024-07-01T08:00:00Z"]),
            "its times name no zone: Europe/Berlin".to_owned()
        )
    );
    // An option of the ingest takes precedence.
    let in_new_york = IngestOptions {
        zone: canter_formats::Zone::parse("America/New_York"),
        ..options()
    };
    let (times, _) = first("Europe/Berlin", &in_new_york);
    assert_eq!(
        times,
        json!(["2024-01-01T15:00:00Z", "2024-07-01T14:00:00Z"])
    );
    let error = TestIndex::of_sources(&config("Europe/Bonn"), Vec::new(), &options());
    let error = error.err().unwrap().to_string();
    assert!(error.contains("Europe/Bonn"), "{error}");
}
