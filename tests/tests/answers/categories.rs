//! `categorize_text`: the statements of programs, with and without a column of patterns, against what wrote the texts.

use std::collections::BTreeMap;

use canter_tests::TestIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

const FIELDS: &str = "
version: 0.9
index_id: app
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - name: message
      type: text
      record: position
";

/// What an index needs besides for patterns in a column.
const COLUMN: &str = "
      sub_fields: [{name: pattern, type: text, indexed: false, stored: false, fast: {normalizer: pattern}}]
";

/// Number of the statements below, each with the words that it always writes.
const STATEMENTS: [&str; 7] = [
    "Received block of size from",
    "user logged in after",
    "Connection to lost retrying in",
    "session opened for by cron",
    "flush done",
    "cache miss ratio for key",
    "Deleting old segments under",
];

fn message(statement: usize, rng: &mut ChaCha8Rng) -> String {
    let n = rng.random_range(0..1_000_000);
    let name = ["root", "eve", "bob", "alice", "kim", "max", "zoe"][rng.random_range(0..7)];
    match statement {
        0 => format!(
            "Received block blk_{n} of size {n} from /10.0.{}.7",
            n % 250
        ),
        1 => format!("user {name} logged in after {} ms", n % 900),
        2 => format!(
            "Connection to node-{} lost, retrying in {}s",
            n % 40,
            n % 30
        ),
        3 => format!("session opened for {name} by cron"),
        4 => "flush done".to_owned(),
        5 => format!("cache miss, ratio=0.{n} for key={name}"),
        _ => format!("Deleting old segments under /data/{name}/x"),
    }
}

/// Returns documents, and the statement of each.
fn documents(seed: u64) -> Vec<(usize, Value)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let one = |n: u64| {
        let statement = rng.random_range(0..STATEMENTS.len());
        let level = ["INFO", "WARN"][rng.random_range(0..2)];
        let document = json!({"n": n, "level": level, "message": message(statement, &mut rng)});
        (statement, document)
    };
    // Documents without a message are in no category.
    let silent = (STATEMENTS.len(), json!({"n": 1, "level": "WARN"}));
    (0..300).map(one).chain([silent]).collect()
}

fn categories(index: &TestIndex, body: &Value) -> Vec<Value> {
    let (status, answer) = call(&named(index, "app"), "POST", "/app/_search", "", body);
    assert_eq!(status, 200, "{answer}");
    let buckets = &answer["aggregations"]["what"]["buckets"];
    buckets.as_array().unwrap().clone()
}

#[test]
fn texts_are_counted_by_the_statements_that_wrote_them() {
    for seed in 0..4 {
        let documents = documents(seed);
        let lines = documents.iter().map(|(_, document)| document.to_string());
        let lines: Vec<String> = lines.collect();
        let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (statement, document) in &documents {
            if let Some(words) = STATEMENTS.get(*statement)
                && document["level"] == "WARN"
            {
                let (count, sum) = counts.entry(words).or_default();
                *count += 1;
                *sum += document["n"].as_u64().unwrap();
            }
        }
        let body = json!({"size": 0, "query": {"term": {"level": "WARN"}}, "aggs": {"what": {
            "categorize_text": {"field": "message", "size": 100},
            "aggs": {"sum": {"sum": {"field": "n"}}}}}});
        // However documents are divided, and wherever their patterns are.
        for (config, per_split) in [(FIELDS, 40), (FIELDS, 301), (COLUMN, 40), (COLUMN, 301)] {
            let config = match config {
                COLUMN => format!("{}{}", FIELDS.trim_end(), COLUMN),
                config => config.to_owned(),
            };
            let index = TestIndex::build(&config, &lines, per_split).unwrap();
            let found = categories(&index, &body);
            let own = |bucket: &Value| {
                let key = bucket["key"].as_str().unwrap().to_owned();
                let sum = bucket["sum"]["value"].as_f64().unwrap();
                (key, (bucket["doc_count"].as_u64().unwrap(), sum as u64))
            };
            let own: BTreeMap<String, (u64, u64)> = found.iter().map(own).collect();
            let expect = counts
                .iter()
                .map(|(words, counts)| ((*words).to_owned(), *counts));
            assert_eq!(own, expect.collect());
            let is_sorted = found.is_sorted_by(|left, right| {
                left["doc_count"].as_u64() >= right["doc_count"].as_u64()
            });
            assert!(is_sorted, "{found:?}");
        }
    }
}

#[test]
fn a_category_tells_its_pattern_and_an_expression() {
    let lines = [
        r#"{"message": "Received block blk_1 of size 3 (now) from /10.0.0.1"}"#,
        r#"{"message": "Received block blk_2 of size 9 (now) from /10.0.0.2"}"#,
        r#"{"message": "other"}"#,
    ];
    let index = TestIndex::build(FIELDS, &lines.map(str::to_owned), 2).unwrap();
    let what = json!({"categorize_text": {"field": "message", "min_doc_count": 2}});
    let found = categories(&index, &json!({"size": 0, "aggs": {"what": what}}));
    let expect = json!([{
        "key": "Received block of size now from",
        "pattern": "Received block <*> of size <*> (now) from <*>",
        "regex": ".*?Received.+?block.+?of.+?size.+?now.+?from.*?",
        "doc_count": 2,
    }]);
    assert_eq!(Value::from(found), expect);
}

#[test]
fn what_has_no_texts_has_no_categories() {
    let index = TestIndex::build(FIELDS, &[r#"{"n": 1}"#.to_owned()], 1).unwrap();
    let refused = |what: Value| {
        let body = json!({"size": 0, "aggs": {"what": {"categorize_text": what}}});
        let (status, answer) = call(&named(&index, "app"), "POST", "/app/_search", "", &body);
        assert_eq!(status, 400, "{answer}");
        answer["error"]["root_cause"][0]["reason"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(refused(json!({"field": "n"})).contains("has type u64; this takes texts"));
    assert!(refused(json!({})).contains("field"));
    let filters = json!({"field": "message", "categorization_filters": ["x"]});
    assert!(refused(filters).contains("not supported"));
    let body = json!({"size": 0, "aggs": {"what": {"categorize_text": {"field": "message"}}}});
    assert!(categories(&index, &body).is_empty());
}
