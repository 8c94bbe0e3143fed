//! Nested queries over random objects in lists, compared with a scan that looks at one object after the other.

use std::collections::BTreeSet;
use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_runtime::{Limits, Searcher};
use canter_tests::{TestIndex, run, run_with, usual_or_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

fn config(options: &str) -> String {
    format!(
        "
version: 0.9
index_id: nested
doc_mapping:
{options}
  field_mappings:
    - {{name: n, type: u64, fast: true}}
    - name: parts
      type: nested
      field_mappings:
        - {{name: kind, type: text, tokenizer: raw, fast: true}}
        - {{name: note, type: text, tokenizer: default, record: position}}
        - {{name: size, type: i64, fast: true}}
        - {{name: at, type: geo_point}}
        - name: deep
          type: nested
          field_mappings:
            - {{name: a, type: i64, fast: true}}
            - {{name: b, type: text, tokenizer: raw}}
"
    )
}

fn one_of(rng: &mut ChaCha8Rng, values: &[&str]) -> String {
    values[rng.random_range(0..values.len())].to_owned()
}

fn part(rng: &mut ChaCha8Rng) -> Value {
    let mut part = json!({});
    if rng.random_bool(0.8) {
        part["kind"] = one_of(rng, &["a", "b", "c"]).into();
    }
    if rng.random_bool(0.8) {
        part["size"] = match rng.random_bool(0.2) {
            true => json!([rng.random_range(0..6), rng.random_range(0..6)]),
            false => rng.random_range(0..6).into(),
        };
    }
    if rng.random_bool(0.8) {
        let words: Vec<String> = (0..rng.random_range(1..4))
            .map(|_| one_of(rng, &["red", "green", "blue"]))
            .collect();
        part["note"] = words.join(" ").into();
    }
    if rng.random_bool(0.5) {
        part["at"] = json!({"lat": rng.random_range(0..4), "lon": rng.random_range(0..4)});
    }
    let deep: Vec<Value> = (0..rng.random_range(0..3))
        .map(|_| json!({"a": rng.random_range(0..3), "b": one_of(rng, &["p", "q"])}))
        .collect();
    match deep.as_slice() {
        [] => {}
        [only] if rng.random_bool(0.5) => part["deep"] = only.clone(),
        deep => part["deep"] = deep.to_vec().into(),
    }
    part
}

fn documents(seed: u64, num_docs: usize) -> Vec<Value> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..num_docs)
        .map(|n| {
            let parts: Vec<Value> = (0..rng.random_range(0..5))
                .map(|_| part(&mut rng))
                .collect();
            match parts.as_slice() {
                [] if rng.random_bool(0.5) => json!({"n": n}),
                [only] if rng.random_bool(0.5) => json!({"n": n, "parts": only}),
                parts => json!({"n": n, "parts": parts}),
            }
        })
        .collect()
}

/// Draws a query on one object of `parts`, or of `parts.deep`.
fn inside(rng: &mut ChaCha8Rng, is_deep: bool, depth: usize) -> Value {
    let is_leaf = depth == 0 || rng.random_bool(0.4);
    if is_leaf && is_deep {
        return match rng.random_range(0..3) {
            0 => json!({"term": {"parts.deep.a": rng.random_range(0..3)}}),
            1 => json!({"term": {"parts.deep.b": one_of(rng, &["p", "q", "r"])}}),
            _ => json!({"range": {"parts.deep.a": {"gte": rng.random_range(0..3)}}}),
        };
    }
    if is_leaf {
        return match rng.random_range(0..9) {
            0 | 1 => json!({"term": {"parts.kind": one_of(rng, &["a", "b", "c", "d"])}}),
            2 => {
                let least = rng.random_range(0..6);
                json!({"range": {"parts.size": {"gte": least, "lt": least + rng.random_range(1..4)}}})
            }
            3 => json!({"match": {"parts.note": {
                "query": "red green", "operator": one_of(rng, &["and", "or"])}}}),
            4 => {
                json!({"match_phrase": {"parts.note": one_of(rng, &["red green", "blue blue", "green"])}})
            }
            5 => json!({"exists": {"field": one_of(rng, &["parts.kind", "parts.size"])}}),
            6 => json!({"terms": {"parts.size": [rng.random_range(0..6), rng.random_range(0..6)]}}),
            7 => {
                json!({"geo_bounding_box": {"parts.at": {"top": 1.5, "left": 0.5, "bottom": -0.5, "right": 3.5}}})
            }
            _ => json!({"prefix": {"parts.note": one_of(rng, &["r", "bl", "x"])}}),
        };
    }
    if !is_deep && rng.random_bool(0.25) {
        let query = inside(rng, true, depth - 1);
        return json!({"nested": {"path": "parts.deep", "query": query}});
    }
    let mut clauses = json!({});
    for role in ["must", "filter", "should", "must_not"] {
        let num_clauses = [0, 0, 1, 1, 2][rng.random_range(0..5)];
        let list: Vec<Value> = (0..num_clauses)
            .map(|_| inside(rng, is_deep, depth - 1))
            .collect();
        if !list.is_empty() {
            clauses[role] = list.into();
        }
    }
    let num_should = clauses["should"].as_array().map_or(0, Vec::len);
    if num_should > 0 && rng.random_bool(0.4) {
        clauses["minimum_should_match"] = rng.random_range(1..=num_should).into();
    }
    if clauses["should"].is_null() {
        clauses.as_object_mut().unwrap().remove("should");
    }
    json!({"bool": clauses})
}

/// Draws a query on documents.
fn drawn(rng: &mut ChaCha8Rng) -> Value {
    let nested = |rng: &mut ChaCha8Rng| {
        let query = inside(rng, false, 2);
        json!({"nested": {"path": "parts", "query": query}})
    };
    match rng.random_range(0..5) {
        0 | 1 => nested(rng),
        2 => json!({"bool": {"must_not": [nested(rng)]}}),
        3 => {
            json!({"bool": {"should": [nested(rng), nested(rng)], "filter": {"range": {"n": {"gte": 50}}}, "minimum_should_match": 1}})
        }
        _ => {
            let deep = inside(rng, true, 1);
            let deep = json!({"nested": {"path": "parts.deep", "query": deep}});
            json!({"bool": {"must": [nested(rng)], "must_not": [deep]}})
        }
    }
}

fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.clone(),
        value => vec![value.clone()],
    }
}

/// Returns the values of a field in an object, by its last name.
fn values(object: &Value, field: &str) -> Vec<Value> {
    list(&object[field.rsplit('.').next().unwrap()])
}

/// Returns whether a document or an object meets a query.
fn holds(object: &Value, query: &Value) -> bool {
    let (kind, body) = query.as_object().unwrap().iter().next().unwrap();
    let only = || body.as_object().unwrap().iter().next().unwrap();
    let words = |value: &Value| -> Vec<String> {
        let text = value.as_str().unwrap_or_default();
        text.split(' ').map(str::to_owned).collect()
    };
    match kind.as_str() {
        "bool" => {
            let clauses = |role: &str| list(&body[role]);
            let met = |role: &str| {
                let clauses = clauses(role);
                clauses
                    .iter()
                    .filter(|clause| holds(object, clause))
                    .count()
            };
            let (must, filter) = (clauses("must").len(), clauses("filter").len());
            let least = match body["minimum_should_match"].as_u64() {
                Some(least) => least as usize,
                None => usize::from(must + filter == 0 && !clauses("should").is_empty()),
            };
            met("must") == must
                && met("filter") == filter
                && met("must_not") == 0
                && met("should") >= least
        }
        "nested" => {
            let objects: Vec<Value> = match (body["path"].as_str().unwrap(), object.get("n")) {
                ("parts.deep", Some(_)) => {
                    let parts = list(&object["parts"]);
                    parts.iter().flat_map(|part| list(&part["deep"])).collect()
                }
                ("parts.deep", None) => list(&object["deep"]),
                _ => list(&object["parts"]),
            };
            objects.iter().any(|object| holds(object, &body["query"]))
        }
        "term" => {
            let (field, wanted) = only();
            values(object, field).contains(wanted)
        }
        "terms" => {
            let (field, wanted) = only();
            let wanted = wanted.as_array().unwrap();
            values(object, field)
                .iter()
                .any(|value| wanted.contains(value))
        }
        "range" => {
            let (field, range) = only();
            let is_in = |value: &Value| {
                let value = value.as_i64().unwrap();
                range["gte"].as_i64().is_none_or(|least| value >= least)
                    && range["lt"].as_i64().is_none_or(|most| value < most)
            };
            values(object, field).iter().any(is_in)
        }
        "exists" => !values(object, body["field"].as_str().unwrap()).is_empty(),
        "match" => {
            let (field, how) = only();
            let own: Vec<String> = values(object, field).iter().flat_map(words).collect();
            let has = |word: &str| own.iter().any(|own| own == word);
            match how["operator"].as_str().unwrap() {
                "and" => has("red") && has("green"),
                _ => has("red") || has("green"),
            }
        }
        "match_phrase" => {
            let (field, phrase) = only();
            let phrase = words(phrase);
            let has = |value: &Value| {
                words(value)
                    .windows(phrase.len())
                    .any(|part| part == phrase)
            };
            values(object, field).iter().any(has)
        }
        "prefix" => {
            let (field, prefix) = only();
            let prefix = prefix.as_str().unwrap();
            let has = |value: &Value| words(value).iter().any(|word| word.starts_with(prefix));
            values(object, field).iter().any(has)
        }
        "geo_bounding_box" => {
            let is_in = |at: &Value| {
                let (lat, lon) = (at["lat"].as_i64().unwrap(), at["lon"].as_i64().unwrap());
                (0..2).contains(&lat) && (1..4).contains(&lon)
            };
            list(&object["at"]).iter().any(is_in)
        }
        other => panic!("{other}"),
    }
}

fn lines(documents: &[Value]) -> Vec<String> {
    documents.iter().map(Value::to_string).collect()
}

#[test]
fn one_object_meets_all_clauses_as_a_scan_says() {
    let documents = documents(21, 260);
    for options in [
        "",
        "  store_source: true",
        "  mode: dynamic\n  index_field_presence: true",
    ] {
        let index = TestIndex::build(&config(options), &lines(&documents), 70).unwrap();
        let searcher = index.searcher(Arc::new(NativeEngine::new()), 5, 1).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (mut num_found, mut num_verified) = (0, 0);
        for _ in 0..usual_or_full(60, 150) {
            let query = drawn(&mut rng);
            let request = json!({"query": query, "max_hits": 1_000, "profile": true});
            let answer =
                run(&searcher, &request).unwrap_or_else(|error| panic!("{query}: {error}"));
            let answer = answer.json;
            assert_eq!(answer["failed_splits"], json!([]), "{query}");
            assert_eq!(answer["profile"]["warmup_gaps"], 0, "{query}");
            let hits = answer["hits"].as_array().unwrap().iter();
            let found: BTreeSet<u64> = hits.map(|hit| hit["n"].as_u64().unwrap()).collect();
            let expected = documents.iter().filter(|document| holds(document, &query));
            let expected: BTreeSet<u64> = expected
                .map(|document| document["n"].as_u64().unwrap())
                .collect();
            assert_eq!(found, expected, "{query}");
            let verified = answer["profile"]["docs_verified"].as_u64().unwrap_or(0);
            num_found += found.len();
            num_verified += verified;
        }
        assert!(
            num_found > 400 && num_verified > 400,
            "{num_found} {num_verified}"
        );
    }
}

#[test]
fn scores_and_counts_are_those_of_the_documents_found() {
    let documents = documents(22, 120);
    let index = TestIndex::build(&config(""), &lines(&documents), 50).unwrap();
    let query = json!({"nested": {"path": "parts", "score_mode": "max", "query": {"bool": {"must": [
        {"match": {"parts.note": {"query": "red green", "operator": "or"}}}, {"term": {"parts.kind": "a"}}]}}}});
    let expected = documents
        .iter()
        .filter(|document| holds(document, &query))
        .count();
    let sorted = index
        .search(&json!({"query": query, "sort_by": "_score", "max_hits": 500}))
        .unwrap();
    assert_eq!(sorted.json["hits"].as_array().unwrap().len(), expected);
    let counted = index
        .search(&json!({"query": query, "max_hits": 0}))
        .unwrap();
    assert_eq!(counted.json["num_hits"], expected);
    let aggs = json!({"a": {"value_count": {"field": "n"}}, "f": {"filter": query}});
    let found = index
        .search(&json!({"query": query, "max_hits": 0, "aggs": aggs}))
        .unwrap();
    assert_eq!(found.json["aggregations"]["a"]["value"], expected);
    assert_eq!(found.json["aggregations"]["f"]["doc_count"], expected);
}

#[test]
fn a_search_looks_at_so_many_documents_and_no_more() {
    let documents: Vec<Value> = (0..50)
        .map(|n| json!({"n": n, "parts": [{"kind": "a", "size": 1}, {"kind": "b", "size": 2}]}))
        .collect();
    let index = TestIndex::build(&config(""), &lines(&documents), 20).unwrap();
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let query = json!({"nested": {"path": "parts", "query": {"bool": {"must": [
        {"term": {"parts.kind": "a"}}, {"term": {"parts.size": 2}}]}}}});
    let within = |limit: u64| {
        let mut limits = Limits::default();
        limits
            .guest
            .insert("max_docs_verified".to_owned(), limit.into());
        run_with(&searcher, &json!({"query": query, "max_hits": 1}), &limits)
    };
    assert_eq!(within(50).unwrap().json["num_hits"], 0);
    let refused = within(49).unwrap_err().to_string();
    assert!(
        refused.contains("49 documents") && refused.contains("max_docs_verified"),
        "{refused}"
    );
}

#[test]
fn inner_hits_are_the_objects_that_match() {
    let documents = documents(23, 80);
    for options in ["", "  store_source: true"] {
        let index = TestIndex::build(&config(options), &lines(&documents), 30).unwrap();
        let searcher = named(&index, "nested");
        let inner = json!({"bool": {"should": [{"term": {"parts.kind": "a"}}, {"range": {"parts.size": {"gte": 4}}}]}});
        let body = json!({"size": 100, "query": {"nested": {"path": "parts", "query": inner, "inner_hits": {
            "size": 2, "from": 1, "name": "those", "_source": ["kind"]}}}, "fields": ["n"]});
        let answer = elastic(&searcher, &body);
        let hits = answer["hits"]["hits"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(hits.len() > 20);
        for hit in hits {
            let n = hit["fields"]["n"][0].as_u64().unwrap() as usize;
            let parts = list(&documents[n]["parts"]);
            let places = (0..parts.len()).filter(|place| holds(&parts[*place], &inner));
            let places: Vec<usize> = places.collect();
            let found = &hit["inner_hits"]["those"]["hits"];
            assert_eq!(
                found["total"],
                json!({"value": places.len(), "relation": "eq"})
            );
            let found = found["hits"].as_array().unwrap();
            let expected: Vec<usize> = places.into_iter().skip(1).take(2).collect();
            let offsets = found
                .iter()
                .map(|hit| hit["_nested"]["offset"].as_u64().unwrap() as usize);
            assert_eq!(offsets.collect::<Vec<_>>(), expected);
            for (inner, place) in found.iter().zip(expected) {
                assert_eq!(inner["_nested"]["field"], "parts");
                assert_eq!(inner["_id"], hit["_id"]);
                assert_eq!(inner["_source"]["kind"], parts[place]["kind"]);
                assert_eq!(inner["_source"].get("size"), None);
            }
        }
    }
    let index = TestIndex::build(&config(""), &lines(&documents), 30).unwrap();
    let searcher = named(&index, "nested");
    let asked = |inner_hits: Value| {
        let nested = json!({"path": "parts", "query": {"match_all": {}}, "inner_hits": inner_hits});
        elastic(&searcher, &json!({"query": {"nested": nested}, "size": 20}))
    };
    for order in ["asc", "desc"] {
        let answer = asked(json!({"sort": [{"parts.size": order}], "size": 50, "version": true}));
        for hit in answer["hits"]["hits"].as_array().unwrap() {
            let parts = list(&hit["_source"]["parts"]);
            let size_of = |part: &Value| {
                let list = part["size"].as_array().cloned();
                let list = list.unwrap_or_else(|| vec![part["size"].clone()]);
                let sizes = list.iter().filter_map(Value::as_i64);
                match order {
                    "asc" => sizes.min(),
                    _ => sizes.max(),
                }
            };
            let mut sizes: Vec<Option<i64>> = parts.iter().map(size_of).collect();
            sizes.sort_by_key(|size| match (size, order) {
                (None, _) => i64::MAX,
                (Some(size), "asc") => *size,
                (Some(size), _) => -size,
            });
            let found = hit["inner_hits"]["parts"]["hits"]["hits"]
                .as_array()
                .unwrap()
                .iter();
            let found: Vec<Option<i64>> = found
                .inspect(|inner| assert_eq!(inner["_version"], 1))
                .map(|inner| inner["sort"][0].as_i64())
                .collect();
            assert_eq!(found, sizes, "{order}: {hit}");
        }
    }
    let refused = asked(json!({"script_fields": {}}));
    assert!(
        refused["error"].to_string().contains("script_fields"),
        "{refused}"
    );
}

#[test]
fn hits_show_objects_as_they_were_written_and_merges_keep_them() {
    let documents = documents(24, 60);
    let config = config("");
    let index = TestIndex::build(&config, &lines(&documents), 20).unwrap();
    let entries = index.entries().unwrap();
    let merged = index.merge(&config, &entries).unwrap().unwrap().unwrap();
    let merged = TestIndex::of_splits(&config, &[merged], &index).unwrap();
    for index in [&index, &merged] {
        let answer = index
            .search(&json!({"query": "*", "max_hits": 100, "sort_by": "-n"}))
            .unwrap()
            .json;
        for (hit, document) in answer["hits"].as_array().unwrap().iter().zip(&documents) {
            let is_empty = document["parts"] == json!([]);
            assert!(
                is_empty || hit["parts"] == document["parts"],
                "{hit} {document}"
            );
        }
    }
}

#[test]
fn hits_are_sorted_by_the_values_of_all_their_objects() {
    let documents = documents(31, 80);
    let index = TestIndex::build(&config("  store_source: true"), &lines(&documents), 30).unwrap();
    let searcher = named(&index, "nested");
    for (mode, order) in [
        ("min", "asc"),
        ("max", "desc"),
        ("min", "desc"),
        ("sum", "asc"),
    ] {
        let sort = json!([{"parts.size": {"order": order, "mode": mode, "nested": {"path": "parts"}}}, "n"]);
        let answer = elastic(&searcher, &json!({"size": 100, "sort": sort}));
        let hits = answer["hits"]["hits"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(hits.len(), documents.len());
        let mut expected: Vec<(Option<i64>, u64)> = Vec::new();
        for document in &documents {
            let sizes = list(&document["parts"]);
            let sizes = sizes.iter().flat_map(|part| values(part, "size"));
            let sizes: Vec<i64> = sizes.filter_map(|size| size.as_i64()).collect();
            let value = match mode {
                "min" => sizes.iter().min().copied(),
                "max" => sizes.iter().max().copied(),
                _ => (!sizes.is_empty()).then(|| sizes.iter().sum()),
            };
            expected.push((value, document["n"].as_u64().unwrap()));
        }
        expected.sort_by_key(|(value, n)| {
            let place = value.map(|value| if order == "asc" { value } else { -value });
            (place.is_none(), place, *n)
        });
        let found = hits.iter().map(|hit| hit["_source"]["n"].as_u64().unwrap());
        let expected = expected.into_iter().map(|(_, n)| n);
        assert_eq!(
            found.collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "{sort}"
        );
    }
    for wrong in [
        json!({"nested": {}}),
        json!({"nested": {"path": "other"}}),
        json!({"nested": {"path": "parts", "filter": {"term": {"parts.kind": "a"}}}}),
    ] {
        let body = json!({"sort": [{"parts.size": wrong}]});
        let (status, answer) = call(&searcher, "POST", "/nested/_search", "", &body);
        assert_eq!(status, 400, "{answer}");
    }
}

/// Returns the answer of Elasticsearch's API.
fn elastic(searcher: &Searcher, body: &Value) -> Value {
    call(searcher, "POST", "/nested/_search", "", body).1
}

/// An object whose fields are mapped is no path that is missing, although it is no field itself.
#[test]
fn a_mapped_object_is_looked_into_by_who_ignores_what_is_not_mapped() {
    let config = "
version: 0.9
index_id: nested
doc_mapping:
  mode: lenient
  field_mappings:
    - {name: n, type: u64, fast: true}
    - name: ctx
      type: object
      field_mappings:
        - {name: user, type: text, tokenizer: raw, fast: true}
";
    let lines = ["a", "b"].map(|user| json!({"n": 1, "ctx": {"user": user}}).to_string());
    let index = TestIndex::build(config, &lines, 1).unwrap();
    let count = |path: &str, ignores: bool| {
        let query = json!({"term": {"ctx.user": "a"}});
        let nested = json!({"path": path, "query": query, "ignore_unmapped": ignores});
        let body = json!({"query": {"nested": nested}});
        call(
            &named(&index, "nested"),
            "POST",
            "/nested/_count",
            "",
            &body,
        )
    };
    assert_eq!(count("ctx", true).1["count"], 1);
    assert_eq!(count("ctx", false).1["count"], 1);
    assert_eq!(count("nope", true).1["count"], 0);
    assert_eq!(count("nope", false).0, 400);
}
