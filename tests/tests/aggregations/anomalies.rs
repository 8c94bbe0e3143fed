//! Malformed input: it never stops an ingest, and is never dropped silently, neither with
//! `on_error: rejects` nor with `keep`.

use std::io::{Cursor, Read, Write};

use canter_index_builder::{IngestOptions, IngestReport, Source};
use canter_tests::TestIndex;
use serde_json::{Value, json};

fn config(on_error: &str) -> String {
    format!(
        "
version: 0.8
index_id: anomalies
doc_mapping:
  mode: dynamic
  timestamp_field: ts
  field_mappings:
    - {{name: ts, type: datetime, input_formats: [rfc3339, unix_timestamp], fast: true}}
    - {{name: n, type: u64, fast: true}}
    - {{name: text, type: text}}
search_settings:
  default_search_fields: [text]
ingest_settings:
  on_error: {on_error}
"
    )
}

fn good(n: u64) -> String {
    format!(
        "{{\"ts\":{},\"n\":{n},\"text\":\"good\"}}",
        1_714_521_600 + n
    )
}

fn index_of(on_error: &str, source: Source, options: &IngestOptions) -> TestIndex {
    TestIndex::of_sources(&config(on_error), vec![source.with_id("source")], options).unwrap()
}

fn hits(index: &TestIndex, query: &str) -> Vec<Value> {
    let request = json!({"query": query, "max_hits": 1_000});
    let answer = index.search(&request).unwrap();
    let answer = answer.json;
    answer["hits"].as_array().unwrap().clone()
}

#[track_caller]
fn check_adds_up(report: &IngestReport) {
    assert_eq!(
        report.num_ingested_docs + report.num_rejected_docs,
        report.num_lines
    );
    let rejects: u64 = report.rejects_by_reason.values().sum();
    assert_eq!(rejects, report.num_rejected_docs);
    assert_eq!(
        report.kept_by_reason.values().sum::<u64>(),
        report.num_kept_docs
    );
}

/// Checks a line between two valid ones: it is either rejected with a reason, or kept with the
/// reason and its text.
#[track_caller]
fn check_line(line: &[u8], reason: &str, raw: &str) {
    let bytes = [
        good(1).as_bytes(),
        b"\n",
        line,
        b"\n",
        good(2).as_bytes(),
        b"\n",
    ]
    .concat();
    let source = || Source::reader("source", Cursor::new(bytes.clone()));
    let rejecting = index_of("rejects", source(), &IngestOptions::default());
    let report = &rejecting.report;
    check_adds_up(report);
    assert_eq!(
        (report.num_ingested_docs, report.num_lines),
        (2, 3),
        "{report:?}"
    );
    assert_eq!(
        report.rejects_by_reason.keys().collect::<Vec<_>>(),
        [reason]
    );

    let keeping = index_of("keep", source(), &IngestOptions::default());
    let report = &keeping.report;
    check_adds_up(report);
    assert_eq!((report.num_ingested_docs, report.num_kept_docs), (3, 1));
    let kept = hits(&keeping, &format!("_parse_error:{reason}"));
    assert_eq!(kept.len(), 1, "{reason}");
    assert_eq!(kept[0]["_raw"], raw);
    assert!(!kept[0]["_parse_message"].as_str().unwrap().is_empty());
    // The kept line takes the time of the line before.
    assert_eq!(kept[0]["ts"], "2024-05-01T00:00:01Z");
    assert_eq!(hits(&keeping, "*").len(), 3);
    assert_eq!(
        hits(&keeping, "good").len(),
        2 + usize::from(raw.contains("good"))
    );
}

#[test]
fn lines_that_are_no_documents_are_rejected_or_kept() {
    check_line(b"just a line of text", "not_json", "just a line of text");
    check_line(
        b"\x01\x02\xff\xfe binary",
        "invalid_utf8",
        "\u{1}\u{2}\\xff\\xfe binary",
    );
    check_line(b"\0\0 nul", "not_json", "\0\0 nul");
    check_line("caf\u{e9} \u{1f469}".as_bytes(), "not_json", "café 👩");
    check_line(
        b"{\"ts\":1,\"ts\":2}",
        "out_of_range",
        "{\"ts\":1,\"ts\":2}",
    );
    let twice = "{\"ts\":1714521600,\"a\":1,\"a\":2}";
    check_line(twice.as_bytes(), "duplicate_key", twice);
    let changed = "{\"ts\":1714521600,\"n\":\"many\"}";
    check_line(changed.as_bytes(), "wrong_type", changed);
    let large = "{\"ts\":1714521600,\"n\":99999999999999999999}";
    check_line(large.as_bytes(), "out_of_range", large);
    let huge = "{\"ts\":1714521600,\"x\":1e999}";
    check_line(huge.as_bytes(), "out_of_range", huge);
    for year in ["0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"] {
        let line = format!("{{\"ts\":\"{year}\"}}");
        check_line(line.as_bytes(), "out_of_range", &line);
    }
    let late = "{\"n\":1,\"text\":\"good, but for its time\"}";
    check_line(late.as_bytes(), "missing_timestamp", late);
    let deep = format!(
        "{{\"ts\":1714521600,\"x\":{}{}}}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    check_line(deep.as_bytes(), "too_deep", &deep);
}

#[test]
fn what_is_kept_is_found_by_its_words() {
    let text = format!("{}\nPanic in the engine room\n", good(1));
    let source = Source::reader("source", Cursor::new(text));
    let index = index_of("keep", source, &IngestOptions::default());
    assert_eq!(hits(&index, "engine").len(), 1);
    assert_eq!(hits(&index, "_raw:\"engine room\"").len(), 1);
    let request = json!({
        "query": "*", "max_hits": 0,
        "aggs": {"why": {"terms": {"field": "_parse_error"}}},
    });
    let answer = index.search(&request).unwrap();
    let answer = answer.json;
    let buckets = &answer["aggregations"]["why"]["buckets"];
    assert_eq!(buckets[0]["key"], "not_json");
    assert_eq!(buckets[0]["doc_count"], 1);
}

#[test]
fn a_byte_order_mark_and_other_line_endings_change_nothing() {
    let plain = format!("{}\n{}\n", good(1), good(2));
    let marked = format!("\u{feff}{}\r\n{}\r\n", good(1), good(2));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(marked.as_bytes()).unwrap();
    for bytes in [
        plain.into_bytes(),
        marked.into_bytes(),
        packed.finish().unwrap(),
    ] {
        let source = Source::reader("source", Cursor::new(bytes));
        let index = index_of("rejects", source, &IngestOptions::default());
        assert_eq!(index.report.num_rejected_docs, 0);
        assert_eq!(hits(&index, "n:[1 TO 2]").len(), 2);
    }
}

#[test]
fn a_line_of_100_mb_is_rejected_or_kept_in_parts() {
    const LEN: u64 = 100_000_000;
    let source = || {
        let lines = Cursor::new(format!("{}\n", good(1)));
        let last = Cursor::new(format!("\n{}\n", good(2)));
        Source::reader(
            "source",
            lines.chain(std::io::repeat(b'x').take(LEN)).chain(last),
        )
    };
    let options = IngestOptions::default();
    let rejecting = index_of("rejects", source(), &options);
    check_adds_up(&rejecting.report);
    assert_eq!(rejecting.report.rejects_by_reason["line_too_long"], 1);
    assert_eq!(rejecting.report.num_ingested_docs, 2);
    let keeping = index_of("keep", source(), &options);
    check_adds_up(&keeping.report);
    let parts = LEN.div_ceil(options.max_line_num_bytes as u64);
    assert_eq!(keeping.report.kept_by_reason["line_too_long"], parts);
    // Fetches a few at a time, since the size of an answer is limited.
    let mut num_bytes = 0;
    for from in (0..parts).step_by(8) {
        let request = json!({
            "query": "_parse_error:line_too_long", "max_hits": 8, "start_offset": from,
        });
        let answer = keeping.search(&request).unwrap();
        let answer = answer.json;
        for hit in answer["hits"].as_array().unwrap() {
            num_bytes += hit["_raw"].as_str().unwrap().len() as u64;
        }
    }
    assert_eq!(num_bytes, LEN);
}

#[test]
fn a_stack_trace_is_one_document() {
    let text = "2024-05-01 10:00:00 INFO start\n2024-05-01 10:00:01 ERROR failed\n  at engine.rs:7\n  at \
                main.rs:1\nCaused by: no fuel\n2024-05-01 10:00:02 INFO end\n";
    let plain = "{version: 0.8, index_id: plain, doc_mapping: {field_mappings: [{name: message, type: text, \
                 record: position}]}, search_settings: {default_search_fields: [message]}";
    let rule = "^[0-9]{4}-";
    let by_option = IngestOptions {
        multiline_start: Some(rule.to_string()),
        ..IngestOptions::default()
    };
    let by_config = format!("{plain}, ingest_settings: {{multiline_start: \"{rule}\"}}}}");
    for (config, options) in [
        (format!("{plain}}}"), by_option),
        (by_config, IngestOptions::default()),
    ] {
        let source = Source::reader("source", Cursor::new(text)).with_id("source");
        let index = TestIndex::of_sources(&config, vec![source], &options).unwrap();
        assert_eq!(index.report.num_ingested_docs, 3);
        let found = hits(&index, "failed AND fuel");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0]["message"].as_str().unwrap().lines().count(), 4);
    }
}

#[test]
fn a_field_that_changes_its_type_is_found_by_either() {
    let lines: String = [
        "1",
        "\"one\"",
        "true",
        "[1.5, \"x\"]",
        "{\"y\": null, \"z\": 2}",
    ]
    .iter()
    .enumerate()
    .map(|(n, value)| format!("{{\"ts\":{},\"v\":{value}}}\n", 1_714_521_600 + n))
    .collect();
    let source = Source::reader("source", Cursor::new(lines));
    let index = index_of("rejects", source, &IngestOptions::default());
    assert_eq!(index.report.num_ingested_docs, 5);
    for (query, num) in [
        ("v:1", 1),
        ("v:one", 1),
        ("v:true", 1),
        ("v:x", 1),
        ("v.z:2", 1),
    ] {
        assert_eq!(hits(&index, query).len(), num, "{query}");
    }
}

#[test]
fn ten_thousand_fields_are_all_found() {
    let lines: String = (0..100)
        .map(|n| {
            let fields: String = (0..100)
                .map(|m| format!(",\"f{}\":{m}", n * 100 + m))
                .collect();
            format!("{{\"ts\":{}{fields}}}\n", 1_714_521_600 + n)
        })
        .collect();
    let source = Source::reader("source", Cursor::new(lines));
    let index = index_of("rejects", source, &IngestOptions::default());
    assert_eq!(index.report.num_ingested_docs, 100);
    assert_eq!(hits(&index, "f0:0").len(), 1);
    assert_eq!(hits(&index, "f9999:99").len(), 1);
}

#[test]
fn of_a_gzip_member_that_is_cut_short_everything_before_is_there() {
    let lines: String = (0..20_000).map(|n| good(n) + "\n").collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(lines.as_bytes()).unwrap();
    let mut packed = packed.finish().unwrap();
    packed.truncate(packed.len() * 3 / 4);
    for on_error in ["rejects", "keep"] {
        let source = Source::reader("source", Cursor::new(packed.clone()));
        let index = index_of(on_error, source, &IngestOptions::default());
        let report = &index.report;
        check_adds_up(report);
        assert!(report.num_ingested_docs > 10_000);
        assert!(
            report.inputs[0]
                .broken_off
                .as_ref()
                .unwrap()
                .contains("not a whole gzip file")
        );
        assert!(
            report
                .warnings
                .iter()
                .any(|warning| warning.name == "broken_off")
        );
        let named = report
            .rejects_by_reason
            .get("broken_off")
            .or(report.kept_by_reason.get("broken_off"));
        assert_eq!(named, Some(&1));
    }
}

#[test]
fn a_csv_with_broken_rows_keeps_what_it_cannot_read() {
    let text =
        "ts,n,text\n1714521600,1,good\n1714521601,2\n1714521602,3,\"open\n1714521603,4,good\n";
    let source = || Source::reader("source", Cursor::new(text));
    let index = index_of("keep", source(), &IngestOptions::default());
    let report = &index.report;
    check_adds_up(report);
    assert_eq!((report.num_ingested_docs, report.num_kept_docs), (4, 2));
    assert_eq!(
        hits(&index, "_parse_error:unclosed_quote")[0]["_raw"],
        "1714521602,3,\"open"
    );
    assert_eq!(
        hits(&index, "_parse_error:wrong_number_of_values")[0]["_raw"],
        "1714521601,2"
    );
    assert_eq!(hits(&index, "text:good").len(), 2);
}
