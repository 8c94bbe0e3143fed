//! Fields that get the values of another one, compared with a scan that converts each value itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_tests::{TestIndex, run};
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: subs
doc_mapping:
  index_field_presence: true
  store_source: true
  ignore_malformed: true
  field_mappings:
    - {name: n, type: u64, fast: true}
    - name: code
      type: array<text>
      tokenizer: raw
      fast: true
      aliases: [other]
      sub_fields:
        - {name: number, type: array<i64>, fast: true, stored: false, ignore_malformed: true}
        - {name: short, type: array<text>, tokenizer: raw, fast: true, stored: false, ignore_above: 3}
        - {name: words, type: array<text>, tokenizer: standard, record: position, stored: false}
        - {name: length, type: array<i64>, fast: true, stored: false, counted_by: standard}
    - name: size
      type: array<i64>
      fast: true
      sub_fields:
        - {name: text, type: array<text>, tokenizer: raw, fast: true, stored: false}
        - {name: half, type: array<f64>, indexed: false, fast: true, stored: false}
";

const CODES: [&str; 8] = [
    "7",
    "42",
    "-3",
    "red",
    "red blue",
    "blue 42 green",
    "",
    "12345678",
];

struct Document {
    codes: Vec<&'static str>,
    sizes: Vec<i64>,
}

fn documents() -> (Vec<Document>, Vec<String>) {
    let mut state = 5_u64;
    let mut below = |end: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let documents: Vec<Document> = (0..600)
        .map(|_| Document {
            codes: (0..below(3)).map(|_| CODES[below(8) as usize]).collect(),
            sizes: (0..below(3)).map(|_| below(20) as i64 - 10).collect(),
        })
        .collect();
    let lines = documents.iter().enumerate().map(|(n, document)| {
        json!({"n": n, "code": document.codes, "size": document.sizes}).to_string()
    });
    let lines = lines.collect();
    (documents, lines)
}

fn found(index: &TestIndex, query: &Value) -> BTreeSet<usize> {
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 3, 1).unwrap();
    let request = json!({"query": query, "max_hits": 5_000, "profile": true});
    let answer = run(&searcher, &request).unwrap().json;
    assert_eq!(answer["profile"]["warmup_gaps"], 0, "{query}");
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["n"].as_u64().unwrap() as usize)
        .collect()
}

fn check(index: &TestIndex, documents: &[Document], is_live: impl Fn(usize) -> bool) {
    let check = |query: Value, takes: &dyn Fn(&Document) -> bool| {
        let live = documents.iter().enumerate().filter(|(n, _)| is_live(*n));
        let expected = live.filter(|(_, document)| takes(document));
        let expected: BTreeSet<usize> = expected.map(|(n, _)| n).collect();
        assert!(!expected.is_empty(), "{query}");
        assert_eq!(found(index, &query), expected, "{query}");
    };
    let number = |code: &&str| code.parse::<i64>().ok();
    let num_words = |code: &&str| code.split_whitespace().count() as i64;
    for wanted in [7, 42, -3] {
        check(json!({"term": {"code.number": wanted}}), &|document| {
            document
                .codes
                .iter()
                .filter_map(number)
                .any(|code| code == wanted)
        });
    }
    check(json!({"range": {"code.number": {"gt": 7}}}), &|document| {
        document
            .codes
            .iter()
            .filter_map(number)
            .any(|code| code > 7)
    });
    check(json!({"exists": {"field": "code.number"}}), &|document| {
        document.codes.iter().any(|code| number(code).is_some())
    });
    for code in CODES.iter().filter(|code| !code.is_empty()) {
        for name in ["code", "code.other", "code.keyword"] {
            check(json!({"term": {name: code}}), &|document| {
                document.codes.contains(code)
            });
        }
    }
    check(json!({"term": {"code.short": "red"}}), &|document| {
        document.codes.contains(&"red")
    });
    check(json!({"prefix": {"code.short": ""}}), &|document| {
        document.codes.iter().any(|code| code.len() <= 3)
    });
    for word in ["red", "blue", "42"] {
        check(json!({"match": {"code.words": word}}), &|document| {
            document
                .codes
                .iter()
                .any(|code| code.split(' ').any(|own| own == word))
        });
    }
    check(
        json!({"match_phrase": {"code.words": "42 green"}}),
        &|document| document.codes.contains(&"blue 42 green"),
    );
    for wanted in 0..=3 {
        check(json!({"term": {"code.length": wanted}}), &|document| {
            document.codes.iter().any(|code| num_words(code) == wanted)
        });
    }
    for size in [-10, 0, 9] {
        check(
            json!({"term": {"size.text": size.to_string()}}),
            &|document| document.sizes.contains(&size),
        );
        check(
            json!({"range": {"size.half": {"gte": size as f64 - 0.5}}}),
            &|document| document.sizes.iter().any(|own| *own >= size),
        );
    }
    let answer = index
        .search(&json!({"query": "*", "max_hits": 0, "aggs": {
            "texts": {"terms": {"field": "size.text", "size": 50}}, "all": {"sum": {"field": "code.length"}},
        }}))
        .unwrap()
        .json;
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    let mut sum = 0;
    for (_, document) in documents.iter().enumerate().filter(|(n, _)| is_live(*n)) {
        for size in document.sizes.iter().collect::<BTreeSet<_>>() {
            *expected.entry(size.to_string()).or_default() += 1;
        }
        sum += document.codes.iter().map(num_words).sum::<i64>();
    }
    let buckets = answer["aggregations"]["texts"]["buckets"]
        .as_array()
        .unwrap();
    let buckets = buckets.iter().map(|bucket| {
        let key = bucket["key"].as_str().unwrap().to_owned();
        (key, bucket["doc_count"].as_u64().unwrap())
    });
    assert_eq!(buckets.collect::<BTreeMap<_, _>>(), expected);
    assert_eq!(answer["aggregations"]["all"]["value"], sum as f64);
}

#[test]
fn sub_fields_find_what_a_scan_finds_before_and_after_merges() {
    let (documents, lines) = documents();
    let index = TestIndex::build(CONFIG, &lines, 35).unwrap();
    assert_eq!(index.report.num_ingested_docs, 600);
    check(&index, &documents, |_| true);
    let request = json!({"query": {"range": {"n": {"gte": 100, "lt": 300}}}});
    let (left, _) = index.delete(&request).unwrap();
    check(&left, &documents, |n| !(100..300).contains(&n));
    let merged = left.merge_deleted().unwrap();
    let (before, after) = (left.entries().unwrap(), merged.entries().unwrap());
    assert!(before.iter().any(|split| split.deletes.is_some()));
    assert!(after.iter().all(|split| split.deletes.is_none()));
    assert!(after.len() < before.len(), "some were merged");
    check(&merged, &documents, |n| !(100..300).contains(&n));
}

#[test]
fn each_field_has_its_own_value_in_place_of_null() {
    let config = "
version: 0.9
index_id: nulls
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - name: code
      type: array<text>
      tokenizer: raw
      null_value: none
      sub_fields:
        - {name: number, type: array<i64>, stored: false, null_value: -1}
        - {name: length, type: array<i64>, stored: false, counted_by: standard, null_value: 0}
        - {name: half, type: array<f64>, stored: false}
";
    let lines = [
        r#"{"n":0,"code":null}"#,
        r#"{"n":1,"code":["3"]}"#,
        r#"{"n":2}"#,
    ]
    .map(str::to_owned);
    let index = TestIndex::build(config, &lines, 10).unwrap();
    assert_eq!(index.report.num_ingested_docs, 3);
    for (query, expected) in [
        (json!({"term": {"code": "none"}}), &[0][..]),
        (json!({"term": {"code.number": -1}}), &[0]),
        (json!({"term": {"code.number": 3}}), &[1]),
        (json!({"term": {"code.length": 0}}), &[0]),
        (json!({"term": {"code.length": 1}}), &[1]),
        (json!({"term": {"code.half": 3}}), &[1]),
        (json!({"term": {"code.half": 0}}), &[]),
    ] {
        let expected = expected.iter().copied().collect();
        assert_eq!(found(&index, &query), expected, "{query}");
    }
}

#[test]
fn further_names_show_the_values_that_they_have() {
    let lines = [r#"{"n":0,"code":["7","red blue"],"size":[3]}"#.to_owned()];
    let index = TestIndex::build(CONFIG, &lines, 10).unwrap();
    let body = json!({"fields": [
        "code.number", "code.length", "code.short", "code.words", "size.text", "size.half",
    ]});
    let searcher = named(&index, "subs");
    let (status, answer) = call(&searcher, "POST", "/subs/_search", "", &body);
    assert_eq!(status, 200, "{answer}");
    let expected = json!({
        "code.number": [7], "code.length": [1, 2], "code.short": ["7"], "code.words": ["7", "red blue"],
        "size.text": ["3"], "size.half": [3.0],
    });
    assert_eq!(answer["hits"]["hits"][0]["fields"], expected);
}

#[test]
fn sub_fields_are_of_single_values_and_not_stored() {
    for wrong in [
        "{name: a, type: json, stored: false}",
        "{name: a, type: i64}",
        "{name: a, type: geo_point, stored: false}",
        "{name: a.b, type: i64, stored: false}",
        "{name: a, type: i64, stored: false, sub_fields: []}",
        "{name: a, type: i64, stored: false}, {name: a, type: f64, stored: false}",
    ] {
        let config = format!(
            "version: 0.9\nindex_id: x\ndoc_mapping:\n  field_mappings:\n    - {{name: n, type: i64, sub_fields: [{wrong}]}}\n"
        );
        assert!(TestIndex::build(&config, &[], 10).is_err(), "{wrong}");
    }
    let own = "sub_fields: [{name: a, type: i64, stored: false}]";
    for wrong in [
        format!("{own}, fields: {{a: {{tokenizer: raw}}}}"),
        format!("{own}, fast: true, fields: {{a: {{column: true}}}}"),
        format!("{own}, aliases: [a]"),
        "aliases: [a, a]".to_owned(),
        format!("{own}}}\n    - {{name: n.a, type: i64"),
    ] {
        let config = format!(
            "version: 0.9\nindex_id: x\ndoc_mapping:\n  field_mappings:\n    - {{name: n, type: text, {wrong}}}\n"
        );
        assert!(TestIndex::build(&config, &[], 10).is_err(), "{wrong}");
    }
}
