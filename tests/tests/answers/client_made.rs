//! Requests as people send them to an index that a client made: what Elasticsearch answers from mappings that its first
//! documents made.

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: strange
doc_mapping:
  mode: dynamic
  id_field: _id
  dynamic_mapping: {stored: false, fast: true, tokenizer: standard, record: position, expand_dots: true}
  field_mappings:
    - {name: _id, type: text, tokenizer: raw, fast: true}
    - {name: kept, type: json, indexed: false, fast: false}
    - {name: place, type: dense_vector, dims: 2, similarity: l2_norm}
";

/// Times of the documents in milliseconds since 1970.
const TIMES: [i64; 6] = [
    1_709_251_200_000,
    1_711_929_600_000,
    1_711_929_600_001,
    1_714_521_600_000,
    1_717_200_000_000,
    1_719_792_000_000,
];

fn documents() -> Vec<Value> {
    let documents = TIMES.iter().enumerate().map(|(n, ms)| {
        let time = time_of(*ms);
        json!({"_id": n.to_string(), "n": n, "when": time,
            "kept": {"x": n, "deep": {"y": "z"}}, "place": [n, 1]})
    });
    documents.collect()
}

/// Writes a time as documents have it.
fn time_of(ms: i64) -> String {
    let (days, rest) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
    // All times are at the beginning of a month of 2024, or a millisecond later.
    let month = match days {
        19_783 => 3,
        19_814 => 4,
        19_844 => 5,
        19_875 => 6,
        _ => 7,
    };
    format!("2024-{month:02}-01T00:00:00.{rest:03}Z")
}

fn searcher() -> Searcher {
    let lines: Vec<String> = documents().iter().map(Value::to_string).collect();
    named(&TestIndex::build(CONFIG, &lines, 3).unwrap(), "strange")
}

fn ask(searcher: &Searcher, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/strange/_search", "", body);
    assert_eq!(status, 200, "{body}: {answer}");
    answer
}

/// Returns the ids of the documents found, sorted.
fn found(searcher: &Searcher, query: &Value) -> Vec<String> {
    let answer = ask(searcher, &json!({"query": query, "size": 100}));
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let mut ids: Vec<String> = hits
        .map(|hit| hit["_id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
fn what_an_object_keeps_is_in_no_field() {
    let searcher = searcher();
    for query in [
        json!({"term": {"kept.x": 3}}),
        json!({"match": {"kept.deep.y": "z"}}),
        json!({"exists": {"field": "kept.x"}}),
        json!({"range": {"kept.x": {"gte": 0}}}),
    ] {
        assert_eq!(found(&searcher, &query), [""; 0], "{query}");
    }
    let hit = &ask(&searcher, &json!({"query": {"term": {"_id": "2"}}}))["hits"]["hits"][0];
    assert_eq!(hit["_source"]["kept"]["x"], 2);
}

#[test]
fn dates_that_no_mapping_names_are_milliseconds() {
    let searcher = searcher();
    let all = ask(&searcher, &json!({"sort": [{"when": "desc"}], "size": 6}));
    let shown = all["hits"]["hits"].as_array().unwrap().iter();
    let shown: Vec<i64> = shown.map(|hit| hit["sort"][0].as_i64().unwrap()).collect();
    let mut wanted = TIMES.to_vec();
    wanted.reverse();
    assert_eq!(shown, wanted);
    for (place, ms) in wanted.iter().enumerate() {
        let body = json!({"sort": [{"when": "desc"}], "size": 1, "search_after": [ms]});
        let next = &ask(&searcher, &body)["hits"]["hits"];
        let next = next[0]["sort"][0].as_i64();
        assert_eq!(next, wanted.get(place + 1).copied(), "{ms}");
    }
}

#[test]
fn pages_go_on_behind_a_date_that_is_finer_than_a_millisecond() {
    let times = [
        "00:00:00.000001Z",
        "00:00:00.000002Z",
        "00:00:00.000002001Z",
        "00:00:01Z",
    ];
    let lines = times.iter().enumerate().map(|(n, time)| {
        json!({"_id": n.to_string(), "when": format!("2024-03-01T{time}")}).to_string()
    });
    let index = TestIndex::build(CONFIG, &lines.collect::<Vec<_>>(), 2).unwrap();
    let searcher = named(&index, "strange");
    let (mut after, mut ids) = (None, Vec::new());
    loop {
        let mut body = json!({"sort": [{"when": "asc"}], "size": 1});
        if let Some(after) = after.take() {
            body["search_after"] = after;
        }
        let answer = ask(&searcher, &body);
        let Some(hit) = answer["hits"]["hits"].get(0) else {
            break;
        };
        ids.push(hit["_id"].as_str().unwrap().to_owned());
        assert!(ids.len() <= times.len(), "{ids:?}");
        after = Some(hit["sort"].clone());
    }
    assert_eq!(ids, ["0", "1", "2", "3"]);
}

#[test]
fn the_first_documents_of_each_split_are_a_sample() {
    let searcher = searcher();
    for (size, wanted) in [(1, 2), (2, 4), (3, 6), (100, 6)] {
        let aggs = json!({"some": {"sampler": {"shard_size": size}, "aggs": {"n": {"sum": {"field": "n"}}}}});
        let some = &ask(&searcher, &json!({"size": 0, "aggs": aggs}))["aggregations"]["some"];
        assert_eq!(some["doc_count"], wanted, "{size}");
    }
    // Each bucket has a sample of its own.
    let aggs = json!({"by": {"range": {"field": "n", "ranges": [{"to": 3}, {"from": 3}]}, "aggs": {
        "some": {"sampler": {"shard_size": 2}, "aggs": {"n": {"value_count": {"field": "n"}}}}}}});
    let answer = ask(&searcher, &json!({"size": 0, "aggs": aggs}));
    for bucket in answer["aggregations"]["by"]["buckets"].as_array().unwrap() {
        assert_eq!(bucket["doc_count"], 3);
        assert_eq!(bucket["some"]["doc_count"], 2);
        assert_eq!(bucket["some"]["n"]["value"], 2);
    }
    // By default as many as in Elasticsearch.
    let aggs = json!({"some": {"sampler": {}}});
    let answer = ask(&searcher, &json!({"size": 0, "aggs": aggs}));
    assert_eq!(answer["aggregations"]["some"]["doc_count"], 6);
}

#[test]
fn a_score_that_all_hits_have_is_enough_or_too_low() {
    let searcher = searcher();
    for (least, wanted) in [(1.0, 6), (2.0, 6), (2.1, 0)] {
        let query = json!({"constant_score": {"filter": {"match_all": {}}, "boost": 2.0}});
        let body = json!({"query": query, "min_score": least, "size": 10});
        let hits = &ask(&searcher, &body)["hits"];
        assert_eq!(hits["total"]["value"], wanted, "{least}");
        assert_eq!(hits["hits"].as_array().unwrap().len(), wanted, "{least}");
    }
    let body = json!({"min_score": 0.5, "aggs": {"n": {"max": {"field": "n"}}}});
    assert_eq!(ask(&searcher, &body)["aggregations"]["n"]["value"], 5.0);
}

#[test]
fn the_nearest_are_found_as_opensearch_asks_for_them() {
    let searcher = searcher();
    let query = json!({"knn": {"place": {"vector": [2.2, 1], "k": 2}}});
    let answer = ask(&searcher, &json!({"query": query, "size": 2}));
    let hits = answer["hits"]["hits"].as_array().unwrap();
    let ids: Vec<&str> = hits
        .iter()
        .map(|hit| hit["_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["2", "3"]);
    let score = hits[0]["_score"].as_f64().unwrap();
    assert!((score - 1.0 / (1.0 + 0.04)).abs() < 1e-5, "{score}");
    let filter = json!({"range": {"n": {"gte": 4}}});
    let query = json!({"knn": {"place": {"vector": [2.2, 1], "k": 1, "filter": filter}}});
    assert_eq!(found(&searcher, &query), ["4"]);
    for (query, what) in [
        (json!({"knn": {"place": {"k": 2}}}), "vector is missing"),
        (
            json!({"knn": {"place": {"vector": [1, 1], "max_distance": 2}}}),
            "max_distance",
        ),
        (json!({"knn": {}}), "name a field"),
    ] {
        let body = json!({"query": query});
        let (status, error) = call(&searcher, "POST", "/strange/_search", "", &body);
        assert!(status == 400 && error.to_string().contains(what), "{error}");
    }
}

#[test]
fn a_page_beyond_the_last_is_an_error_of_the_search() {
    let body = json!({"from": 9_999, "size": 10});
    let (status, answer) = call(&searcher(), "POST", "/strange/_search", "", &body);
    assert_eq!(status, 400);
    assert_eq!(answer["error"]["type"], "search_phase_execution_exception");
    let cause = &answer["error"]["root_cause"][0];
    assert_eq!(cause["type"], "illegal_argument_exception");
    let reason = cause["reason"].as_str().unwrap();
    assert!(reason.starts_with("Result window is too large"), "{reason}");
}
