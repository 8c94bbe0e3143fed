//! Check of the pages of aggregations below `docs`: every example runs over a small index, and every kind of
//! aggregation has an example.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use canter_tests::TestIndex;
use serde_json::{Map, Value, json};

const PAGES: [&str; 5] = [
    "docs/aggregations.md",
    "docs/more-aggregations.md",
    "docs/nested.md",
    "docs/pipelines.md",
    "docs/places.md",
];
const TYPES: &str = "guest/aggregations/src/request/types/mod.rs";

/// Variants of `Kind` that stand for several kinds with separate names, or have another name.
const GROUPS: [&str; 5] = ["metric", "grid", "significant", "categories", "adjacency"];

const CONFIG: &str = "
version: 0.8
index_id: samples
doc_mapping:
  timestamp_field: time
  field_mappings:
    - {name: time, type: datetime, fast: true, input_formats: [unix_timestamp], fast_precision: milliseconds}
    - {name: service, type: text, tokenizer: raw, fast: true}
    - {name: duration, type: f64, fast: true}
    - {name: bytes, type: i64, fast: true}
    - {name: ok, type: bool, fast: true}
    - {name: client, type: ip, fast: true}
    - {name: labels, type: array<text>, tokenizer: raw, fast: true}
    - {name: place, type: geo_point}
    - {name: message, type: text}
    - name: items
      type: nested
      field_mappings:
        - {name: sku, type: text, tokenizer: raw, fast: true}
        - {name: quantity, type: i64, fast: true}
";

static INDEX: LazyLock<TestIndex> =
    LazyLock::new(|| TestIndex::build(CONFIG, &samples(), 70).unwrap());

/// Returns requests to three services and a test in the spring and summer of 2024. Some lack a
/// service or a size.
fn samples() -> Vec<String> {
    let sample = |n: u64| {
        let mut document = json!({
            "time": 1_709_250_000 + n * 86_000,
            "duration": (n * 37 % 700) as f64 / 1.5,
            "ok": !n.is_multiple_of(5),
            "client": format!("{}.0.0.{}", if n.is_multiple_of(3) { 10 } else { 192 }, n % 30),
            "place": [(n * 7 % 360) as f64 - 180.0, (n * 11 % 170) as f64 - 85.0],
            "message": if n.is_multiple_of(5) { "the request timed out" } else { "the request was answered" },
            "items": [{"sku": format!("s{}", n % 3), "quantity": n % 5}, {"sku": "s9", "quantity": 4}],
            "labels": if n.is_multiple_of(2) { vec!["blue", "canary"] } else { vec!["green"] },
        });
        if !n.is_multiple_of(7) {
            document["service"] = json!(["cart", "checkout", "search"][(n % 3) as usize]);
        }
        if n == 100 {
            document["service"] = json!("test-7");
        }
        if !n.is_multiple_of(4) {
            document["bytes"] = json!(n * 13 % 2_500);
        }
        document.to_string()
    };
    (0..200).map(sample).collect()
}

fn file(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap()
}

fn prose() -> String {
    PAGES.map(file).join("\n")
}

/// Returns the examples of the pages: the contents of their JSON blocks.
fn examples() -> Vec<Map<String, Value>> {
    let page = prose();
    let blocks = page.split("```json\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap());
    let read = |block: &str| {
        serde_json::from_str(block).unwrap_or_else(|error| panic!("{error}: {block}"))
    };
    blocks.map(read).collect()
}

/// Returns the answer to aggregations, or the reason for their refusal.
fn answer(aggregations: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let request = json!({"query": "*", "max_hits": 0, "aggs": aggregations});
    let answer = INDEX
        .search(&request)
        .map_err(|error| format!("{error:#}"))?;
    let found = answer.json["aggregations"].as_object().cloned();
    found.ok_or_else(|| "there are no aggregations in the answer".to_owned())
}

/// Calls a function with each aggregation and sub-aggregation.
fn each(aggregations: &Map<String, Value>, with: &mut impl FnMut(&str, &Map<String, Value>)) {
    for (name, aggregation) in aggregations {
        let aggregation = aggregation.as_object().unwrap();
        with(name, aggregation);
        if let Some(Value::Object(inside)) = aggregation.get("aggs") {
            each(inside, with);
        }
    }
}

fn kind_of(aggregation: &Map<String, Value>) -> &str {
    let mut keys = aggregation.keys().filter(|key| *key != "aggs");
    keys.next().unwrap()
}

/// Returns the variants of an enum in a source file, as written in requests.
fn variants(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let names = lines.filter_map(|line| {
        let end = line
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(line.len());
        Some(&line[..end]).filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
    });
    names.map(in_snake_case).collect()
}

fn in_snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

#[test]
fn every_example_of_the_page_is_answered_with_something() {
    let examples = examples();
    assert!(examples.len() >= 20, "{}", examples.len());
    for example in examples {
        let shown = Value::Object(example.clone());
        let found = answer(&example).unwrap_or_else(|error| panic!("{error}: {shown}"));
        assert_eq!(found.len(), example.len(), "{shown}");
        for (name, result) in &found {
            let is_empty = match (&result["buckets"], &result["values"], &result["value"]) {
                _ if result["top"].is_array() => result["top"] == json!([]),
                _ if result["bounds"].is_object() || result["q2"].is_number() => false,
                (Value::Array(buckets), ..) => buckets.is_empty(),
                (Value::Object(buckets), ..) => buckets.is_empty(),
                (_, Value::Array(values), _) => values.iter().any(|value| value["value"].is_null()),
                (_, Value::Object(values), _) => values.values().any(Value::is_null),
                (.., value) => {
                    value.is_null() && result["count"].is_null() && result["doc_count"].is_null()
                }
            };
            assert!(
                !is_empty,
                "{name} says nothing of the sample documents: {shown}\n{result}"
            );
        }
    }
}

#[test]
fn every_kind_that_the_engine_has_is_on_the_page() {
    let mut shown = BTreeSet::new();
    for example in examples() {
        each(&example, &mut |_, aggregation| {
            shown.insert(kind_of(aggregation).to_owned());
        });
    }
    // The message that refuses an unknown kind lists all kinds.
    let refused = answer(&Map::from_iter([(
        "x".to_owned(),
        json!({"no_such_kind": {}}),
    )]));
    let refused = refused.unwrap_err();
    let (_, named) = refused.split_once("there are ").unwrap();
    let named = named.replace(" and ", ", ");
    let mut kinds: BTreeSet<String> = named
        .split(", ")
        .map(|kind| kind.trim().to_owned())
        .collect();
    assert!(kinds.len() >= 20, "{kinds:?}");
    let types = file(TYPES);
    kinds.extend(variants(&types, "Kind"));
    kinds.extend(variants(&types, "MetricOf"));
    for group in GROUPS {
        kinds.remove(group);
    }
    let lacking: Vec<&String> = kinds.difference(&shown).collect();
    assert!(
        lacking.is_empty(),
        "{PAGES:?} have no example of {lacking:?}"
    );
    let prose = prose();
    for kind in kinds {
        assert!(
            prose.contains(&format!("**`{kind}`**")),
            "{PAGES:?} have no paragraph on {kind}"
        );
    }
}

#[test]
fn what_an_example_adds_that_is_not_known_is_refused() {
    for example in examples() {
        let mut bodies = Vec::new();
        each(&example, &mut |_, aggregation| {
            let kind = kind_of(aggregation).to_owned();
            if let Value::Object(mut body) = aggregation[&kind].clone() {
                body.insert("colour".to_owned(), json!("blue"));
                bodies.push(json!({(kind): body}));
            }
        });
        for body in bodies {
            let mut asked = Map::from_iter([("x".to_owned(), body.clone())]);
            if body.get("bucket_sort").is_some() {
                let outer = json!({"terms": {"field": "service"}, "aggs": asked});
                asked = Map::from_iter([("services".to_owned(), outer)]);
            }
            let error = answer(&asked).unwrap_err();
            assert!(error.contains("\"colour\" is not known"), "{body}: {error}");
        }
    }
}
