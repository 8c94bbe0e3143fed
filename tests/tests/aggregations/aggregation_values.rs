//! Exact values of aggregations over dates, addresses, texts and first documents, across splits and
//! leaves.

use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_tests::{TestIndex, run, run_divided};
use serde_json::{Value, json};

const FIELDS: &str = "
version: 0.8
index_id: values
doc_mapping:
  mode: dynamic
  field_mappings:
    - {name: fine, type: datetime, input_formats: [rfc3339], fast: true, fast_precision: nanoseconds}
    - {name: ip, type: ip, fast: true}
    - {name: word, type: text, tokenizer: raw, fast: true}
    - {name: n, type: i64, fast: true}
    - {name: many, type: array<datetime>, input_formats: [rfc3339], fast: true}
";

fn index(lines: &[Value]) -> TestIndex {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    TestIndex::build(FIELDS, &lines, 3).unwrap()
}

/// Returns the answer, which must be the same from one leaf and from several.
#[track_caller]
fn answer(index: &TestIndex, aggs: &Value) -> Value {
    let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
    let searcher = |leaves| index.searcher(Arc::new(NativeEngine::new()), 0, leaves);
    let answer = run(&searcher(1).unwrap(), &request).unwrap().json["aggregations"].clone();
    let divided = run_divided(&searcher(3).unwrap(), &request).unwrap();
    assert_eq!(divided.json["aggregations"], answer);
    answer
}

#[track_caller]
fn refused(index: &TestIndex, aggs: &Value) -> String {
    let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    run(&searcher, &request).unwrap_err().to_string()
}

/// Returns all keys of a composite, fetched in pages of two, and all keys of one page that has room
/// for them.
#[track_caller]
fn pages(index: &TestIndex, source: &Value) -> (Vec<Value>, Vec<Value>) {
    let of_page = |size: usize, after: &Value| {
        let aggs =
            json!({"c": {"composite": {"size": size, "sources": [{"k": source}], "after": after}}});
        let found = answer(index, &aggs)["c"].clone();
        let keys = found["buckets"].as_array().unwrap().iter();
        let keys: Vec<Value> = keys
            .map(|bucket| json!([bucket["key"]["k"], bucket["doc_count"]]))
            .collect();
        (keys, found["after_key"].clone())
    };
    let (whole, _) = of_page(1_000, &Value::Null);
    let (mut all, mut after) = (Vec::new(), Value::Null);
    while all.len() <= whole.len() {
        let (keys, next) = of_page(2, &after);
        if keys.is_empty() {
            break;
        }
        all.extend(keys);
        after = next;
    }
    (all, whole)
}

const FINE: [&str; 7] = [
    "2024-03-01T00:00:00.000000001Z",
    "2024-03-01T00:00:00.000000002Z",
    "2024-03-01T00:00:00.5Z",
    "2024-03-01T00:00:00.500000999Z",
    "2024-03-01T00:00:00.5009Z",
    "2024-03-02T00:00:00Z",
    "1969-12-31T23:59:59.999999999Z",
];

#[test]
fn pages_of_dates_within_a_millisecond_follow_each_other() {
    let index = index(&FINE.map(|fine| json!({"fine": fine})));
    for order in ["asc", "desc"] {
        let source = json!({"terms": {"field": "fine", "order": order}});
        let (paged, whole) = pages(&index, &source);
        assert_eq!(whole.len(), FINE.len());
        assert_eq!(paged, whole, "{order}");
    }
}

#[test]
fn pages_of_dates_without_a_mapping_follow_each_other() {
    let mut lines: Vec<Value> = FINE.iter().map(|date| json!({"any": date})).collect();
    // These are a number that equals the milliseconds of one of the dates, and texts that resemble
    // dates.
    lines.extend([
        json!({"any": 1_709_337_600_000_i64}),
        json!({"any": "2024-03-02"}),
        json!({"any": "2024-03-02T00"}),
        json!({"any": "2024-03-02 at 00:00:00Z"}),
        json!({"any": true}),
    ]);
    let index = index(&lines);
    for order in ["asc", "desc"] {
        let source = json!({"terms": {"field": "any", "order": order, "missing_bucket": true}});
        let (paged, whole) = pages(&index, &source);
        assert_eq!(whole.len(), lines.len());
        assert_eq!(paged, whole, "{order}");
    }
}

#[test]
fn pages_of_days_follow_each_other_though_their_format_names_months() {
    let lines: Vec<Value> = (1..9)
        .map(|day| json!({"fine": format!("2024-03-0{day}T12:00:00Z")}))
        .collect();
    let source =
        json!({"date_histogram": {"field": "fine", "fixed_interval": "1d", "format": "yyyy-MM"}});
    let (paged, whole) = pages(&index(&lines), &source);
    assert_eq!(whole.len(), 8);
    assert_eq!(paged, whole);
}

#[test]
fn bucket_sort_orders_addresses_by_value() {
    let addresses = ["10.0.0.9", "10.0.0.10", "2001:db8::1", "9.255.255.255"];
    let index = index(&addresses.map(|ip| json!({"ip": ip})));
    let aggs = json!({"a": {"terms": {"field": "ip"}, "aggs": {
        "sorted": {"bucket_sort": {"sort": [{"_key": "desc"}]}}}}});
    let found = answer(&index, &aggs);
    let keys = found["a"]["buckets"].as_array().unwrap().iter();
    let keys: Vec<&str> = keys.map(|bucket| bucket["key"].as_str().unwrap()).collect();
    assert_eq!(
        keys,
        ["2001:db8::1", "10.0.0.10", "10.0.0.9", "9.255.255.255"]
    );
}

#[test]
fn averages_of_dates_are_shown_to_the_millisecond() {
    let index = index(&[
        json!({"fine": "2024-03-01T00:00:00Z"}),
        json!({"fine": "2024-03-01T00:00:00.001Z"}),
        json!({"fine": "2024-03-01T00:00:01Z"}),
    ]);
    let found = answer(&index, &json!({"a": {"avg": {"field": "fine"}}}));
    assert_eq!(found["a"]["value_as_string"], "2024-03-01T00:00:00.333Z");
}

/// Returns keys and counts of the buckets that have documents.
fn counts(found: &Value) -> Vec<(String, u64)> {
    let buckets = found["buckets"].as_array().unwrap().iter();
    let counts = buckets.map(|bucket| {
        let key = bucket["key_as_string"].as_str().unwrap().to_owned();
        (key, bucket["doc_count"].as_u64().unwrap())
    });
    counts.filter(|(_, count)| *count > 0).collect()
}

#[test]
fn an_automatic_interval_is_the_shortest_that_makes_few_enough_buckets() {
    let at = |date: &str, n: u64| json!({"fine": date, "n": n, "word": "a"});
    let index = index(&[
        at("2024-01-31T23:59:59.9Z", 1),
        at("2024-01-31T23:59:59.1Z", 2),
        at("2024-02-01T00:00:04Z", 3),
        at("2024-02-01T00:00:10Z", 4),
        at("2024-02-01T00:06:00Z", 5),
        at("2024-04-01T00:00:00Z", 6),
        at("2024-04-01T00:00:00Z", 7),
    ]);
    let auto = |query: &str, body: Value| {
        let mut body = body;
        body["field"] = json!("fine");
        let request = json!({"query": query, "max_hits": 0, "aggs": {"d": {
            "auto_date_histogram": body, "aggs": {"s": {"sum": {"field": "n"}}}}}});
        let searcher = |leaves| index.searcher(Arc::new(NativeEngine::new()), 0, leaves);
        let answer = run(&searcher(1).unwrap(), &request).unwrap().json["aggregations"].clone();
        let divided = run_divided(&searcher(3).unwrap(), &request).unwrap();
        assert_eq!(divided.json["aggregations"], answer);
        answer["d"].clone()
    };
    for (query, body, interval, num_buckets) in [
        ("n:<=2", json!({}), "1s", 1),
        ("n:<=3", json!({}), "1s", 6),
        ("n:<=4", json!({}), "5s", 3),
        ("n:<=5", json!({}), "1m", 8),
        ("n:<=5", json!({"buckets": 2}), "5m", 2),
        ("n:<=4", json!({"minimum_interval": "hour"}), "1h", 2),
        ("*", json!({}), "7d", 9),
        ("*", json!({"buckets": 4}), "1M", 4),
        ("*", json!({"buckets": 1}), "1y", 1),
        ("n:>100", json!({}), "1s", 0),
    ] {
        let found = auto(query, body.clone());
        let num_found = found["buckets"].as_array().unwrap().len();
        let shown = format!("{query} {body}: {found}");
        assert_eq!(found["interval"], interval, "{shown}");
        assert_eq!(num_found, num_buckets, "{shown}");
    }
    let months = auto("*", json!({"buckets": 4}));
    let expected = [
        ("2024-01-01T00:00:00Z", 2),
        ("2024-02-01T00:00:00Z", 3),
        ("2024-04-01T00:00:00Z", 2),
    ];
    assert_eq!(
        counts(&months),
        expected.map(|(key, count)| (key.to_owned(), count))
    );
    assert_eq!(months["buckets"][1]["s"]["value"], 12.0);
    assert_eq!(
        months["buckets"][2],
        json!({"key": 1_709_251_200_000_u64,
        "key_as_string": "2024-03-01T00:00:00Z", "doc_count": 0, "s": {"value": 0.0}})
    );
    // Each parent bucket has its own interval.
    let inside = answer(
        &index,
        &json!({"w": {"filters": {"filters": ["n:<=4", "*"]}, "aggs": {
            "d": {"auto_date_histogram": {"field": "fine", "buckets": 3, "time_zone": "Europe/Berlin"}}}}}),
    );
    let buckets = inside["w"]["buckets"].as_array().unwrap();
    let intervals: Vec<&Value> = buckets
        .iter()
        .map(|bucket| &bucket["d"]["interval"])
        .collect();
    assert_eq!(intervals, ["5s", "1M"]);
}

#[test]
fn an_automatic_interval_takes_fields_with_one_date() {
    let index = index(&[json!({"many": ["2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"]})]);
    let error = refused(
        &index,
        &json!({"d": {"auto_date_histogram": {"field": "many"}}}),
    );
    assert!(
        error.contains("aggs.d.auto_date_histogram: the field \"many\" may have several values"),
        "{error}"
    );
}

#[test]
fn the_first_documents_by_a_field_show_one_value_of_others() {
    let index = index(&[
        json!({"n": 5, "word": "five", "fine": "2024-01-01T00:00:00.5Z", "any": [3, 2]}),
        json!({"n": 7, "word": "seven"}),
        json!({"n": 7, "word": "equal"}),
        json!({"word": "none"}),
    ]);
    let asked = json!({"t": {"top_metrics": {"size": 9, "sort": {"n": "desc"},
        "metrics": [{"field": "word"}, {"field": "fine"}, {"field": "any"}]}}});
    assert_eq!(
        answer(&index, &asked)["t"],
        json!({"top": [
            {"sort": [7], "metrics": {"word": "equal", "fine": null, "any": null}},
            {"sort": [7], "metrics": {"word": "seven", "fine": null, "any": null}},
            {"sort": [5], "metrics": {"word": "five", "fine": "2024-01-01T00:00:00.500Z", "any": 2}},
        ]})
    );
    // The sort date is shown as text. By default, the result is one document.
    let asked = json!({"t": {"top_metrics": {"sort": "fine", "metrics": {"field": "n"}}}});
    assert_eq!(
        answer(&index, &asked)["t"],
        json!({"top": [
        {"sort": ["2024-01-01T00:00:00.500Z"], "metrics": {"n": 5}}]})
    );
}

#[test]
fn texts_are_counted_with_their_characters() {
    let words = ["ab", "ab", "", "é"];
    let mut lines: Vec<Value> = words.iter().map(|word| json!({"word": word})).collect();
    lines.push(json!({"n": 1}));
    let index = index(&lines);
    let stats = |body: Value| answer(&index, &json!({"s": {"string_stats": body}}))["s"].clone();
    assert_eq!(
        stats(json!({"field": "word"})),
        json!({"count": 4, "min_length": 0, "max_length": 2,
        "avg_length": 1.25, "entropy": 1.5219280948873621})
    );
    let found = stats(json!({"field": "word", "missing": "abb", "show_distribution": true}));
    assert_eq!(
        found["distribution"],
        json!({"b": 0.5, "a": 0.375, "é": 0.125})
    );
    assert_eq!(found["count"], 5);
    let none = json!({"count": 0, "min_length": null, "max_length": null, "avg_length": null, "entropy": 0.0});
    assert_eq!(stats(json!({"field": "nowhere"})), none);
    let error = refused(&index, &json!({"s": {"string_stats": {"field": "n"}}}));
    assert!(error.contains("has type i64; this takes texts"), "{error}");
}

#[test]
fn what_looks_beyond_the_query_is_refused_with_a_way_out() {
    let index = index(&[json!({"n": 1})]);
    let error = refused(&index, &json!({"x": {"global": {}}}));
    assert!(
        error.contains("aggs.x.global") && error.contains("a request of its own with the query *"),
        "{error}"
    );
}

#[test]
fn pipelines_show_their_numbers_in_a_format() {
    let index = index(&[json!({"n": 1234}), json!({"n": 2})]);
    let aggs = json!({
        "h": {"histogram": {"field": "n", "interval": 2000}, "aggs": {
            "s": {"sum": {"field": "n"}},
            "c": {"cumulative_sum": {"buckets_path": "s", "format": "#,##0.0"}}}},
        "m": {"max_bucket": {"buckets_path": "h>s", "format": "0.00"}},
        "t": {"stats_bucket": {"buckets_path": "h>s", "format": "0"}}});
    let found = answer(&index, &aggs);
    assert_eq!(
        found["h"]["buckets"][0]["c"],
        json!({"value": 1236.0, "value_as_string": "1,236.0"})
    );
    assert_eq!(found["m"]["value_as_string"], "1236.00");
    assert_eq!(found["t"]["avg_as_string"], "1236");
    let error = refused(
        &index,
        &json!({"h": {"terms": {"field": "n"}, "aggs": {
        "b": {"bucket_script": {"buckets_path": {"n": "_count"}, "script": "params.n", "format": "0#"}}}}}),
    );
    assert!(error.contains("bucket_script.format"), "{error}");
}

#[test]
fn rare_terms_say_what_is_inside_of_those_that_are_rare_in_all_splits() {
    let mut lines: Vec<Value> = (0..6).map(|n| json!({"word": "often", "n": n})).collect();
    lines.extend([
        json!({"word": "once", "n": 9}),
        json!({"word": "twice", "n": 3}),
    ]);
    lines.insert(0, json!({"word": "twice", "n": 4}));
    let found = answer(
        &index(&lines),
        &json!({"r": {"rare_terms": {"field": "word", "max_doc_count": 2},
        "aggs": {"s": {"sum": {"field": "n"}}}}}),
    );
    assert_eq!(
        found["r"]["buckets"],
        json!([
        {"key": "once", "doc_count": 1, "s": {"value": 9.0}},
        {"key": "twice", "doc_count": 2, "s": {"value": 7.0}}])
    );
}
