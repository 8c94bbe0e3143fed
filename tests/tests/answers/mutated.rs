//! Bodies of searches that are nearly right: each is answered or refused, and none is an error of the server's own.
//!
//! `CANTER_MUTATED_BODIES` is their number (600 by default), and `CANTER_RANDOM_SEED` the seed.

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use canter_tests::conformance::read_requests;
use rand::seq::IndexedRandom;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: timestamp
  field_mappings:
    - {name: timestamp, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: tenant_id, type: u64, fast: true}
    - {name: severity_text, type: text, tokenizer: raw, fast: true}
    - {name: body, type: text, record: position, fieldnorms: true}
    - {name: at, type: geo_point, fast: true}
    - {name: host, type: ip, fast: true}
    - name: parts
      type: nested
      field_mappings:
        - {name: kind, type: text, tokenizer: raw}
        - {name: note, type: text, record: position}
";

fn logs() -> Searcher {
    let lines = (0..80_u64).map(|n| {
        let severity = if n.is_multiple_of(5) { "ERROR" } else { "INFO" };
        json!({
            "timestamp": 1_714_557_600 + n * 60, "tenant_id": n % 9, "severity_text": severity,
            "body": format!("received block blk_{n} exception while writing"), "at": [n % 90, n % 45],
            "host": format!("10.0.0.{n}"), "parts": [{"kind": "a", "note": "one two"}, {"kind": "b", "note": format!("{n}")}],
            "resource": {"service": format!("s{}", n % 3)},
        })
    });
    let lines: Vec<String> = lines.map(|line| line.to_string()).collect();
    named(&TestIndex::build(CONFIG, &lines, 30).unwrap(), "logs")
}

/// Returns the bodies that the tests of all hosts send, and clauses of every kind.
fn bodies() -> Vec<Value> {
    let requests = read_requests().unwrap().into_iter();
    let lines = requests.flat_map(|request| {
        let body = String::from_utf8(request.call.body).unwrap_or_default();
        let whole: Vec<Value> = serde_json::from_str(&body).into_iter().collect();
        let lines = body
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        match whole.is_empty() {
            true => lines.collect(),
            false => whole,
        }
    });
    let mut bodies: Vec<Value> = lines.filter(|body: &Value| body.is_object()).collect();
    let positions = json!({"all_of": {"mode": "ordered", "max_gaps": 2, "intervals": [
        {"match": {"query": "received block"}}, {"any_of": {"intervals": [{"prefix": {"prefix": "blk"}}, {"fuzzy": {"term": "exceptoin"}}]}}],
        "filter": {"not_containing": {"wildcard": {"pattern": "wr*"}}}}});
    let spans = json!({"span_near": {"slop": 3, "in_order": false, "clauses": [
        {"span_term": {"body": "received"}}, {"span_or": {"clauses": [{"span_term": {"body": "block"}}]}},
        {"span_multi": {"match": {"prefix": {"body": "exc"}}}}]}});
    let alike = json!({"more_like_this": {"fields": ["body"], "like": ["block writing", {"doc": {"body": "x"}}],
        "min_term_freq": 1, "min_doc_freq": 1, "unlike": "y"}});
    let nested = json!({"nested": {"path": "parts", "query": {"intervals": {"parts.note": {"match": {"query": "one two"}}}}}});
    for query in [
        json!({"intervals": {"body": positions}}),
        spans,
        json!({"span_not": {"include": {"span_term": {"body": "block"}}, "exclude": {"span_term": {"body": "x"}}, "dist": 1}}),
        alike,
        nested,
        json!({"distance_feature": {"field": "at", "origin": [1, 2], "pivot": "2km"}}),
        json!({"geo_distance": {"distance": "500km", "at": {"lat": 1, "lon": 2}}}),
        json!({"terms_set": {"severity_text": {"terms": ["INFO", "x"], "minimum_should_match_field": "tenant_id"}}}),
        json!({"combined_fields": {"query": "block", "fields": ["body^2", "severity_text"]}}),
        json!({"kql": {"query": "body: block and tenant_id > 3"}}),
    ] {
        bodies.extend(std::iter::repeat_n(json!({"query": query, "size": 2}), 12));
    }
    bodies
}

const TEXTS: [&str; 22] = [
    "",
    "*",
    "body",
    "tenant_id",
    "timestamp",
    "at",
    "nosuch",
    "_id",
    "_score",
    "block",
    "(",
    "\\",
    "1e400",
    "-1",
    "now-1d/d",
    "100%",
    "2<75%",
    "AUTO",
    "10.0.0.0/8",
    "\u{0}",
    "parts",
    "\u{1F980}",
];

const WHOLE: [u64; 3] = [0, u64::MAX, 4_294_967_296];
const FRACTIONS: [f64; 4] = [-1.5, 0.1, 1e300, f64::MIN_POSITIVE];

fn odd_value(random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..9) {
        0 => Value::Null,
        1 => json!(random.random_bool(0.5)),
        2 => json!(random.random_range(-3..200)),
        3 => json!(WHOLE.choose(random)),
        4 => json!(FRACTIONS.choose(random)),
        5 => json!([]),
        6 => json!({}),
        _ => json!(TEXTS.choose(random)),
    }
}

/// Returns all values of a body that are not containers, or with `all` every value.
fn places<'v>(value: &'v Value, all: bool, found: &mut Vec<&'v Value>) {
    let is_container = value.is_object() || value.is_array();
    if all || !is_container {
        found.push(value);
    }
    match value {
        Value::Array(list) => list.iter().for_each(|value| places(value, all, found)),
        Value::Object(map) => map.values().for_each(|value| places(value, all, found)),
        _ => {}
    }
}

/// Changes one place of a value.
fn mutate(value: &mut Value, others: &[Value], random: &mut ChaCha8Rng) {
    let goes_down = random.random_bool(0.8);
    match value {
        Value::Object(map) if goes_down && !map.is_empty() => {
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = keys.choose(random).unwrap();
            match random.random_range(0..12) {
                0 => {
                    map.remove(key);
                }
                1 => {
                    let inner = map.remove(key).unwrap();
                    let name = TEXTS.choose(random).unwrap();
                    map.insert((*name).to_owned(), inner);
                }
                2 => {
                    let inner = map[key].clone();
                    map.insert("extra".to_owned(), inner);
                }
                _ => mutate(map.get_mut(key).unwrap(), others, random),
            }
        }
        Value::Array(list) if goes_down && !list.is_empty() => {
            let place = random.random_range(0..list.len());
            match random.random_range(0..8) {
                0 => {
                    list.remove(place);
                }
                1 => list.push(list[place].clone()),
                _ => mutate(&mut list[place], others, random),
            }
        }
        place => {
            *place = match random.random_range(0..6) {
                0 => {
                    let mut found = Vec::new();
                    places(others.choose(random).unwrap(), true, &mut found);
                    (*found.choose(random).unwrap()).clone()
                }
                1 => json!([place.clone()]),
                2 => Value::Object(Map::from_iter([("value".to_owned(), place.clone())])),
                _ => odd_value(random),
            };
        }
    }
}

fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn bodies_that_are_nearly_right_are_answered_or_refused() {
    let searcher = logs();
    let bodies = bodies();
    let mut random = ChaCha8Rng::seed_from_u64(number("CANTER_RANDOM_SEED", 1));
    let (mut num_answered, mut num_refused) = (0_u64, 0_u64);
    for _ in 0..number("CANTER_MUTATED_BODIES", 600) {
        let mut body = bodies.choose(&mut random).unwrap().clone();
        for _ in 0..random.random_range(1..4) {
            mutate(&mut body, &bodies, &mut random);
        }
        let path = [
            "/logs/_search",
            "/logs/_search",
            "/logs/_count",
            "/api/v1/logs/search",
        ]
        .choose(&mut random)
        .unwrap();
        let (status, answer) = call(&searcher, "POST", path, "", &body);
        assert!(status < 500, "{path} {body}: {status} {answer}");
        match status {
            200 => num_answered += 1,
            _ => num_refused += 1,
        }
    }
    assert!(
        num_answered * 20 > num_refused,
        "{num_answered} answered, {num_refused} refused"
    );
}
