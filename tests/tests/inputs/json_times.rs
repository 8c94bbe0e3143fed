//! Times in JSON: detected from all values when a config is suggested, and in dynamic mode.

use std::io::Cursor;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, preview, suggest};
use canter_tests::TestIndex;
use serde_json::{Value, json};

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";
/// 2024-05-01T10:00:00Z.
const START_S: u64 = 1_714_557_600;
const NUM_DOCS: u64 = 30;

fn source(lines: &str) -> Source {
    Source::reader("sample", Cursor::new(lines.as_bytes().to_vec())).with_id("sample")
}

/// Returns a document for each of some seconds, in an order that differs from that of record
/// numbers.
fn lines(doc: impl Fn(u64) -> Value) -> String {
    (0..NUM_DOCS)
        .map(|n| format!("{}\n", doc(n * 7 + n % 3)))
        .collect()
}

#[test]
fn times_in_every_form_become_the_timestamp_of_a_suggestion() {
    let clock = |n: u64| format!("{:02}:{:02}", n / 60, n % 60);
    let check = |field: &str, doc: &dyn Fn(u64) -> Value| {
        let lines = lines(doc);
        let any = IndexConfig::from_yaml(ANY, |_| None).unwrap();
        let options = IngestOptions::default();
        let first = preview(&any, &options, source(&lines), 1_000).unwrap();
        let yaml = suggest(&[first], "suggested", None).yaml;
        let config =
            IndexConfig::from_yaml(&yaml, |_| None).unwrap_or_else(|e| panic!("{e}\n{yaml}"));
        let timestamp = config.doc_mapping.timestamp_field.as_deref();
        assert_eq!(timestamp.unwrap_or(""), field, "{yaml}");
        let index = TestIndex::of_sources(&yaml, vec![source(&lines)], &options).unwrap();
        assert_eq!(index.report.num_ingested_docs, NUM_DOCS, "{yaml}");
        if let Some(range) = index.report.splits[0].time_range {
            let second = START_S as i64;
            assert_eq!(range.start_ns / 1_000_000_000, second, "{yaml}");
        }
    };
    check(
        "ts",
        &|n| json!({"ts": format!("2024-05-01T10:{}Z", clock(n))}),
    );
    check(
        "ts",
        &|n| json!({"ts": format!("2024-05-01T12:{}+0200", clock(n))}),
    );
    check(
        "ts",
        &|n| json!({"ts": format!("2024-05-01T10:{},123", clock(n))}),
    );
    check(
        "when",
        &|n| json!({"when": format!("2024-05-01 10:{}", clock(n))}),
    );
    check(
        "when",
        &|n| json!({"when": format!("2024-05-01T10:{}.000123", clock(n))}),
    );
    check(
        "when",
        &|n| json!({"when": format!("Wed, 01 May 2024 10:{} +0000", clock(n))}),
    );
    check("t", &|n| json!({"t": START_S as f64 + n as f64 + 0.52}));
    check(
        "value",
        &|n| json!({"value": START_S + n, "accounts_id": 2_000_000_000 + n, "packets": 1_500_000_000 + n}),
    );
    check("ts", &|n| json!({"ts": (START_S + n).to_string()}));
    check(
        "timestamp",
        &|n| json!({"instant": {"epochSecond": START_S + n, "nanoOfSecond": 123_000_000}, "level": "INFO"}),
    );
    check(
        "__REALTIME_TIMESTAMP",
        &|n| json!({"__REALTIME_TIMESTAMP": ((START_S + n) * 1_000_000 + 5).to_string(), "_PID": "7", "MESSAGE": "a b"}),
    );
    check(
        "",
        &|n| json!({"accounts_id": 1_714_557_600 + n, "packets": 1_714_557_600 + n, "day": "May"}),
    );
}

#[test]
fn dates_without_an_offset_are_dates_in_dynamic_mode() {
    let config = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic, dynamic_mapping: {fast: true}}}";
    for form in [
        "2024-05-01T10:00:00",
        "2024-05-01 10:00:00,000",
        "2024-05-01T12:00:00+0200",
    ] {
        let lines = lines(|_| json!({"at": form, "n": 1}));
        let index =
            TestIndex::of_sources(config, vec![source(&lines)], &IngestOptions::default()).unwrap();
        let request = json!({"query": "*", "max_hits": 1, "aggs": {
            "times": {"date_histogram": {"field": "at", "fixed_interval": "1h"}},
        }});
        let answer = index.search(&request).unwrap().json;
        let buckets = &answer["aggregations"]["times"]["buckets"];
        assert_eq!(buckets[0]["doc_count"], NUM_DOCS, "{form}: {answer}");
        // A hit shows the original text, which a query also finds.
        assert_eq!(answer["hits"][0]["at"], form);
        let found = index
            .search(&json!({"query": format!("at:\"{form}\"")}))
            .unwrap()
            .json;
        assert_eq!(found["num_hits"], NUM_DOCS, "{form}");
    }
}
