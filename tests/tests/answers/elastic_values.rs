//! Values as Elasticsearch shows, sorts and finds them: dates in the format of their field, numbers in place of missing ones,
//! sets of equal values, values of objects without a path, and what a nested path finds.

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: values
doc_mapping:
  mode: dynamic
  id_field: _id
  field_mappings:
    - {name: _id, type: text, tokenizer: raw, fast: true}
    - {name: n, type: u64, fast: true}
    - {name: day, type: datetime, fast: true, fast_precision: milliseconds, input_formats: ['%Y-%m-%d', unix_timestamp_millis]}
    - {name: price, type: f64, fast: true}
    - {name: rank, type: i64, fast: true}
    - {name: seen, type: datetime, fast: true, fast_precision: milliseconds, input_formats: [rfc3339]}
    - {name: tags, type: 'array<text>', tokenizer: raw, fast: true}
    - {name: ips, type: 'array<ip>', fast: true}
    - {name: text, type: text, record: position}
    - {name: attrs, type: json, tokenizer: raw}
    - {name: fast_attrs, type: json, tokenizer: raw, fast: true}
";

fn searcher() -> Searcher {
    let documents = [
        json!({"_id": "a1", "n": 0, "day": "2023-01-01", "price": 2.5, "rank": -3, "seen": "2023-01-01T00:00:00Z",
            "tags": ["a", "a", "b"], "ips": ["10.0.0.1", "10.0.0.1"], "text": "the disk is full now",
            "attrs": {"color": "red", "size": {"eu": "44"}}, "fast_attrs": {"color": "red"}, "extra": {"x": 1}}),
        json!({"_id": "a2", "n": 1, "day": "2023-01-01", "seen": "2023-01-03T00:00:00Z", "tags": "b",
            "text": "full of disk errors", "attrs": {"shade": "red"}, "fast_attrs": {"shade": "red"}}),
        json!({"_id": "599", "n": 2, "day": "2023-02-01", "price": 7.25, "rank": 9, "tags": [],
            "text": "nothing", "attrs": {"color": "blue"}, "fast_attrs": {"color": "blue"}}),
        json!({"_id": "a4", "n": 3, "rank": 5, "text": "disk full"}),
    ];
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    named(&TestIndex::build(CONFIG, &lines, 2).unwrap(), "values")
}

fn ask(searcher: &Searcher, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/values/_search", "", body);
    assert_eq!(status, 200, "{body}: {answer}");
    answer
}

/// Returns the numbers of the documents found, in order.
fn found(searcher: &Searcher, body: &Value) -> Vec<u64> {
    let answer = ask(searcher, body);
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect()
}

fn found_by(searcher: &Searcher, query: &Value) -> Vec<u64> {
    found(searcher, &json!({"query": query, "sort": ["n"]}))
}

#[test]
fn aggregations_write_dates_in_the_format_of_their_field() {
    let searcher = searcher();
    let day = json!({"field": "day"});
    let body = json!({"size": 0, "aggs": {
        "terms": {"terms": day},
        "own": {"terms": {"field": "day", "format": "dd.MM.yyyy"}},
        "months": {"date_histogram": {"field": "day", "calendar_interval": "month"}},
        "ranges": {"date_range": {"field": "day", "ranges": [{"to": "2023-01-15"}]}},
        "min": {"min": day},
        "middle": {"percentiles": {"field": "day", "percents": [0, 100]}},
        "seen": {"max": {"field": "seen"}},
    }});
    let answer = &ask(&searcher, &body)["aggregations"];
    let texts = |name: &str| -> Vec<&str> {
        let buckets = answer[name]["buckets"].as_array().unwrap().iter();
        buckets
            .map(|bucket| bucket["key_as_string"].as_str().unwrap())
            .collect()
    };
    assert_eq!(texts("terms"), ["2023-01-01", "2023-02-01"]);
    assert_eq!(texts("own"), ["01.01.2023", "01.02.2023"]);
    assert_eq!(texts("months"), ["2023-01-01", "2023-02-01"]);
    assert_eq!(answer["ranges"]["buckets"][0]["key"], "*-2023-01-15");
    assert_eq!(answer["ranges"]["buckets"][0]["to_as_string"], "2023-01-15");
    assert_eq!(answer["min"]["value_as_string"], "2023-01-01");
    let values = &answer["middle"]["values"];
    assert_eq!(values["100.0_as_string"], "2023-02-01");
    assert_eq!(
        answer["seen"]["value_as_string"],
        "2023-01-03T00:00:00.000Z"
    );
    // Quickwit's API has one format of dates.
    let answer = searcher_answer(
        &searcher,
        &json!({"query": "*", "max_hits": 0, "aggs": {"d": {"terms": day}}}),
    );
    let text = &answer["aggregations"]["d"]["buckets"][0]["key_as_string"];
    assert_eq!(text, "2023-01-01T00:00:00Z");
}

fn searcher_answer(searcher: &Searcher, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/api/v1/values/search", "", body);
    assert_eq!(status, 200, "{answer}");
    answer
}

#[test]
fn a_number_may_stand_in_place_of_a_missing_value() {
    let searcher = searcher();
    for (key, wanted) in [
        (json!({"price": {"missing": 5}}), [0, 1, 3, 2]),
        (
            json!({"price": {"missing": 5.5, "order": "desc"}}),
            [2, 1, 3, 0],
        ),
        (json!({"rank": {"missing": 7}}), [0, 3, 1, 2]),
        (
            json!({"rank": {"missing": "0", "order": "desc"}}),
            [2, 3, 1, 0],
        ),
        // Milliseconds.
        (
            json!({"seen": {"missing": 1_672_617_600_000_u64}}),
            [0, 2, 3, 1],
        ),
        (json!({"nowhere": {"missing": 1}}), [0, 1, 2, 3]),
    ] {
        let body = json!({"sort": [key, {"n": "asc"}]});
        assert_eq!(found(&searcher, &body), wanted, "{body}");
        // Page by page.
        let (mut after, mut pages) = (None, Vec::new());
        while pages.len() < 4 {
            let mut body = json!({"sort": [key, {"n": "asc"}], "size": 1});
            if let Some(after) = after {
                body["search_after"] = after;
            }
            let hit = ask(&searcher, &body)["hits"]["hits"][0].clone();
            pages.push(hit["_source"]["n"].as_u64().unwrap());
            after = Some(hit["sort"].clone());
        }
        assert_eq!(pages, wanted, "{body}");
    }
    let body = json!({"sort": [{"tags": {"missing": "zzz"}}]});
    let (status, answer) = call(&searcher, "POST", "/values/_search", "", &body);
    assert_eq!(status, 400, "{answer}");
}

#[test]
fn many_keys_sort() {
    let absent = |name: &str| json!({name: {"unmapped_type": "long"}});
    let keys =
        json!([absent("nowhere"), absent("absent"), {"rank": "desc"}, "price", {"n": "asc"}]);
    assert_eq!(found(&searcher(), &json!({"sort": keys})), [2, 3, 0, 1]);
}

#[test]
fn equal_texts_and_addresses_of_a_document_count_once() {
    let aggs = json!({"tags": {"value_count": {"field": "tags"}}, "ips": {"value_count": {"field": "ips"}},
        "texts": {"string_stats": {"field": "tags"}}, "by": {"terms": {"field": "tags"},
        "aggs": {"count": {"value_count": {"field": "tags"}}}}});
    let answer = &ask(&searcher(), &json!({"size": 0, "aggs": aggs}))["aggregations"];
    assert_eq!(answer["tags"]["value"], 3);
    assert_eq!(answer["ips"]["value"], 1);
    assert_eq!(answer["texts"]["count"], 3);
    let buckets = &answer["by"]["buckets"];
    assert_eq!(buckets[0]["key"], "b");
    assert_eq!(buckets[0]["count"]["value"], 3);
    assert_eq!(buckets[1]["count"]["value"], 2);
}

#[test]
fn an_object_of_any_shape_is_found_by_any_of_its_values() {
    let searcher = searcher();
    for field in ["attrs", "fast_attrs"] {
        for query in [
            json!({"term": {field: "red"}}),
            json!({"terms": {field: ["red", "green"]}}),
            json!({"match": {field: "red"}}),
            json!({"wildcard": {field: "r*d"}}),
            json!({"query_string": {"query": format!("{field}:red")}}),
        ] {
            assert_eq!(found_by(&searcher, &query), [0, 1], "{query}");
        }
        let query = json!({"term": {field: "color"}});
        assert_eq!(found_by(&searcher, &query), [0_u64; 0]);
        let query = json!({"term": {format!("{field}.color"): "red"}});
        assert_eq!(found_by(&searcher, &query), [0]);
    }
}

#[test]
fn a_word_without_a_field_is_not_looked_for_among_ids() {
    let searcher = searcher();
    for query in [
        json!({"query_string": {"query": "599"}}),
        json!({"simple_query_string": {"query": "599"}}),
        json!({"multi_match": {"query": "599"}}),
    ] {
        assert_eq!(found_by(&searcher, &query), [0_u64; 0], "{query}");
    }
    assert_eq!(
        found_by(&searcher, &json!({"query_string": {"query": "_id:599"}})),
        [2]
    );
}

#[test]
fn words_side_by_side_are_a_phrase_where_the_request_says_so() {
    let searcher = searcher();
    for (query, wanted) in [
        ("disk full", vec![3]),
        ("disk", vec![0, 1, 3]),
        ("disk AND full", vec![0, 1, 3]),
        ("nothing OR disk full", vec![2, 3]),
        ("text:disk full", vec![3]),
        ("dis* full", vec![0, 1, 3]),
        ("full -of", vec![0, 3]),
        ("\"full of\" nothing", vec![1, 2]),
    ] {
        let query = json!({"query_string": {"query": query, "fields": ["text"], "type": "phrase"}});
        assert_eq!(found_by(&searcher, &query), wanted, "{query}");
    }
}

#[test]
fn a_path_that_no_document_has_holds_no_objects() {
    let searcher = searcher();
    let all = json!({"match_all": {}});
    for (path, ignores, wanted) in [
        ("nope", true, vec![]),
        ("nope", false, vec![]),
        ("extra", false, vec![0]),
        ("extra", true, vec![]),
    ] {
        let query = json!({"nested": {"path": path, "query": all, "ignore_unmapped": ignores}});
        assert_eq!(found_by(&searcher, &query), wanted, "{query}");
    }
}

#[test]
fn a_random_sample_is_all_there_is() {
    let aggs = json!({"some": {"random_sampler": {"probability": 0.1, "seed": 4}, "aggs": {
        "tags": {"terms": {"field": "tags"}}}}});
    let answer = &ask(&searcher(), &json!({"size": 0, "aggs": aggs}))["aggregations"]["some"];
    assert_eq!(answer["doc_count"], 4);
    assert_eq!(answer["tags"]["buckets"][0]["doc_count"], 2);
    let aggs = json!({"some": {"random_sampler": {"probability": 0.7}}});
    let body = json!({"size": 0, "aggs": aggs});
    let (status, answer) = call(&searcher(), "POST", "/values/_search", "", &body);
    assert_eq!(status, 400, "{answer}");
}
