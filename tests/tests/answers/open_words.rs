//! Words without a field, and patterns of fields: in all fields, as in Elasticsearch, and large sets of terms.

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

const FIELDS: &str = "
    - {name: n, type: u64, fast: true}
    - {name: text, type: text, record: position}
    - {name: level, type: text, tokenizer: raw}
    - {name: status, type: u64}
    - {name: took, type: f64, indexed: false, fast: true}
    - {name: ok, type: bool}
    - {name: client, type: ip}
    - {name: at, type: datetime, fast: true}
    - {name: late, type: text, indexed: false, fast: true}
    - {name: labels, type: json, tokenizer: raw}
";

fn config(mode: &str, defaults: &str) -> String {
    format!(
        "
version: 0.9
index_id: open
doc_mapping:
  mode: {mode}
  field_mappings:{FIELDS}
search_settings:
  default_search_fields: [{defaults}]
"
    )
}

fn documents() -> Vec<String> {
    let documents = [
        json!({"n": 0, "text": "the Disk is full", "level": "error", "status": 500, "took": 1.5, "ok": false,
            "client": "10.0.0.1", "at": "2024-05-02T10:00:00Z", "late": "one", "labels": {"app": "web"}}),
        json!({"n": 1, "text": "status 200", "level": "Info", "status": 404, "took": 2, "ok": true,
            "client": "10.0.0.2", "at": "2024-05-03T10:00:00Z", "labels": {"app": "disk", "size": 500}}),
        json!({"n": 2, "text": "nothing", "level": "disk", "extra": {"reason": "disk full", "code": 404}}),
        json!({"n": 3, "text": "error", "host.name": "web", "extra": {"seen": "2024-05-02"}, "flag": true}),
        json!({"n": 4, "text": "quiet", "late": "disk", "took": 404.0}),
    ];
    documents.iter().map(Value::to_string).collect()
}

fn searcher(config: &str) -> Searcher {
    let index = TestIndex::build(config, &documents(), 2).unwrap();
    named(&index, "logs")
}

fn ask(searcher: &Searcher, path: &str, body: &Value) -> (u16, Value) {
    call(searcher, "POST", path, "", body)
}

/// Returns the numbers of the found documents, ascending.
fn found(searcher: &Searcher, query: &Value) -> Vec<u64> {
    let body = json!({"query": query, "size": 100});
    let (status, answer) = ask(searcher, "/logs/_search", &body);
    assert_eq!(status, 200, "{query}: {answer}");
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let mut found: Vec<u64> = hits
        .map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect();
    found.sort_unstable();
    // The same without scores.
    let body = json!({"query": {"bool": {"filter": query}}, "size": 0, "track_total_hits": true});
    let (_, answer) = ask(searcher, "/logs/_search", &body);
    assert_eq!(answer["hits"]["total"]["value"], found.len(), "{query}");
    found
}

/// Words, each with the documents that have it in any field: in a dynamic index, and in one that stores mapped fields only.
const WORDS: [(&str, &[u64], &[u64]); 17] = [
    ("disk", &[0, 1, 2, 4], &[0, 1, 2, 4]),
    ("full", &[0], &[0]),
    ("error", &[0, 3], &[0, 3]),
    ("info", &[], &[]),
    ("Info", &[1], &[1]),
    ("500", &[0, 1], &[0, 1]),
    ("404", &[1, 2, 4], &[1, 4]),
    ("1.5", &[0], &[0]),
    ("10.0.0.2", &[1], &[1]),
    ("\"2024-05-02\"", &[0, 3], &[0]),
    ("web", &[0, 3], &[0]),
    ("\"disk full\"", &[2], &[]),
    ("wo*", &[], &[]),
    ("dis*", &[0, 1, 2], &[0, 1, 2]),
    ("nowhere", &[], &[]),
    ("200", &[1], &[1]),
    ("/err.*/", &[0, 3], &[0, 3]),
];

#[test]
fn a_word_without_a_field_is_found_in_fields_of_every_kind() {
    for (mode, is_dynamic) in [("dynamic", true), ("lenient", false)] {
        let searcher = searcher(&config(mode, ""));
        for (word, dynamic, lenient) in WORDS {
            let expected = if is_dynamic { dynamic } else { lenient };
            let query = json!({"query_string": {"query": word}});
            assert_eq!(found(&searcher, &query), expected, "{mode}: {query}");
            let query = json!({"query_string": {"query": word, "fields": ["*"]}});
            assert_eq!(found(&searcher, &query), expected, "{mode}: {query}");
            if word.starts_with('/') {
                continue;
            }
            let query = json!({"simple_query_string": {"query": word, "fields": ["*"]}});
            if !word.contains('*') {
                assert_eq!(found(&searcher, &query), expected, "{mode}: {query}");
            }
            let text = word.trim_matches('"');
            if !word.contains('*') && !text.contains(' ') {
                for fields in [json!({}), json!({"fields": ["*"]})] {
                    let mut clause = json!({"query": text});
                    clause
                        .as_object_mut()
                        .unwrap()
                        .extend(fields.as_object().unwrap().clone());
                    let query = json!({ "multi_match": clause });
                    assert_eq!(found(&searcher, &query), expected, "{mode}: {query}");
                }
            }
            // Quickwit's API.
            let body = json!({"query": word, "max_hits": 10});
            let (status, answer) = ask(&searcher, "/api/v1/logs/search", &body);
            assert_eq!(status, 200, "{word}: {answer}");
            assert_eq!(
                answer["num_hits"],
                expected.len(),
                "{mode}: {word}: {answer}"
            );
        }
    }
}

#[test]
fn a_range_without_a_field_is_looked_for_where_it_can_be_had() {
    let searcher = searcher(&config("dynamic", ""));
    let query = json!({"query_string": {"query": "[400 TO 450]"}});
    assert_eq!(found(&searcher, &query), [1, 2, 4]);
}

#[test]
fn default_fields_stay_the_only_ones_unless_all_are_asked_for() {
    let searcher = searcher(&config("dynamic", "text"));
    for (query, expected) in [
        (json!({"query_string": {"query": "disk"}}), &[0][..]),
        (
            json!({"query_string": {"query": "disk", "default_field": "*"}}),
            &[0, 1, 2, 4],
        ),
        (json!({"multi_match": {"query": "disk"}}), &[0]),
        (
            json!({"multi_match": {"query": "disk", "fields": ["l*"]}}),
            &[1, 2, 4],
        ),
        (
            json!({"multi_match": {"query": "disk", "fields": ["extra.*"]}}),
            &[],
        ),
        (
            json!({"multi_match": {"query": "404", "fields": ["extra.*"]}}),
            &[2],
        ),
        (
            json!({"multi_match": {"query": "full disk", "fields": ["*"], "operator": "and", "type": "cross_fields"}}),
            &[0],
        ),
    ] {
        assert_eq!(found(&searcher, &query), expected, "{query}");
    }
}

#[test]
fn many_terms_are_one_clause_and_many_alternatives_are_allowed() {
    let searcher = searcher(&config("dynamic", "text"));
    let texts = |word: &str| {
        let mut terms: Vec<Value> = (0..65_535).map(|n| json!(format!("t{n}"))).collect();
        terms.push(json!(word));
        terms
    };
    let numbers: Vec<u64> = (0..65_536).map(|n| n * 2).collect();
    for (query, expected) in [
        (json!({"terms": {"level": texts("Info")}}), &[1][..]),
        (json!({"terms": {"labels.app": texts("web")}}), &[0]),
        (
            json!({"terms": {"extra.reason.keyword": texts("disk full")}}),
            &[2],
        ),
        (json!({"terms": {"text": texts("full")}}), &[0]),
        (json!({"terms": {"status": numbers}}), &[0, 1]),
        (json!({"terms": {"took": numbers[..1_000]}}), &[1, 4]),
        (
            json!({"bool": {"must_not": {"terms": {"level": texts("Info")}}}}),
            &[0, 2, 3, 4],
        ),
    ] {
        let found = found(&searcher, &query);
        assert_eq!(found, expected, "{}", query.to_string().get(..60).unwrap());
    }
    let alternatives: Vec<String> = (0..9_999).map(|n| format!("w{n}")).collect();
    let text = format!("{} OR full", alternatives.join(" OR "));
    assert_eq!(
        found(&searcher, &json!({"query_string": {"query": text}})),
        [0]
    );
    let mut too_many = texts("a");
    too_many.push(json!("b"));
    let body = json!({"query": {"terms": {"level": too_many}}});
    let (status, answer) = ask(&searcher, "/logs/_search", &body);
    assert_eq!(status, 400, "{answer}");
    let reason = answer["error"].to_string();
    assert!(reason.contains("65537 values, more than 65536"), "{reason}");
}

#[test]
fn words_without_operators_are_all_in_one_of_the_named_fields() {
    let searcher = searcher(&config("dynamic", ""));
    let query = |text: &str, fields: Value| json!({"query_string": {"query": text, "fields": fields, "default_operator": "and"}});
    let both = json!(["text", "level"]);
    for (text, fields, expect) in [
        ("disk full", both.clone(), vec![0]),
        ("full error", both.clone(), vec![]),
        // Operators tell clauses apart, each of which may be in any field.
        ("full AND error", both.clone(), vec![0]),
        ("full +error", both.clone(), vec![0]),
        ("full (error)", both.clone(), vec![0]),
        ("full level:error", both.clone(), vec![0]),
        ("full disk error", both.clone(), vec![]),
        ("full disk AND error", both.clone(), vec![0]),
        ("full err*", both.clone(), vec![0]),
        ("full error^2", both, vec![0]),
        ("full error", json!(["text"]), vec![]),
        ("full error", json!(["te*", "level"]), vec![]),
        ("full error", json!([]), vec![0]),
    ] {
        assert_eq!(found(&searcher, &query(text, fields)), expect, "{text}");
    }
    let any = json!({"query_string": {"query": "full error", "fields": ["text", "level"]}});
    assert_eq!(found(&searcher, &any), [0, 3]);
}
