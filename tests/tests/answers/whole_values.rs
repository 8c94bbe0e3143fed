//! Whole values of texts under a name such as `level.keyword`, wherever a client may name a field, compared with
//! a scan of the documents.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use canter_intake::{IndexParts, index_config};
use canter_runtime::engine::NativeEngine;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::TestIndex;
use serde_json::{Value, json};

const NAME: &str = "level.keyword";

/// Longest value of a `keyword` that Elasticsearch makes of a text, in characters.
const MAX_CHARS: usize = 256;

fn long(char: &str) -> String {
    char.repeat(300)
}

/// Values of the field `level` of each document.
fn levels() -> Vec<Value> {
    vec![
        json!("ERROR"),
        json!("error"),
        json!("Disk full: no space"),
        json!("WARN"),
        json!(["WARN", "Disk full"]),
        json!(null),
        json!("disk"),
        json!("Disk full"),
        json!(long("é")),
        json!("é".repeat(200)),
        json!("ERROR"),
        json!(""),
    ]
}

fn lines() -> Vec<String> {
    let levels = levels().into_iter().enumerate();
    let line = levels.map(|(n, level)| json!({"n": n, "level": level, "size": n * 10}).to_string());
    line.collect()
}

/// An index as `PUT /i` with these mappings makes it.
fn made_of(mappings: &Value) -> Index {
    let body = json!({"mappings": mappings});
    let parts = IndexParts::read(&body, "the body").unwrap();
    Index::new(
        &index_config("logs", &[parts], false)
            .unwrap()
            .to_canonical_json()
            .unwrap(),
    )
}

/// Indexes in which the values of `level` are at most [`MAX_CHARS`] long under [`NAME`].
fn indexes() -> Vec<(&'static str, Index)> {
    let whole = json!({"type": "keyword", "ignore_above": 256});
    let both = json!({"type": "text", "fields": {"keyword": whole}});
    let strict = |level: &Value| {
        let n = json!({"type": "long"});
        json!({"dynamic": "strict", "properties": {"n": n, "size": n, "level": level}})
    };
    vec![
        ("by documents", made_of(&json!({}))),
        ("a text with its keyword", made_of(&strict(&both))),
        ("a keyword", made_of(&strict(&whole))),
    ]
}

struct Index(Searcher);

impl Index {
    fn new(config: &[u8]) -> Self {
        let config = std::str::from_utf8(config).unwrap();
        let index = TestIndex::build(config, &lines(), 5).unwrap();
        let builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
        let builder = builder.index_from("logs", Arc::new(index.fetcher()), "logs");
        Self(builder.unwrap().build().unwrap())
    }

    fn ask(&self, method: &str, target: &str, body: &Value) -> Value {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = HttpRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: match body {
                Value::Null => Vec::new(),
                body => body.to_string().into_bytes(),
            },
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let answer = runtime.block_on(self.0.http(request, &Caller::default(), &Limits::default()));
        let json: Value = serde_json::from_slice(&answer.response.body).unwrap();
        assert_eq!(answer.response.status, 200, "{target} {body}: {json}");
        json
    }

    fn search(&self, body: &Value) -> Value {
        self.ask("POST", "/logs/_search", body)
    }

    /// The numbers of the documents that a query finds.
    fn found(&self, query: &Value) -> BTreeSet<u64> {
        let answer = self.search(&json!({"query": query, "size": 100}));
        let hits = answer["hits"]["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["_source"]["n"].as_u64().unwrap())
            .collect()
    }
}

/// Whether a scan takes a value.
type Taken = Box<dyn Fn(&str) -> bool>;

/// The whole values of a document, without those that are too long.
fn values_of(level: &Value) -> Vec<&str> {
    let values = match level {
        Value::Array(values) => values.iter().collect(),
        value => vec![value],
    };
    let texts = values.into_iter().filter_map(Value::as_str);
    texts
        .filter(|text| text.chars().count() <= MAX_CHARS)
        .collect()
}

/// The numbers of the documents of which a value is taken.
fn scanned(is_taken: &dyn Fn(&str) -> bool) -> BTreeSet<u64> {
    let levels = levels();
    let found = levels.iter().zip(0..).filter(|(level, _)| {
        let values = values_of(level);
        values.iter().any(|value| is_taken(value))
    });
    found.map(|(_, n)| n).collect()
}

#[test]
fn queries_of_whole_values_find_what_a_scan_finds() {
    let longest = "é".repeat(200);
    let cases: Vec<(Value, Taken)> = vec![
        (
            json!({"term": {NAME: "ERROR"}}),
            Box::new(|value| value == "ERROR"),
        ),
        (
            json!({"term": {NAME: {"value": "ERROR"}}}),
            Box::new(|value| value == "ERROR"),
        ),
        (
            json!({"term": {NAME: "Disk full"}}),
            Box::new(|value| value == "Disk full"),
        ),
        (
            json!({"term": {NAME: "Disk"}}),
            Box::new(|value| value == "Disk"),
        ),
        (
            json!({"term": {NAME: longest}}),
            Box::new(|value| value.len() == 400),
        ),
        (json!({"term": {NAME: long("é")}}), Box::new(|_| false)),
        (json!({"term": {NAME: ""}}), Box::new(str::is_empty)),
        (
            json!({"term": {NAME: {"value": "eRRor", "case_insensitive": true}}}),
            Box::new(|value| value.eq_ignore_ascii_case("error")),
        ),
        (
            json!({"terms": {NAME: ["WARN", "disk", "none"]}}),
            Box::new(|value| matches!(value, "WARN" | "disk")),
        ),
        (
            json!({"match": {NAME: "Disk full"}}),
            Box::new(|value| value == "Disk full"),
        ),
        (
            json!({"match_phrase": {NAME: "Disk full"}}),
            Box::new(|value| value == "Disk full"),
        ),
        (
            json!({"multi_match": {"query": "WARN", "fields": [NAME, "size"], "lenient": true}}),
            Box::new(|value| value == "WARN"),
        ),
        (
            json!({"query_string": {"query": "level.keyword:\"Disk full\""}}),
            Box::new(|value| value == "Disk full"),
        ),
        (
            json!({"query_string": {"query": "level.keyword:Disk*"}}),
            Box::new(|value| value.starts_with("Disk")),
        ),
        (
            json!({"simple_query_string": {"query": "WARN", "fields": [NAME]}}),
            Box::new(|value| value == "WARN"),
        ),
        (
            json!({"prefix": {NAME: "Disk f"}}),
            Box::new(|value| value.starts_with("Disk f")),
        ),
        (
            json!({"wildcard": {NAME: "*isk*"}}),
            Box::new(|value| value.contains("isk")),
        ),
        (
            json!({"wildcard": {NAME: {"value": "?RROR"}}}),
            Box::new(|value| value == "ERROR"),
        ),
        (
            json!({"wildcard": {NAME: {"value": "*rr*", "case_insensitive": true}}}),
            Box::new(|value| value.to_lowercase().contains("rr")),
        ),
        (
            json!({"regexp": {NAME: "(ERROR|Disk.*space)"}}),
            Box::new(|value| value == "ERROR" || value.ends_with("space")),
        ),
        (
            json!({"fuzzy": {NAME: "ERRR"}}),
            Box::new(|value| value == "ERROR"),
        ),
        (
            json!({"range": {NAME: {"gte": "Disk full", "lt": "F"}}}),
            Box::new(|value| ("Disk full".."F").contains(&value)),
        ),
        (json!({"exists": {"field": NAME}}), Box::new(|_| true)),
    ];
    for (of, index) in indexes() {
        for (query, is_taken) in &cases {
            let expect = scanned(is_taken.as_ref());
            assert_eq!(index.found(query), expect, "{of}: {query}");
            let excluded = json!({"bool": {"must_not": query}});
            let all: BTreeSet<u64> = (0..levels().len() as u64).collect();
            let expect: BTreeSet<u64> = all.difference(&expect).copied().collect();
            assert_eq!(index.found(&excluded), expect, "{of}: {excluded}");
        }
        let both = json!({"bool": {"must": [{"term": {NAME: "ERROR"}}, {"match": {"size": 100}}]}});
        assert_eq!(index.found(&both), [10].into(), "{of}");
    }
}

#[test]
fn words_and_existence_of_a_text_do_not_depend_on_its_whole_values() {
    for (of, index) in indexes().into_iter().take(2) {
        let found = index.found(&json!({"match": {"level": "DISK"}}));
        assert_eq!(found, [2, 4, 6, 7].into(), "{of}");
        let phrase = index.found(&json!({"match_phrase": {"level": "no space"}}));
        assert_eq!(phrase, [2].into(), "{of}");
        // The long value is no whole value, and a value all the same. So is the empty text.
        let exist = index.found(&json!({"exists": {"field": "level"}}));
        assert_eq!(exist, [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11].into(), "{of}");
    }
}

#[test]
fn hits_are_sorted_collapsed_and_shown_by_whole_values() {
    let levels = levels();
    // Of several values the least one sorts upwards.
    let least = |n: &u64| {
        let values = values_of(&levels[*n as usize]).into_iter();
        values.min().map(str::to_owned)
    };
    for (of, index) in indexes() {
        let answer = index.search(&json!({"sort": [{NAME: "asc"}, {"n": "asc"}], "size": 100}));
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let numbers = hits.iter().map(|hit| hit["_source"]["n"].as_u64().unwrap());
        let numbers: Vec<u64> = numbers.collect();
        let mut expect = numbers.clone();
        expect.sort_by_key(|n| (least(n).is_none(), least(n), *n));
        assert_eq!(numbers, expect, "{of}");
        let after = &hits[2]["sort"];
        let body = json!({"sort": [{NAME: "asc"}, {"n": "asc"}], "size": 1, "search_after": after});
        let next = index.search(&body);
        assert_eq!(
            next["hits"]["hits"][0]["_source"]["n"],
            json!(numbers[3]),
            "{of}"
        );

        // Which group a document with several values is in, Elasticsearch does not say.
        let has_one =
            json!({"bool": {"must": {"exists": {"field": NAME}}, "must_not": {"term": {"n": 4}}}});
        let body = json!({"query": has_one, "collapse": {"field": NAME}, "sort": [{"n": "asc"}], "size": 100});
        let answer = index.search(&body);
        let hits = answer["hits"]["hits"].as_array().unwrap().iter();
        let groups: Vec<(u64, String)> = hits
            .map(|hit| {
                let group = hit["fields"][NAME][0].as_str().unwrap().to_owned();
                (hit["_source"]["n"].as_u64().unwrap(), group)
            })
            .collect();
        let mut seen = BTreeSet::new();
        let all = (0..levels.len() as u64).filter(|n| *n != 4);
        let all = all.filter_map(|n| Some((n, least(&n)?)));
        let expect: Vec<_> = all
            .filter(|(_, group)| seen.insert(group.clone()))
            .collect();
        assert_eq!(groups, expect, "{of}");

        for key in ["fields", "docvalue_fields"] {
            let body = json!({key: [NAME], "sort": [{"n": "asc"}], "size": 100, "_source": ["n"]});
            let answer = index.search(&body);
            for hit in answer["hits"]["hits"].as_array().unwrap() {
                let n = hit["_source"]["n"].as_u64().unwrap();
                let mut expect = values_of(&levels[n as usize]);
                if key == "docvalue_fields" {
                    // As columns of Elasticsearch's keywords: in order, and each once.
                    expect.sort_unstable();
                    expect.dedup();
                }
                let shown = match hit["fields"].get(NAME) {
                    Some(values) => values.clone(),
                    None => json!([]),
                };
                assert_eq!(shown, json!(expect), "{of}: {hit}");
            }
        }
        let body =
            json!({"query": {"term": {NAME: "Disk full"}}, "highlight": {"fields": {NAME: {}}}});
        let answer = index.search(&body);
        let hits = answer["hits"]["hits"].as_array().unwrap();
        assert_eq!(hits.len(), 2, "{of}");
        for hit in hits {
            assert_eq!(
                hit["highlight"],
                json!({NAME: ["<em>Disk full</em>"]}),
                "{of}"
            );
        }
    }
    for (of, index) in indexes().into_iter().take(2) {
        let body =
            json!({"query": {"match": {"level": "space"}}, "highlight": {"fields": {"lev*": {}}}});
        let hit = &index.search(&body)["hits"]["hits"][0];
        let expect = json!({"level": ["Disk full: no <em>space</em>"]});
        assert_eq!(hit["highlight"], expect, "{of}");
    }
}

#[test]
fn aggregations_of_whole_values_count_what_a_scan_counts() {
    let levels = levels();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for level in &levels {
        let distinct: BTreeSet<&str> = values_of(level).into_iter().collect();
        distinct
            .into_iter()
            .for_each(|value| *counts.entry(value).or_default() += 1);
    }
    let num_without = levels
        .iter()
        .filter(|level| values_of(level).is_empty())
        .count();
    let num_values: usize = levels.iter().map(|level| values_of(level).len()).sum();
    for (of, index) in indexes() {
        let body = json!({"size": 0, "aggs": {
            "terms": {"terms": {"field": NAME, "size": 100, "order": {"_key": "asc"}}},
            "chosen": {"terms": {"field": NAME, "include": "Disk.*", "missing": "Disk?"}},
            "composite": {"composite": {"size": 100, "sources": [{"level": {"terms": {"field": NAME}}}]}},
            "several": {"multi_terms": {"terms": [{"field": NAME}, {"field": "n"}], "size": 100}},
            "rare": {"rare_terms": {"field": NAME}},
            "distinct": {"cardinality": {"field": NAME}},
            "values": {"value_count": {"field": NAME}},
            "without": {"missing": {"field": NAME}},
            "filtered": {"filter": {"term": {NAME: "WARN"}}, "aggs": {"n": {"sum": {"field": "n"}}}},
            "letters": {"string_stats": {"field": NAME}},
        }});
        let answer = index.search(&body)["aggregations"].clone();
        let buckets = |name: &str| -> BTreeMap<String, u64> {
            let buckets = answer[name]["buckets"].as_array().unwrap().iter();
            let bucket = |bucket: &Value| {
                let key = bucket["key"].get("level").unwrap_or(&bucket["key"]);
                let key = key.as_str().unwrap().to_owned();
                (key, bucket["doc_count"].as_u64().unwrap())
            };
            buckets.map(bucket).collect()
        };
        let expect: BTreeMap<String, u64> = counts
            .iter()
            .map(|(value, num)| ((*value).to_owned(), *num))
            .collect();
        assert_eq!(buckets("terms"), expect, "{of}");
        assert_eq!(buckets("composite"), expect, "{of}");
        let chosen: Vec<String> = buckets("chosen").into_keys().collect();
        assert_eq!(
            chosen,
            ["Disk full", "Disk full: no space", "Disk?"],
            "{of}"
        );
        let rare: BTreeSet<String> = buckets("rare").into_keys().collect();
        let once = counts.iter().filter(|(_, num)| **num == 1);
        assert_eq!(
            rare,
            once.map(|(value, _)| (*value).to_owned()).collect(),
            "{of}"
        );
        assert_eq!(
            answer["several"]["buckets"].as_array().unwrap().len(),
            num_values,
            "{of}"
        );
        assert_eq!(answer["distinct"]["value"], json!(counts.len()), "{of}");
        assert_eq!(answer["values"]["value"], json!(num_values), "{of}");
        assert_eq!(answer["without"]["doc_count"], json!(num_without), "{of}");
        assert_eq!(answer["filtered"]["n"]["value"], json!(7.0), "{of}");
        assert_eq!(answer["letters"]["count"], json!(num_values), "{of}");
    }
}

#[test]
fn lists_of_fields_have_whole_values() {
    let caps = |index: &Index, fields: &str| {
        index.ask(
            "GET",
            &format!("/logs/_field_caps?fields={fields}"),
            &Value::Null,
        )["fields"]
            .clone()
    };
    for (of, index) in indexes() {
        let named = caps(&index, NAME);
        let of_keyword = &named[NAME]["keyword"];
        assert_eq!(of_keyword["searchable"], json!(true), "{of}: {named}");
        assert_eq!(of_keyword["aggregatable"], json!(true), "{of}: {named}");
        let all = caps(&index, "*");
        let has_text = of != "a keyword";
        assert_eq!(all.get(NAME).is_some(), has_text, "{of}: {all}");
        let kind = if has_text { "text" } else { "keyword" };
        assert_eq!(all["level"][kind]["type"], json!(kind), "{of}: {all}");
        assert_eq!(
            all["level"][kind]["aggregatable"],
            json!(!has_text),
            "{of}: {all}"
        );
    }
    let (_, index) = indexes().swap_remove(1);
    let mapping = index.ask("GET", "/logs/_mapping", &Value::Null);
    let level = &mapping["logs"]["mappings"]["properties"]["level"];
    let keyword = json!({"keyword": {"type": "keyword", "ignore_above": 256}});
    assert_eq!(*level, json!({"type": "text", "fields": keyword}));
}

/// Types of values that no mapping names.
#[test]
fn days_are_dates_and_numbers_are_numbers() {
    let parts = IndexParts::read(&json!({}), "the body").unwrap();
    let config = index_config("logs", &[parts], false).unwrap();
    let lines = [
        json!({"n": 1, "day": "2024-05-01", "size": 3, "share": 0.5, "on": true}).to_string(),
        json!({"n": 2, "day": "2024-05-02", "size": 7, "share": 1.0, "on": false}).to_string(),
        json!({"n": 3, "day": "2024-06-01T10:00:00Z", "size": "7"}).to_string(),
    ];
    let config = String::from_utf8(config.to_canonical_json().unwrap()).unwrap();
    let index = TestIndex::build(&config, &lines, 5).unwrap();
    let builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    let builder = builder.index_from("logs", Arc::new(index.fetcher()), "logs");
    let index = Index(builder.unwrap().build().unwrap());
    for (query, expect) in [
        (json!({"term": {"day": "2024-05-01"}}), vec![1]),
        (json!({"range": {"day": {"gt": "2024-05-01"}}}), vec![2, 3]),
        (
            json!({"range": {"day": {"gte": "2024-05-02", "lt": "2024-05-03"}}}),
            vec![2],
        ),
        (json!({"exists": {"field": "day"}}), vec![1, 2, 3]),
        (json!({"term": {"day.keyword": "2024-05-01"}}), vec![]),
        (json!({"range": {"size": {"gte": 5}}}), vec![2]),
        (json!({"term": {"size.keyword": "7"}}), vec![3]),
        (json!({"term": {"on": false}}), vec![2]),
        (json!({"range": {"share": {"lte": 0.5}}}), vec![1]),
    ] {
        let expect: BTreeSet<u64> = expect.into_iter().collect();
        assert_eq!(index.found(&query), expect, "{query}");
    }
    let months = json!({"date_histogram": {"field": "day", "calendar_interval": "month"}});
    let answer = index.search(&json!({"size": 0, "aggs": {"months": months}}));
    let buckets = answer["aggregations"]["months"]["buckets"]
        .as_array()
        .unwrap();
    let counts: Vec<u64> = buckets
        .iter()
        .map(|bucket| bucket["doc_count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [2, 1]);
}

/// A key of that name inside an object is what the name means, as before.
#[test]
fn a_key_that_is_called_keyword_is_found_by_its_path() {
    let parts = IndexParts::read(&json!({}), "the body").unwrap();
    let config = index_config("logs", &[parts], false).unwrap();
    let lines = [
        json!({"n": 1, "level": {"keyword": 7}}).to_string(),
        json!({"n": 2, "level": {"keyword": 9}}).to_string(),
        json!({"n": 3, "host": "a b"}).to_string(),
    ];
    let config = String::from_utf8(config.to_canonical_json().unwrap()).unwrap();
    let index = TestIndex::build(&config, &lines, 5).unwrap();
    let builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    let builder = builder.index_from("logs", Arc::new(index.fetcher()), "logs");
    let index = Index(builder.unwrap().build().unwrap());
    assert_eq!(index.found(&json!({"term": {NAME: 7}})), [1].into());
    assert_eq!(
        index.found(&json!({"range": {NAME: {"gt": 7}}})),
        [2].into()
    );
    assert_eq!(
        index.found(&json!({"exists": {"field": NAME}})),
        [1, 2].into()
    );
    let body = json!({"size": 0, "aggs": {"sum": {"sum": {"field": NAME}}}});
    assert_eq!(
        index.search(&body)["aggregations"]["sum"]["value"],
        json!(16.0)
    );
}

/// What dashboards send of an index whose config was written by hand.
#[test]
fn a_field_of_whole_values_is_answered_under_the_name_of_a_keyword() {
    let config = "
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: size, type: u64, fast: true}
    - {name: level, type: array<text>, tokenizer: raw, fast: true}
";
    let mapped = Index::new(config.as_bytes());
    let unmapped = config.replace(
        "    - {name: level, type: array<text>, tokenizer: raw, fast: true}\n",
        "",
    );
    let unmapped = Index::new(unmapped.as_bytes());
    let words = Index::new(
        config
            .replace("tokenizer: raw", "tokenizer: default")
            .as_bytes(),
    );
    for (of, index) in [("mapped", mapped), ("unmapped", unmapped), ("words", words)] {
        for (query, expect) in [
            (json!({"term": {NAME: "ERROR"}}), vec![0, 10]),
            (json!({"term": {NAME: "Disk full"}}), vec![4, 7]),
            (json!({"wildcard": {NAME: "*full*"}}), vec![2, 4, 7]),
            // No value is too long here.
            (json!({"term": {NAME: long("é")}}), vec![8]),
            (
                json!({"bool": {"must_not": {"exists": {"field": NAME}}}}),
                vec![5],
            ),
        ] {
            let expect: BTreeSet<u64> = expect.into_iter().collect();
            assert_eq!(index.found(&query), expect, "{of}: {query}");
        }
        let body = json!({"size": 0, "aggs": {"levels": {"terms": {"field": NAME, "size": 1}}}});
        let bucket = &index.search(&body)["aggregations"]["levels"]["buckets"][0];
        assert_eq!(bucket["doc_count"], json!(2), "{of}");
    }
}
