//! Clauses and calls of Elasticsearch's API whose answers are computed here by their documented formulas.

use std::sync::Arc;

use canter_runtime::Searcher;
use canter_runtime::cache::MemoryCache;
use canter_runtime::engine::NativeEngine;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: clauses
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: title, type: text, record: position}
    - {name: body, type: text, record: position}
    - {name: tags, type: array<text>, tokenizer: raw, fast: true}
    - {name: needed, type: u64, fast: true}
    - {name: at, type: datetime, fast: true}
    - {name: size, type: f64, fast: true}
";

const NUM_DOCS: u64 = 12;

fn documents() -> Vec<Value> {
    let titles = ["disk full", "network down", "disk", "full moon"];
    let tags = ["red", "green", "blue", "black"];
    let documents = (0..NUM_DOCS).map(|n| {
        let place = usize::try_from(n).unwrap();
        let tags: Vec<&str> = tags.iter().take(place % 5).copied().collect();
        let mut document = json!({
            "n": n, "title": titles[place % 4], "body": titles[place / 4 % 4], "tags": tags, "needed": n % 4,
            "at": format!("2024-05-{:02}T00:00:00Z", n + 1), "extra": {"code": n * 10},
        });
        if n % 6 != 5 {
            document["size"] = json!(f64::from(u32::try_from(n).unwrap()) * 1.5);
        }
        document
    });
    documents.collect()
}

fn searcher() -> Searcher {
    let lines: Vec<String> = documents().iter().map(Value::to_string).collect();
    let index = TestIndex::build(CONFIG, &lines, 3).unwrap();
    Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .cache(Arc::new(MemoryCache::new(64 << 20)))
        .index_from("logs", Arc::new(index.fetcher()), "logs")
        .and_then(|builder| builder.build())
        .unwrap()
}

fn search(searcher: &Searcher, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/logs/_search", "", body);
    assert_eq!(status, 200, "{body}: {answer}");
    answer
}

/// Returns the number and the score of each hit, in order.
fn scores(searcher: &Searcher, query: &Value) -> Vec<(u64, f64)> {
    let answer = search(searcher, &json!({"query": query, "size": 100}));
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        let n = hit["_source"]["n"].as_u64().unwrap();
        (n, hit["_score"].as_f64().unwrap())
    })
    .collect()
}

/// Checks the scores of hits, and that the best come first.
fn check_scores(searcher: &Searcher, query: &Value, expected: impl Fn(f64, &Value) -> Option<f64>) {
    let found = scores(searcher, query);
    let is_sorted = found.windows(2).all(|pair| pair[0].1 >= pair[1].1);
    assert!(is_sorted, "{query}: {found:?}");
    let mut wanted = Vec::new();
    for document in documents() {
        let n = document["n"].as_f64().unwrap();
        wanted.extend(expected(n, &document).map(|score| (document["n"].as_u64().unwrap(), score)));
    }
    assert_eq!(found.len(), wanted.len(), "{query}: {found:?}");
    for (n, score) in wanted {
        let (_, own) = found.iter().find(|(own, _)| *own == n).unwrap();
        assert!(
            (own - score).abs() <= score.abs() * 1e-3 + 1e-6,
            "{query}: {n} has {own} instead of {score}"
        );
    }
}

#[test]
fn functions_change_scores_as_their_formulas_say() {
    let searcher = searcher();
    let function = |body: Value| json!({ "function_score": body });
    let size = |document: &Value| document.get("size").and_then(Value::as_f64);
    let query = function(json!({"query": {"match_all": {}}, "weight": 3, "boost": 2}));
    check_scores(&searcher, &query, |_, _| Some(6.0));
    let query = function(
        json!({"field_value_factor": {"field": "n", "factor": 2, "modifier": "log1p"}, "boost_mode": "sum"}),
    );
    check_scores(&searcher, &query, |n, _| {
        Some(1.0 + (2.0 * n + 1.0).log10())
    });
    let query = function(
        json!({"field_value_factor": {"field": "size", "modifier": "sqrt", "missing": 4}, "boost_mode": "replace"}),
    );
    check_scores(&searcher, &query, |_, document| {
        Some(size(document).unwrap_or(4.0).sqrt())
    });
    let query = function(json!({
        "query": {"constant_score": {"filter": {"range": {"n": {"lt": 8}}}, "boost": 5}},
        "functions": [
            {"filter": {"term": {"n": 2}}, "weight": 2},
            {"filter": {"range": {"n": {"lte": 3}}}, "weight": 4},
            {"filter": {"term": {"n": 100}}, "weight": 100},
        ],
        "score_mode": "sum",
    }));
    check_scores(&searcher, &query, |n, _| {
        let functions = match n {
            n if n >= 8.0 => return None,
            2.0 => 6.0,
            n if n <= 3.0 => 4.0,
            _ => 1.0,
        };
        Some(5.0 * functions)
    });
    for (mode, of_two) in [
        ("multiply", 8.0),
        ("avg", 3.0),
        ("first", 2.0),
        ("max", 4.0),
        ("min", 2.0),
    ] {
        let query = function(json!({
            "functions": [{"filter": {"term": {"n": 2}}, "weight": 2}, {"filter": {"term": {"n": 2}}, "field_value_factor": {"field": "n"}, "weight": 2}],
            "score_mode": mode, "max_boost": 7,
        }));
        let avg = (2.0 + 4.0) / 4.0;
        let of_two: f64 = if mode == "avg" { avg } else { of_two };
        check_scores(&searcher, &query, |n, _| {
            Some(if n == 2.0 { of_two.min(7.0) } else { 1.0 })
        });
    }
    let gauss =
        |distance: f64, scale: f64, decay: f64| (decay.ln() * (distance / scale).powi(2)).exp();
    let query = function(
        json!({"gauss": {"n": {"origin": 5, "scale": 2, "offset": 1, "decay": 0.25}}, "boost_mode": "replace"}),
    );
    check_scores(&searcher, &query, |n, _| {
        Some(gauss(((n - 5.0).abs() - 1.0).max(0.0), 2.0, 0.25))
    });
    let query = function(
        json!({"exp": {"at": {"origin": "2024-05-04", "scale": "3d"}}, "boost_mode": "replace"}),
    );
    check_scores(&searcher, &query, |n, _| {
        Some((0.5_f64.ln() * (n - 3.0).abs() / 3.0).exp())
    });
    let query =
        function(json!({"linear": {"size": {"origin": 6, "scale": 3}}, "boost_mode": "replace"}));
    check_scores(&searcher, &query, |_, document| {
        Some(size(document).map_or(1.0, |size| ((6.0 - (size - 6.0).abs()) / 6.0).max(0.0)))
    });
    let query = function(
        json!({"linear": {"extra.code": {"origin": 0, "scale": 60}}, "boost_mode": "replace"}),
    );
    check_scores(&searcher, &query, |n, _| {
        Some(((120.0 - 10.0 * n) / 120.0).max(0.0))
    });
    let random = |seed: u64| {
        let query = function(
            json!({"random_score": {"seed": seed, "field": "n"}, "boost_mode": "replace"}),
        );
        scores(&searcher, &query)
    };
    assert_eq!(random(7), random(7));
    assert_ne!(random(7), random(8));
    assert!(
        random(7)
            .iter()
            .all(|(_, score)| (0.0..=1.0).contains(score))
    );
    // Without scores, the same documents match.
    let query = function(
        json!({"query": {"match": {"title": "disk"}}, "field_value_factor": {"field": "n"}}),
    );
    let answer = search(
        &searcher,
        &json!({"query": {"bool": {"filter": query}}, "size": 0}),
    );
    assert_eq!(answer["hits"]["total"]["value"], 6);
}

#[test]
fn distance_features_score_by_their_distance() {
    let searcher = searcher();
    let query = json!({"distance_feature": {"field": "at", "origin": "2024-05-03", "pivot": "2d", "boost": 10}});
    check_scores(&searcher, &query, |n, _| {
        Some(10.0 * 2.0 / (2.0 + (n - 2.0).abs()))
    });
    let query = json!({"distance_feature": {"field": "size", "origin": 3, "pivot": 1.5}});
    check_scores(&searcher, &query, |_, document| {
        let size = document.get("size").and_then(Value::as_f64)?;
        Some(1.5 / (1.5 + (size - 3.0).abs()))
    });
}

fn found(searcher: &Searcher, query: &Value) -> Vec<u64> {
    let mut found: Vec<u64> = scores(searcher, query)
        .into_iter()
        .map(|(n, _)| n)
        .collect();
    found.sort_unstable();
    found
}

fn those(is: impl Fn(u64, &Value) -> bool) -> Vec<u64> {
    let documents = documents();
    let numbered = documents
        .iter()
        .map(|document| (document["n"].as_u64().unwrap(), document));
    numbered
        .filter(|(n, document)| is(*n, document))
        .map(|(n, _)| n)
        .collect()
}

#[test]
fn sets_of_terms_need_as_many_as_their_documents_say() {
    let searcher = searcher();
    let terms = ["red", "blue", "none"];
    let has = |document: &Value| {
        let tags = document["tags"].as_array().unwrap();
        terms
            .iter()
            .filter(|term| tags.contains(&json!(term)))
            .count() as u64
    };
    let query =
        json!({"terms_set": {"tags": {"terms": terms, "minimum_should_match_field": "needed"}}});
    assert_eq!(
        found(&searcher, &query),
        those(|n, document| has(document) >= (n % 4).max(1))
    );
    let query = json!({"terms_set": {"tags": {"terms": terms, "minimum_should_match": 2}}});
    assert_eq!(
        found(&searcher, &query),
        those(|_, document| has(document) >= 2)
    );
}

#[test]
fn combined_fields_count_as_one() {
    let searcher = searcher();
    let query = json!({"combined_fields": {"query": "disk network", "fields": ["title", "body"], "operator": "and"}});
    let has = |document: &Value, word: &str| {
        ["title", "body"]
            .iter()
            .any(|field| document[field].as_str().unwrap().contains(word))
    };
    assert_eq!(
        found(&searcher, &query),
        those(|_, document| has(document, "disk") && has(document, "network"))
    );
}

#[test]
fn operators_of_lucene_s_expressions_have_their_meaning() {
    let searcher = searcher();
    let regexp = |pattern: &str| json!({"regexp": {"tags": pattern}});
    assert_eq!(found(&searcher, &regexp("bl@")), those(|n, _| n % 5 >= 3));
    assert_eq!(
        found(&searcher, &regexp("\"red\"")),
        those(|n, _| n % 5 >= 1)
    );
    assert_eq!(found(&searcher, &regexp("\"r.d\"")), Vec::<u64>::new());
    let query = json!({"regexp": {"tags": {"value": "re@", "flags": "NONE"}}});
    assert_eq!(found(&searcher, &query), Vec::<u64>::new());
    let numbers = (0..120)
        .map(|n| json!({"n": n, "tags": [format!("v{n}"), format!("w{n:03}")]}).to_string());
    let lines: Vec<String> = numbers.collect();
    let index = TestIndex::build(CONFIG, &lines, 1).unwrap();
    let searcher = named(&index, "logs");
    let numbers = |first: u64, last: u64| (first..=last).collect::<Vec<u64>>();
    assert_eq!(found(&searcher, &regexp("v<9-101>")), numbers(9, 101));
    assert_eq!(found(&searcher, &regexp("w<009-101>")), numbers(9, 101));
    assert_eq!(found(&searcher, &regexp("w<20-30>")), Vec::<u64>::new());
}

#[test]
fn a_search_in_the_background_is_answered_at_once() {
    let searcher = searcher();
    let body = json!({"query": {"match": {"title": "disk"}}, "size": 1, "aggs": {"m": {"max": {"field": "n"}}}});
    let query = "wait_for_completion_timeout=1s&keep_on_completion=false";
    let (status, answer) = call(&searcher, "POST", "/logs/_async_search", query, &body);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        (&answer["is_running"], &answer["is_partial"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(answer["response"]["hits"]["total"]["value"], 6);
    assert_eq!(answer["response"]["aggregations"]["m"]["value"], 10.0);
    let (status, _) = call(&searcher, "GET", "/_async_search/none", "", &Value::Null);
    assert_eq!(status, 404);
}

#[test]
fn a_document_is_said_to_match_or_not() {
    let searcher = searcher();
    let hits = search(
        &searcher,
        &json!({"query": {"match": {"title": "moon"}}, "size": 1}),
    );
    let hit = &hits["hits"]["hits"][0];
    let path = format!("/logs/_explain/{}", hit["_id"].as_str().unwrap());
    let (status, answer) = call(
        &searcher,
        "POST",
        &path,
        "",
        &json!({"query": {"match": {"title": "moon"}}}),
    );
    assert_eq!(
        (status, &answer["matched"]),
        (200, &json!(true)),
        "{answer}"
    );
    assert_eq!(answer["explanation"]["value"], hit["_score"]);
    let (_, answer) = call(&searcher, "GET", &path, "q=title:disk", &Value::Null);
    assert_eq!(answer["matched"], false, "{answer}");
    let (status, _) = call(
        &searcher,
        "GET",
        "/logs/_explain/none",
        "q=title:disk",
        &Value::Null,
    );
    assert_eq!(status, 404);
}

#[test]
fn hits_are_explained_and_searches_profiled() {
    let searcher = searcher();
    let answer = search(
        &searcher,
        &json!({"query": {"match": {"title": "moon"}}, "explain": true, "profile": true}),
    );
    let hit = &answer["hits"]["hits"][0];
    assert_eq!(hit["_explanation"]["value"], hit["_score"], "{answer}");
    let shard = &answer["profile"]["shards"][0];
    assert!(
        shard["searches"][0]["query"][0]["time_in_nanos"].is_u64(),
        "{answer}"
    );
    assert_eq!(answer["profile"]["canter"]["num_splits"], 4);
}

#[test]
fn terms_are_listed_by_their_beginning() {
    let searcher = searcher();
    let terms = |body: Value| {
        let (status, answer) = call(&searcher, "POST", "/logs/_terms_enum", "", &body);
        assert_eq!(
            (status, &answer["complete"]),
            (200, &json!(true)),
            "{answer}"
        );
        answer["terms"].clone()
    };
    assert_eq!(
        terms(json!({"field": "tags", "string": "bl"})),
        json!(["black", "blue"])
    );
    assert_eq!(
        terms(json!({"field": "tags", "string": "BL", "case_insensitive": true})),
        json!(["black", "blue"])
    );
    assert_eq!(
        terms(json!({"field": "tags", "size": 2})),
        json!(["black", "blue"])
    );
    assert_eq!(terms(json!({"field": "tags", "string": "."})), json!([]));
}

#[test]
fn texts_are_divided_into_words() {
    let searcher = searcher();
    let analyze = |path: &str, body: Value| {
        let (status, answer) = call(&searcher, "POST", path, "", &body);
        assert_eq!(status, 200, "{answer}");
        answer["tokens"].clone()
    };
    let tokens = analyze(
        "/_analyze",
        json!({"analyzer": "standard", "text": "The Äpfel 42"}),
    );
    assert_eq!(
        tokens,
        json!([
            {"token": "the", "start_offset": 0, "end_offset": 3, "type": "<ALPHANUM>", "position": 0},
            {"token": "äpfel", "start_offset": 4, "end_offset": 9, "type": "<ALPHANUM>", "position": 1},
            {"token": "42", "start_offset": 10, "end_offset": 12, "type": "<NUM>", "position": 2},
        ])
    );
    let tokens = analyze(
        "/logs/_analyze",
        json!({"field": "tags", "text": ["A b", "c"]}),
    );
    assert_eq!(tokens[0]["token"], "A b");
    assert_eq!(tokens[1]["position"], 101);
    assert_eq!(tokens[1]["start_offset"], 4);
    let (status, _) = call(
        &searcher,
        "POST",
        "/_analyze",
        "",
        &json!({"analyzer": "nosuch", "text": "a"}),
    );
    assert_eq!(status, 400);
}

#[test]
fn slices_divide_the_hits_of_a_point_in_time() {
    let searcher = searcher();
    let (status, opened) = call(
        &searcher,
        "POST",
        "/logs/_search/point_in_time",
        "keep_alive=1m",
        &Value::Null,
    );
    assert_eq!(status, 200, "{opened}");
    let id = &opened["pit_id"];
    let mut all = Vec::new();
    for slice in 0..3 {
        let body = json!({"pit": {"id": id, "keep_alive": "1m"}, "slice": {"id": slice, "max": 3}, "size": 100});
        let (status, answer) = call(&searcher, "POST", "/_search", "", &body);
        assert_eq!(status, 200, "{answer}");
        let hits = answer["hits"]["hits"].as_array().unwrap();
        assert!(!hits.is_empty(), "{answer}");
        all.extend(hits.iter().map(|hit| hit["_source"]["n"].as_u64().unwrap()));
    }
    all.sort_unstable();
    assert_eq!(all, (0..NUM_DOCS).collect::<Vec<u64>>());
    let (status, answer) = call(
        &searcher,
        "DELETE",
        "/_search/point_in_time",
        "",
        &json!({"pit_id": [id]}),
    );
    assert_eq!(
        (status, &answer["pits"][0]["successful"]),
        (200, &json!(true))
    );
    let (status, _) = call(
        &searcher,
        "POST",
        "/logs/_search",
        "",
        &json!({"slice": {"id": 0, "max": 2}}),
    );
    assert_eq!(status, 400);
}

#[test]
fn a_cleared_scroll_has_ended() {
    let searcher = searcher();
    let body = json!({"size": 2, "query": {"match_all": {}}});
    let begin = || {
        let (status, answer) = call(&searcher, "POST", "/logs/_search", "scroll=1m", &body);
        assert_eq!(status, 200, "{answer}");
        answer["_scroll_id"].clone()
    };
    let page = |id: &Value| {
        call(
            &searcher,
            "POST",
            "/_search/scroll",
            "",
            &json!({"scroll_id": id, "scroll": "1m"}),
        )
    };
    let id = begin();
    let (status, second) = page(&id);
    assert_eq!(
        (status, second["hits"]["hits"].as_array().unwrap().len()),
        (200, 2),
        "{second}"
    );
    let (status, freed) = call(
        &searcher,
        "DELETE",
        "/_search/scroll",
        "",
        &json!({"scroll_id": [id.clone()]}),
    );
    assert_eq!((status, &freed["num_freed"]), (200, &json!(1)), "{freed}");
    // Every page has ended, not only the one that was named.
    for id in [&id, &second["_scroll_id"]] {
        let (status, answer) = page(id);
        assert_eq!(status, 404, "{answer}");
        assert!(
            answer
                .to_string()
                .contains("search_context_missing_exception"),
            "{answer}"
        );
    }
    let (status, _) = call(
        &searcher,
        "DELETE",
        "/_search/scroll",
        "",
        &json!({"scroll_id": "none"}),
    );
    assert_eq!(status, 404);
}
