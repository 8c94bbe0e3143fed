//! Combined terms: frequent terms without common documents cost nothing, and all terms of a range
//! or a pattern are read.

use std::sync::Arc;

use canter_runtime::engine::{NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Engine, Searcher};
use canter_tests::{TestIndex, run};
use serde_json::{Value, json};

const CONFIG: &str = "
version: 0.9
index_id: together
doc_mapping:
  mode: strict
  timestamp_field: time
  field_mappings:
    - {name: time, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: level, type: text, tokenizer: raw}
    - {name: body, type: text, record: position}
    - {name: words, type: text, record: basic}
search_settings:
  default_search_fields: [body]
";

/// Returns lines of four templates, each with unique words, and with a unique number in each line.
fn lines(num_docs: u64) -> Vec<String> {
    let templates = [
        ("INFO", "received block from source"),
        ("INFO", "received packet of client"),
        ("ERROR", "exception while serving block"),
        ("WARN", "slow disk while writing"),
    ];
    (0..num_docs)
        .map(|nth| {
            let (level, text) = templates[(nth * 7 % 11 % 4) as usize];
            let id = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let body = format!("{text} id{id:016x}");
            json!({"time": 1_700_000_000 + nth, "level": level, "words": body, "body": body})
                .to_string()
        })
        .collect()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    [
        Arc::new(NativeEngine::new()),
        Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap()),
    ]
}

/// Returns the answer and the number of requests.
fn search(searcher: &Searcher, request: &Value) -> (Value, u64) {
    let mut request = request.clone();
    if request["forced_filter"].is_null() {
        request["profile"] = json!(true);
    }
    let answer = run(searcher, &request).unwrap();
    assert_eq!(answer.json["failed_splits"], json!([]), "{request}");
    (answer.json, answer.profile.num_requests)
}

/// Returns the number of lines that contain all words of one of the lists, by a scan.
fn expected(lines: &[String], alternatives: &[&[&str]]) -> u64 {
    let has = |line: &&String| {
        let fits = |words: &&[&str]| words.iter().all(|word| line.contains(word));
        alternatives.iter().any(fits)
    };
    lines.iter().filter(has).count() as u64
}

#[test]
fn terms_that_never_meet_cost_no_request() {
    let lines = lines(12_000);
    let index = TestIndex::build(CONFIG, &lines, 3_000).unwrap();
    for engine in engines() {
        let searcher = index.searcher(engine, 1, 1).unwrap();
        for (query, words) in [
            ("packet AND block", &[][..]),
            ("\"packet block\"", &[]),
            ("level:ERROR AND received", &[]),
            ("level:WARN AND body:block", &[]),
            ("level:INFO AND (exception OR slow)", &[]),
            ("words:exception AND words:received", &[]),
            ("slow AND \"received block\"", &[]),
            ("slow AND (packet OR source)", &[]),
            // These terms have common documents.
            ("received AND block", &[&["received", "block"][..]][..]),
            ("level:ERROR AND block", &[&["exception"]]),
            ("while AND (block OR packet)", &[&["while", "block"]]),
            ("packet OR exception", &[&["packet"], &["exception"]]),
            ("while AND NOT block", &[&["slow"]]),
        ] {
            for counted in [json!(true), json!(false)] {
                let request = json!({"query": query, "max_hits": 5, "track_total_hits": counted});
                let (answer, num_requests) = search(&searcher, &request);
                let num_hits = expected(&lines, words);
                match (num_hits, counted.as_bool()) {
                    (0, _) => {
                        assert_eq!(answer["num_hits"], 0, "{query}");
                        assert!(num_requests <= 1, "{query}: {num_requests} requests");
                    }
                    (_, Some(true)) => assert_eq!(answer["num_hits"], num_hits, "{query}"),
                    _ => assert!(answer["num_hits"].as_u64() >= Some(5), "{query}"),
                }
            }
            let aggregated = json!({"query": query, "max_hits": 0, "aggs": {
                "by": {"date_histogram": {"field": "time", "fixed_interval": "1d", "min_doc_count": 1}},
            }});
            let buckets = search(&searcher, &aggregated).0;
            let counts = buckets["aggregations"]["by"]["buckets"].as_array();
            let counts = counts.unwrap().iter();
            let num_docs: u64 = counts
                .map(|bucket| bucket["doc_count"].as_u64().unwrap())
                .sum();
            assert_eq!(num_docs, expected(&lines, words), "{query}");
        }
        let explained = run(
            &searcher,
            &json!({"query": "packet AND block", "explain": true}),
        );
        let explained = explained.unwrap().json.to_string();
        assert!(explained.contains("never meet"), "{explained}");
        // The costs of a search must not reveal hidden documents.
        let request = json!({"query": "packet AND block", "forced_filter": "level:WARN"});
        assert_eq!(search(&searcher, &request).0["num_hits"], 0);
    }
}

/// Prefixes and patterns read the lists of all their terms, wherever the lists are.
#[test]
fn ranges_of_terms_and_patterns_find_all_their_lists() {
    let lines = lines(20_000);
    let index = TestIndex::build(CONFIG, &lines, 20_000).unwrap();
    let with = |wanted: &dyn Fn(&str) -> bool| {
        let has = |line: &&String| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["body"].as_str().unwrap().split(' ').any(wanted)
        };
        lines.iter().filter(has).count() as u64
    };
    for engine in engines() {
        let searcher = index.searcher(engine, 1, 1).unwrap();
        for (query, num_hits) in [
            ("id0*", with(&|word| word.starts_with("id0"))),
            ("id*", with(&|word| word.starts_with("id"))),
            ("s*", with(&|word| word.starts_with('s'))),
            ("e*", with(&|word| word.starts_with('e'))),
            (
                "body:[packet TO slow]",
                with(&|word| ("packet"..="slow").contains(&word)),
            ),
            ("body:/.*1f.*/", with(&|word| word.contains("1f"))),
            (
                "body:*7e*0",
                with(&|word| word.ends_with('0') && word[..word.len() - 1].contains("7e")),
            ),
            ("\"while ser\"*", with(&|word| word == "serving")),
            ("\"client id5\"*", expected(&lines, &[&["client id5"]])),
            (
                "\"received packet of client id\"*",
                expected(&lines, &[&["packet"]]),
            ),
            (
                "\"block from source id1\"*",
                expected(&lines, &[&["block from source id1"]]),
            ),
            // Both words exist, but never side by side.
            ("\"packet cli\"*", 0),
        ] {
            let (answer, _) = search(&searcher, &json!({"query": query, "max_hits": 3}));
            assert_eq!(answer["num_hits"], num_hits, "{query}");
            assert_eq!(answer["profile"]["warmup_gaps"], 0, "{query}");
        }
    }
}
