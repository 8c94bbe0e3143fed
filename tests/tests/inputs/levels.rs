//! Levels of JSON, logfmt and containers with the suggested config: found in any spelling, and shown as they were written.

use std::io::Cursor;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, preview, suggest};
use canter_tests::TestIndex;
use serde_json::{Value, json};

use crate::suggestions::ask;

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";
const NUM_DOCS: usize = 30;

fn source(text: &str) -> Source {
    Source::reader("sample", Cursor::new(text.as_bytes().to_vec())).with_id("sample")
}

fn index(text: &str) -> TestIndex {
    let any = IndexConfig::from_yaml(ANY, |_| None).unwrap();
    let options = IngestOptions::default();
    let first = preview(&any, &options, source(text), 1_000).unwrap();
    let yaml = suggest(&[first], "suggested", None).yaml;
    let index = TestIndex::of_sources(&yaml, vec![source(text)], &options).unwrap();
    assert_eq!(index.report.num_ingested_docs, NUM_DOCS as u64, "{yaml}");
    index
}

fn time(n: usize) -> String {
    format!("2024-05-01T10:00:{n:02}Z")
}

/// Lines of a format, each with its level of three.
type Line = fn(usize, &Value) -> String;

fn of_json(n: usize, level: &Value) -> String {
    json!({"time": time(n), "level": level, "msg": format!("request {n} done")}).to_string()
}

fn of_gelf(n: usize, level: &Value) -> String {
    json!({"timestamp": 1_714_557_600 + n, "level": level, "short_message": "a request"})
        .to_string()
}

fn of_logfmt(n: usize, level: &Value) -> String {
    let level = level.as_str().unwrap();
    format!("time={} level={level} msg=\"request {n} done\"", time(n))
}

fn of_docker(n: usize, level: &Value) -> String {
    let log = of_json(n, level) + "\n";
    json!({"log": log, "stream": "stdout", "time": time(n)}).to_string()
}

fn of_journal(n: usize, level: &Value) -> String {
    let micros = (1_714_557_600_000_000_u64 + n as u64).to_string();
    json!({"__REALTIME_TIMESTAMP": micros, "PRIORITY": level, "MESSAGE": "a request"}).to_string()
}

#[test]
fn a_level_is_found_in_any_spelling() {
    let words = [json!("info"), json!("WARN"), json!("Error")];
    let short = [json!("INF"), json!("WRN"), json!("ERR")];
    let numbers = [json!(30), json!(40), json!(50)];
    let severities = [json!(6), json!(4), json!(3)];
    let priorities = [json!("6"), json!("4"), json!("3")];
    for (line, levels, spellings) in [
        (
            of_json as Line,
            &words,
            &["ERROR", "error", "err", "50"][..],
        ),
        (of_json, &short, &["ERROR", "error", "ERR"]),
        (of_json, &numbers, &["ERROR", "error", "50"]),
        (of_gelf, &severities, &["ERROR", "err", "3"]),
        (of_logfmt, &words, &["ERROR", "Error", "err"]),
        (of_docker, &words, &["ERROR", "Error", "err"]),
        (of_docker, &numbers, &["ERROR", "50"]),
        (of_journal, &priorities, &["ERROR"]),
    ] {
        let lines = (0..NUM_DOCS).map(|n| line(n, &levels[n % 3]) + "\n");
        let index = index(&lines.collect::<String>());
        for level in spellings {
            let found = index.search(&json!({"query": format!("level:{level}")}));
            let found = found.unwrap().json;
            assert_eq!(found["num_hits"], NUM_DOCS / 3, "{level} of {levels:?}");
            let shown = &found["hits"][0]["level"];
            assert!(
                *shown == levels[2] || *shown == "ERROR",
                "{shown} of {levels:?}"
            );
            // A single character of a term may be one of a pattern.
            let kinds = ["match", "term"].into_iter().take(level.len().min(2));
            for kind in kinds {
                let body = json!({"query": {kind: {"level": level}}, "track_total_hits": true});
                let answer = ask(&index, &body);
                assert_eq!(
                    answer["hits"]["total"]["value"],
                    NUM_DOCS / 3,
                    "{body}: {answer}"
                );
            }
        }
    }
}
