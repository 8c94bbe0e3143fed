//! Regression tests of wrong answers to Elasticsearch's query DSL that random queries found.

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: findings
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: text, type: text}
    - {name: tag, type: text, tokenizer: raw}
    - {name: seen, type: datetime, fast: true, fast_precision: milliseconds, input_formats: [rfc3339]}
    - {name: fine, type: datetime, fast: true, fast_precision: nanoseconds, input_formats: [rfc3339]}
";

/// Returns the numbers of the documents that a query finds.
fn found(index: &TestIndex, query: &Value) -> Vec<u64> {
    let request = json!({"query": query, "max_hits": 100, "sort_by": "-n"});
    let answer = index.search(&request).unwrap().json;
    assert_eq!(answer["failed_splits"], json!([]), "{query}");
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["n"].as_u64().unwrap()).collect()
}

/// Returns the answer of Elasticsearch's API.
fn elastic(searcher: &Searcher, path: &str, body: &Value) -> Value {
    call(searcher, "POST", path, "", body).1
}

fn index(documents: &[Value]) -> TestIndex {
    let numbered = documents.iter().enumerate().map(|(n, document)| {
        let mut document = document.clone();
        document["n"] = n.into();
        document.to_string()
    });
    TestIndex::build(CONFIG, &numbered.collect::<Vec<String>>(), 2).unwrap()
}

#[test]
fn a_share_that_may_be_missing_and_rounds_to_none_lets_none_be_missing() {
    let index = index(&[
        json!({"text": "one two three"}),
        json!({"text": "one two"}),
        json!({"text": "one"}),
        json!({"text": "one two three four"}),
    ]);
    for (query, least, wanted) in [
        ("one two three", "-25%", vec![0, 3]),
        ("one two", "-25%", vec![0, 1, 3]),
        ("one two three four", "-25%", vec![0, 3]),
        ("one two three", "2<-25%", vec![0, 3]),
        ("one two three", "25%", vec![0, 1, 2, 3]),
        ("one two three", "-1", vec![0, 1, 3]),
        ("one two three", "0%", vec![0, 1, 2, 3]),
    ] {
        let query = json!({"match": {"text": {"query": query, "minimum_should_match": least}}});
        assert_eq!(found(&index, &query), wanted, "{query}");
    }
}

#[test]
fn any_character_of_an_expression_is_also_a_line_break() {
    let index = index(&[
        json!({"tag": "line\nbreak"}),
        json!({"tag": "line break"}),
        json!({"tag": "linebreak"}),
    ]);
    for expression in ["line.break", "line[^x]break", "l.*k|nothing"] {
        let wanted: &[u64] = if expression.starts_with("line") {
            &[0, 1]
        } else {
            &[0, 1, 2]
        };
        for query in [
            json!({"regexp": {"tag": expression}}),
            json!({"regexp": {"tag": {"value": expression.to_uppercase(), "case_insensitive": true}}}),
            json!({"query_string": {"query": format!("tag:/{expression}/")}}),
        ] {
            assert_eq!(found(&index, &query), wanted, "{query}");
        }
    }
}

#[test]
fn a_day_before_1970_ends_before_the_next_one() {
    let index = index(&[
        json!({"seen": "1900-01-15T00:00:00Z"}),
        json!({"seen": "1900-01-15T23:59:59.999Z"}),
        json!({"seen": "1900-01-16T00:00:00Z"}),
        json!({"seen": "2000-01-15T23:59:59.999Z"}),
        json!({"seen": "2000-01-16T00:00:00Z"}),
    ]);
    for (query, wanted) in [
        (json!({"term": {"seen": "1900-01-15"}}), vec![0, 1]),
        (
            json!({"range": {"seen": {"lte": "1900-01-15"}}}),
            vec![0, 1],
        ),
        (
            json!({"range": {"seen": {"gt": "1900-01-15"}}}),
            vec![2, 3, 4],
        ),
        (json!({"range": {"seen": {"lt": "1900-01-16"}}}), vec![0, 1]),
        (
            json!({"range": {"seen": {"gte": "1900-01-16"}}}),
            vec![2, 3, 4],
        ),
        (
            json!({"range": {"seen": {"lte": "1900-01-15||/d"}}}),
            vec![0, 1],
        ),
        (json!({"term": {"seen": "2000-01-15"}}), vec![3]),
        (json!({"range": {"seen": {"gt": "2000-01-15"}}}), vec![4]),
    ] {
        assert_eq!(found(&index, &query), wanted, "{query}");
    }
}

#[test]
fn a_count_of_milliseconds_means_all_of_its_last_one() {
    let index = index(&[
        json!({"fine": "2027-08-11T00:00:00Z"}),
        json!({"fine": "2027-08-11T00:00:00.000000001Z"}),
        json!({"fine": "2027-08-11T00:00:00.001Z"}),
        json!({"fine": "2027-08-11T00:00:01Z"}),
    ]);
    for (bounds, wanted) in [
        (
            json!({"lte": "1817942400000", "format": "epoch_millis"}),
            vec![0, 1],
        ),
        (
            json!({"gt": "1817942400000", "format": "epoch_millis"}),
            vec![2, 3],
        ),
        (
            json!({"gte": "1817942400000", "format": "epoch_millis"}),
            vec![0, 1, 2, 3],
        ),
        (
            json!({"lt": "1817942400001", "format": "epoch_millis"}),
            vec![0, 1],
        ),
        (
            json!({"lte": "1817942400", "format": "epoch_second"}),
            vec![0, 1, 2],
        ),
        (
            json!({"gt": "1817942400", "format": "epoch_second"}),
            vec![3],
        ),
    ] {
        let query = json!({"range": {"fine": bounds}});
        assert_eq!(found(&index, &query), wanted, "{query}");
    }
}

#[test]
fn what_stands_in_for_a_missing_value_is_the_value_of_documents_that_have_it() {
    let documents = [
        json!({"ip": "10.0.0.1", "flag": true, "num": 3, "at": "2024-05-01T00:00:00Z", "tag": "7"}),
        json!({"ip": "10.0.0.2", "flag": false, "num": 4, "at": "2024-05-02T00:00:00Z", "tag": "8"}),
        json!({}),
    ];
    let documents: Vec<String> = documents.iter().map(Value::to_string).collect();
    let config = "
version: 0.9
index_id: findings
doc_mapping:
  field_mappings:
    - {name: ip, type: ip, fast: true}
    - {name: flag, type: bool, fast: true}
    - {name: num, type: u64, fast: true}
    - {name: at, type: datetime, fast: true}
    - {name: tag, type: text, tokenizer: raw, fast: true}
";
    let index = TestIndex::build(config, &documents, 2).unwrap();
    let buckets = |field: &str, missing: Value| -> Vec<u64> {
        let terms = json!({"field": field, "missing": missing});
        let aggs = json!({
            "t": {"terms": terms}, "c": {"cardinality": terms},
            "m": {"multi_terms": {"terms": [terms, {"field": "tag", "missing": "9"}]}},
        });
        let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
        let answer = index.search(&request).unwrap().json["aggregations"].clone();
        let counts = answer["t"]["buckets"].as_array().unwrap().iter();
        let counts: Vec<u64> = counts
            .map(|bucket| bucket["doc_count"].as_u64().unwrap())
            .collect();
        assert_eq!(
            answer["c"]["value"],
            counts.len() as f64,
            "{field}: {answer}"
        );
        assert_eq!(
            answer["m"]["buckets"].as_array().unwrap().len(),
            3,
            "{field}: {answer}"
        );
        counts
    };
    for (field, missing) in [
        ("ip", json!("10.0.0.1")),
        ("ip", json!("::ffff:10.0.0.1")),
        ("flag", json!("true")),
        ("flag", json!(true)),
        ("num", json!("3")),
        ("num", json!(3)),
        ("at", json!("2024-05-01T00:00:00Z")),
        ("at", json!("2024-05-01")),
        ("at", json!(1_714_521_600_000_u64)),
        ("tag", json!("7")),
        ("tag", json!(7)),
    ] {
        assert_eq!(buckets(field, missing.clone()), [2, 1], "{field} {missing}");
    }
    for (field, missing) in [
        ("ip", json!("x")),
        ("flag", json!("x")),
        ("num", json!("x")),
        ("at", json!("x")),
    ] {
        let aggs = json!({"t": {"terms": {"field": field, "missing": missing}}});
        let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
        let error = index.search(&request).unwrap_err().to_string();
        assert!(error.contains("missing is no value"), "{error}");
    }
}

#[test]
fn near_words_are_those_of_lucene_however_frequent_they_are() {
    let texts = [
        "c b a",
        "a c b",
        "a b c",
        "c a d b",
        "a x b y c",
        "b a c",
        "a",
        "a",
        "c",
    ];
    let documents = texts.map(|text| json!({"text": text}));
    let config = CONFIG.replace(
        "{name: text, type: text}",
        "{name: text, type: text, record: position}",
    );
    let numbered = documents.iter().enumerate().map(|(n, document)| {
        let mut document = document.clone();
        document["n"] = n.into();
        document.to_string()
    });
    let index = TestIndex::build(&config, &numbered.collect::<Vec<_>>(), 20).unwrap();
    for (slop, wanted) in [
        (0, vec![2]),
        (1, vec![2]),
        (2, vec![1, 2, 4, 5]),
        (3, vec![1, 2, 4, 5]),
        (4, vec![0, 1, 2, 3, 4, 5]),
    ] {
        let phrase = json!({"match_phrase": {"text": {"query": "a b c", "slop": slop}}});
        assert_eq!(found(&index, &phrase), wanted, "{slop}");
        // Also checks the query with scores.
        let request = json!({"query": phrase, "max_hits": 20, "sort_by": "_score"});
        let answer = index.search(&request).unwrap().json;
        assert_eq!(answer["num_hits"], wanted.len(), "{slop}: {answer}");
    }
}

#[test]
fn a_bound_may_be_finer_than_the_field() {
    let config = CONFIG.replace("fast_precision: milliseconds", "fast_precision: seconds");
    let documents = [
        "2015-05-17T10:05:02Z",
        "2015-05-17T10:05:03Z",
        "2015-05-17T10:05:04Z",
    ];
    let numbered = documents.iter().enumerate();
    let numbered: Vec<String> = numbered
        .map(|(n, seen)| json!({"n": n, "seen": seen}).to_string())
        .collect();
    let index = TestIndex::build(&config, &numbered, 2).unwrap();
    for (bounds, wanted) in [
        (json!({"lte": "1431857103000"}), vec![0, 1]),
        (json!({"lt": "1431857103000"}), vec![0]),
        (json!({"gt": "1431857103000"}), vec![2]),
        (json!({"gte": "1431857103000"}), vec![1, 2]),
        // Bounds are cut to the precision of the field, as its values are.
        (json!({"lt": "1431857103001"}), vec![0]),
        (json!({"gte": "1431857103001"}), vec![1, 2]),
        (json!({"gt": "1431857103001"}), vec![2]),
    ] {
        let mut bounds = bounds;
        bounds["format"] = "epoch_millis".into();
        let query = json!({"range": {"seen": bounds}});
        assert_eq!(found(&index, &query), wanted, "{query}");
    }
}

#[test]
fn pages_of_dates_go_on_where_the_last_one_ended() {
    let times = [
        "1969-12-31T23:00:00Z",
        "1970-01-01T00:00:00Z",
        "1970-01-01T01:00:00Z",
        "1970-01-04T00:00:00Z",
        "2084-01-01T00:00:00Z",
    ];
    let documents: Vec<Value> = times
        .iter()
        .map(|time| json!({"fine": time, "seen": time}))
        .collect();
    let index = index(&documents);
    let searcher = named(&index, "logs");
    for (field, order) in [
        ("fine", "desc"),
        ("fine", "asc"),
        ("seen", "desc"),
        ("seen", "asc"),
    ] {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let mut body = json!({"size": 1, "sort": [{field: order}], "_source": ["n"]});
            if let Some(after) = &after {
                body["search_after"] = Value::clone(after);
            }
            let answer = elastic(&searcher, "/logs/_search", &body);
            let Some(hit) = answer["hits"]["hits"].get(0) else {
                break;
            };
            seen.push(hit["_source"]["n"].as_u64().unwrap());
            after = Some(hit["sort"].clone());
            assert!(seen.len() <= times.len(), "{field} {order}: {seen:?}");
        }
        let mut wanted: Vec<u64> = (0..5).collect();
        if order == "desc" {
            wanted.reverse();
        }
        assert_eq!(seen, wanted, "{field} {order}");
    }
}

#[test]
fn what_matches_everything_counts_for_the_score() {
    let index = index(&[
        json!({"tag": "a"}),
        json!({"tag": "a"}),
        json!({"tag": "b"}),
    ]);
    let searcher = named(&index, "logs");
    let term = json!({"constant_score": {"filter": {"term": {"tag": "a"}}, "boost": 0.5}});
    let all = json!({"match_all": {}});
    for (query, score) in [
        (json!({"bool": {"must": [term, all]}}), 1.5),
        (json!({"bool": {"must": [term], "should": [all]}}), 1.5),
        (
            json!({"bool": {"must": [term, {"query_string": {"query": "n:*"}}]}}),
            1.5,
        ),
        (
            json!({"bool": {"must": [term, {"exists": {"field": "n", "boost": 3}}]}}),
            3.5,
        ),
        (json!({"bool": {"must": [term], "filter": [all]}}), 0.5),
        (
            json!({"bool": {"must": [term, {"match_all": {"boost": 2}}]}}),
            2.5,
        ),
    ] {
        let body = json!({"query": query, "sort": ["_score"]});
        let answer = elastic(&searcher, "/logs/_search", &body);
        assert_eq!(answer["hits"]["total"]["value"], 2, "{query}: {answer}");
        assert_eq!(answer["hits"]["max_score"], score, "{query}: {answer}");
    }
}

#[test]
fn one_of_the_optional_clauses_must_match_where_nothing_else_must() {
    let index = index(&[
        json!({"tag": "a"}),
        json!({"tag": "b"}),
        json!({"tag": "c"}),
    ]);
    let should = json!([{"term": {"tag": "a"}}, {"term": {"tag": "b"}}]);
    for least in [json!(0), json!(-10), json!("0%"), json!("-100%")] {
        let alone = json!({"bool": {"should": should, "minimum_should_match": least}});
        assert_eq!(found(&index, &alone), [0, 1], "{alone}");
        let beside = json!({"bool": {"should": should, "filter": {"range": {"n": {"gte": 0}}},
            "minimum_should_match": least}});
        assert_eq!(found(&index, &beside), [0, 1, 2], "{beside}");
        let without = json!({"bool": {"should": should, "must_not": {"term": {"tag": "b"}},
            "minimum_should_match": least}});
        assert_eq!(found(&index, &without), [0], "{without}");
        let text = json!({"query_string": {"query": "tag:a tag:b", "minimum_should_match": least}});
        assert_eq!(found(&index, &text), [0, 1], "{text}");
    }
}

#[test]
fn bounds_of_dates_are_as_precise_as_the_field_whatever_their_format() {
    let index = index(&[
        json!({"seen": "2015-02-01T00:00:00.001999Z"}),
        json!({"seen": "2015-02-01T00:00:00.002Z"}),
    ]);
    let format = "yyyy|MM|dd 'T'HH:mm:ss.SSSSSS'Z'";
    for (bounds, wanted) in [
        (json!({"gte": "2015-02-01T00:00:00.001999Z"}), vec![0, 1]),
        (json!({"gt": "2015-02-01T00:00:00.001999Z"}), vec![1]),
        (
            json!({"gte": "2015|02|01 T00:00:00.001999Z", "format": format}),
            vec![0, 1],
        ),
        (
            json!({"gte": "2015|02|01 T00:00:00.001999Z", "lte": "2015|02|01 T00:00:00.001999Z", "format": format}),
            vec![0],
        ),
    ] {
        let query = json!({"range": {"seen": bounds}});
        assert_eq!(found(&index, &query), wanted, "{query}");
    }
}

#[test]
fn a_query_of_the_url_replaces_that_of_the_body_and_filters_join_it() {
    let index = index(&[
        json!({"tag": "a", "text": "one"}),
        json!({"tag": "a", "text": "two"}),
        json!({"tag": "b", "text": "one"}),
    ]);
    let searcher = named(&index, "logs");
    let ids = |query: &str, body: Value| {
        let (status, answer) = call(&searcher, "POST", "/logs/_search", query, &body);
        assert_eq!(status, 200, "{answer}");
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let mut ids: Vec<u64> = hits
            .iter()
            .map(|hit| hit["_source"]["n"].as_u64().unwrap())
            .collect();
        ids.sort_unstable();
        ids
    };
    let body = || json!({"query": {"term": {"tag": "b"}}});
    assert_eq!(ids("q=tag:a", body()), [0, 1]);
    assert_eq!(ids("extra_filters=text:one", body()), [2]);
    assert_eq!(ids("extra_filters=text:one,tag:a", json!({})), [0]);
    assert_eq!(ids("q=tag:a&extra_filters=text:two", body()), [1]);
    let collapsed = json!({"collapse": {"field": "n", "inner_hits": {"name": "x"}}});
    assert_eq!(ids("extra_filters=text:one", collapsed), [0, 2]);
    // A number may be sent back as a text.
    let page = json!({"sort": [{"n": "asc"}], "search_after": ["1"]});
    assert_eq!(ids("", page), [2]);
}
