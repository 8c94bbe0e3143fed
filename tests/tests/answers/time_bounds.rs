//! Ranges over the timestamp field in queries: they act as time filters, and find the same
//! documents as other ranges.

use canter_tests::{TestIndex, usual_or_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Config of documents that have their time twice; only one of the fields is the timestamp field.
const CONFIG: &str = "
version: 0.9
index_id: times
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: text, type: text}
    - {name: ts, type: datetime, fast: true, fast_precision: milliseconds, input_formats: [rfc3339, unix_timestamp]}
    - {name: twin, type: datetime, fast: true, fast_precision: milliseconds, input_formats: [rfc3339, unix_timestamp]}
  timestamp_field: ts
";

const START_MS: i64 = 1_460_000_000_000;
const NUM_DOCS: u64 = 600;

fn index(seed: u64, is_sorted: bool) -> TestIndex {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let lines: Vec<String> = (0..NUM_DOCS)
        .map(|n| {
            let step = match is_sorted {
                true => i64::try_from(n * 400 / NUM_DOCS).unwrap(),
                false => rng.random_range(0..400),
            };
            let ms = START_MS + step * 250;
            let time = jiff::Timestamp::from_millisecond(ms).unwrap().to_string();
            let text = ["one", "two", "one two", "three"][rng.random_range(0..4)];
            json!({"n": n, "text": text, "ts": time, "twin": time}).to_string()
        })
        .collect();
    TestIndex::build(CONFIG, &lines, 50).unwrap()
}

/// Returns a time in one of the forms that requests use.
fn time(rng: &mut ChaCha8Rng) -> Value {
    let ms = START_MS + rng.random_range(-20..420) * 250 + rng.random_range(0..2);
    let time = jiff::Timestamp::from_millisecond(ms).unwrap();
    match rng.random_range(0..4) {
        0 => json!(ms.to_string()),
        1 => json!(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        2 => json!(time.strftime("%Y-%m-%dT%H:%M:%S||+1s/s").to_string()),
        _ => json!(time.to_string()),
    }
}

/// Returns a range over the field `$`.
fn range(rng: &mut ChaCha8Rng) -> Value {
    let mut bounds = json!({});
    for names in [["gt", "gte"], ["lt", "lte"]] {
        if rng.random_bool(0.7) {
            bounds[names[rng.random_range(0..2)]] = time(rng);
        }
    }
    if bounds == json!({}) {
        bounds["gte"] = time(rng);
    }
    if rng.random_bool(0.2) {
        bounds["boost"] = 2.5.into();
    }
    json!({"range": {"$": bounds}})
}

fn query(rng: &mut ChaCha8Rng, depth: u32) -> Value {
    match rng.random_range(0..if depth > 2 { 4 } else { 8 }) {
        0 | 1 => range(rng),
        2 => json!({"match": {"text": "one"}}),
        3 => json!({"match_all": {}}),
        4 => json!({"constant_score": {"filter": query(rng, depth + 1)}}),
        _ => {
            let mut clauses = json!({});
            for role in ["must", "filter", "should", "must_not"] {
                let usual = if role == "filter" { 0.8 } else { 0.3 };
                if rng.random_bool(usual) {
                    let num = rng.random_range(1..3);
                    clauses[role] = (0..num).map(|_| query(rng, depth + 1)).collect();
                }
            }
            if rng.random_bool(0.2) {
                clauses["minimum_should_match"] = rng.random_range(0..2).into();
            }
            json!({"bool": clauses})
        }
    }
}

/// Returns the answer to a request, with `$` replaced by the name of a time field.
fn answer(index: &TestIndex, request: &Value, field: &str) -> Value {
    let request = request.to_string().replace('$', field);
    let request: Value = serde_json::from_str(&request).unwrap();
    let mut json = match index.search(&request) {
        Ok(answer) => answer.json,
        Err(error) => panic!("{request}: {error}"),
    };
    for key in ["elapsed_time_micros", "profile"] {
        json[key].take();
    }
    json
}

#[test]
fn ranges_over_the_time_of_an_index_find_what_others_find() {
    let mut rng = ChaCha8Rng::seed_from_u64(2027);
    for seed in 0..3 {
        let index = index(seed, false);
        for _ in 0..usual_or_full(60, 150) {
            let mut request = json!({"query": query(&mut rng, 0), "max_hits": 7});
            match rng.random_range(0..4) {
                0 => request["max_hits"] = 0.into(),
                1 => request["sort_by"] = "-n".into(),
                2 => request["sort_by"] = "_score,n".into(),
                _ => {}
            }
            if rng.random_bool(0.5) {
                request["aggs"] = json!({
                    "hours": {"date_histogram": {"field": "ts", "fixed_interval": "20s", "min_doc_count": 1}},
                    "last": {"max": {"field": "n"}},
                });
            }
            if rng.random_bool(0.3) {
                request["start_timestamp"] = (START_MS / 1_000 + rng.random_range(0..100)).into();
            }
            if rng.random_bool(0.3) {
                request["track_total_hits"] = false.into();
                // In this case only the counts may differ.
                let (one, other) = (
                    answer(&index, &request, "ts"),
                    answer(&index, &request, "twin"),
                );
                assert_eq!(one["hits"], other["hits"], "{request}");
                continue;
            }
            let wanted = answer(&index, &request, "twin");
            assert_eq!(answer(&index, &request, "ts"), wanted, "{request}");
        }
    }
}

#[test]
fn splits_outside_of_a_range_in_the_query_are_not_opened() {
    let index = index(9, true);
    let profile = |query: &Value| {
        let request = json!({"query": query, "max_hits": 0, "profile": true,
            "aggs": {"all": {"date_histogram": {"field": "ts", "fixed_interval": "1s"}}}});
        index.search(&request).unwrap().json["profile"].take()
    };
    let early = json!({"lt": START_MS + 2_000, "format": "epoch_millis"});
    for query in [
        json!({"range": {"ts": early}}),
        json!({"bool": {"filter": [{"range": {"ts": early}}, {"match": {"text": "one"}}]}}),
        json!({"bool": {"must": {"constant_score": {"filter": {"range": {"ts": early}}}}}}),
        json!("ts:<2016-04-07T03:33:22Z"),
        json!("text:one AND ts:[2016-04-07T00:00:00Z TO 2016-04-07T03:33:22Z}"),
    ] {
        let profile = profile(&query);
        let pruned = profile["num_splits_pruned_by_time"].as_u64().unwrap();
        assert!(pruned >= 10, "{query}: {profile}");
    }
    // Here `minimum_should_match` exceeds the number of optional clauses.
    for filter in [
        json!([{"range": {"ts": early}}]),
        json!([{"range": {"ts": early}}, {"match": {"text": "one"}}]),
    ] {
        let query = json!({"bool": {"filter": filter, "minimum_should_match": 1}});
        let found = index.search(&json!({"query": query, "max_hits": 0}));
        assert_eq!(found.unwrap().json["num_hits"], 0, "{query}");
    }
    // Other documents may match.
    for query in [
        json!({"bool": {"should": [{"range": {"ts": early}}, {"match": {"text": "one"}}]}}),
        json!({"bool": {"must_not": {"range": {"ts": early}}}}),
    ] {
        assert_eq!(profile(&query)["num_splits_pruned_by_time"], 0, "{query}");
    }
}
