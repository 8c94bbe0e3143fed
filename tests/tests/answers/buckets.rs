//! Aggregations of Elasticsearch's API that look at documents beside columns: objects in lists, hits that are shown,
//! and terms that are compared with other documents. All are compared with a scan of the documents.

use std::collections::{BTreeMap, BTreeSet};

use canter_tests::TestIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: orders
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: shop, type: text, tokenizer: raw, fast: true}
    - {name: text, type: text, record: position}
    - {name: at, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - name: items
      type: nested
      field_mappings:
        - {name: sku, type: text, tokenizer: raw, fast: true}
        - {name: size, type: i64, fast: true}
        - name: parts
          type: nested
          field_mappings:
            - {name: made, type: text, tokenizer: raw, fast: true}
";

const WORDS: [&str; 6] = ["red", "green", "blue", "late", "broken", "lost"];

fn documents(seed: u64) -> Vec<Value> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut document = |n: u64| {
        let shop = ["north", "south", "east"][rng.random_range(0..3)];
        let items: Vec<Value> = (0..rng.random_range(0..4))
            .map(|_| {
                let parts: Vec<Value> = (0..rng.random_range(0..3))
                    .map(|_| {
                        let made = ["here", "there"][rng.random_range(0..2)];
                        json!({"made": made})
                    })
                    .collect();
                let (sku, size) = (rng.random_range(0..4), rng.random_range(0..6));
                json!({"sku": format!("s{sku}"), "size": size, "parts": parts})
            })
            .collect();
        let mut words = vec![WORDS[rng.random_range(0..3)]];
        if shop == "north" && rng.random_bool(0.7) {
            words.push(WORDS[rng.random_range(3..6)]);
        }
        let at = 1_700_000_000 + n * 86_400;
        json!({"n": n, "at": at, "shop": shop, "text": words.join(" "), "items": items})
    };
    (0..60).map(&mut document).collect()
}

fn index(documents: &[Value]) -> TestIndex {
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    TestIndex::build(CONFIG, &lines, 7).unwrap()
}

fn aggregated(index: &TestIndex, query: &Value, aggs: &Value) -> Value {
    let body = json!({"query": query, "size": 0, "aggs": aggs});
    let searcher = named(index, "orders");
    let (status, answer) = call(&searcher, "POST", "/orders/_search", "", &body);
    assert_eq!(status, 200, "{answer}");
    answer["aggregations"].clone()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn counts(found: &Value) -> BTreeMap<String, u64> {
    let buckets = list(&found["buckets"]).iter();
    let one = |bucket: &Value| {
        let key = bucket["key"].as_str().unwrap().to_owned();
        (key, bucket["doc_count"].as_u64().unwrap())
    };
    buckets.map(one).collect()
}

#[test]
fn objects_are_counted_as_a_scan_counts_them() {
    for seed in 0..4 {
        let documents = documents(seed);
        let index = index(&documents);
        let wanted: Vec<&Value> = documents
            .iter()
            .filter(|document| document["shop"] == "north" || document["n"].as_u64() < Some(20))
            .collect();
        let query = json!({"bool": {"should": [{"term": {"shop": "north"}}, {"range": {"n": {"lt": 20}}}]}});
        let aggs = json!({"items": {"nested": {"path": "items"}, "aggs": {
            "skus": {"terms": {"field": "items.sku"}, "aggs": {
                "sum": {"sum": {"field": "items.size"}},
                "orders": {"reverse_nested": {}, "aggs": {"shops": {"terms": {"field": "shop"}}}}}},
            "large": {"filter": {"bool": {"must": [{"range": {"items.size": {"gte": 3}}}],
                "must_not": [{"term": {"items.sku": "s0"}}]}}},
            "parts": {"nested": {"path": "items.parts"}, "aggs": {
                "made": {"terms": {"field": "items.parts.made"}, "aggs": {
                    "of": {"reverse_nested": {"path": "items"}, "aggs": {"skus": {"terms": {"field": "items.sku"}}}},
                    "orders": {"reverse_nested": {}}}}}}}}});
        let found = &aggregated(&index, &query, &aggs)["items"];
        let items = || wanted.iter().flat_map(|document| list(&document["items"]));
        assert_eq!(found["doc_count"], items().count() as u64, "{found}");
        let large = items().filter(|item| item["size"].as_i64() >= Some(3) && item["sku"] != "s0");
        assert_eq!(found["large"]["doc_count"], large.count() as u64);
        let skus = list(&found["skus"]["buckets"]);
        assert!(!skus.is_empty());
        for bucket in skus {
            let of_sku = |item: &&Value| item["sku"] == bucket["key"];
            let sum: i64 = items()
                .filter(of_sku)
                .filter_map(|item| item["size"].as_i64())
                .sum();
            assert_eq!(bucket["doc_count"], items().filter(of_sku).count() as u64);
            assert_eq!(bucket["sum"]["value"], json!(sum as f64));
            let orders = wanted
                .iter()
                .filter(|document| list(&document["items"]).iter().any(|item| of_sku(&item)));
            let mut shops: BTreeMap<String, u64> = BTreeMap::new();
            for order in orders.clone() {
                *shops
                    .entry(order["shop"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
            assert_eq!(bucket["orders"]["doc_count"], orders.count() as u64);
            assert_eq!(counts(&bucket["orders"]["shops"]), shops);
        }
        for bucket in list(&found["parts"]["made"]["buckets"]) {
            let has = |item: &Value| {
                list(&item["parts"])
                    .iter()
                    .filter(|part| part["made"] == bucket["key"])
                    .count()
            };
            let parts: usize = items().map(has).sum();
            assert_eq!(bucket["doc_count"], parts as u64);
            let of = items().filter(|item| has(item) > 0);
            let mut skus: BTreeMap<String, u64> = BTreeMap::new();
            for item in of.clone() {
                *skus
                    .entry(item["sku"].as_str().unwrap().to_owned())
                    .or_default() += 1;
            }
            assert_eq!(bucket["of"]["doc_count"], of.count() as u64);
            assert_eq!(counts(&bucket["of"]["skus"]), skus);
            let orders = wanted
                .iter()
                .filter(|document| list(&document["items"]).iter().any(|item| has(item) > 0));
            assert_eq!(bucket["orders"]["doc_count"], orders.count() as u64);
        }
    }
}

#[test]
fn a_bucket_shows_its_first_documents() {
    let documents = documents(9);
    let index = index(&documents);
    let aggs = json!({"shops": {"terms": {"field": "shop"}, "aggs": {
        "last": {"top_hits": {"size": 2, "sort": {"n": "desc"}, "_source": ["n"], "version": true}},
        "best": {"top_hits": {"size": 3, "highlight": {"fields": {"text": {}}}}},
        "texts": {"top_hits": {"size": 1, "from": 1, "sort": [{"shop": "asc"}, {"n": {"order": "asc"}}], "_source": false,
            "docvalue_fields": ["n"]}}}}});
    let query = json!({"match": {"text": "lost green"}});
    let found = aggregated(&index, &query, &aggs);
    let hits = |of: &Value| list(&of["hits"]["hits"]).to_vec();
    // The same search for the documents of a bucket says in which order they come.
    let of_shop = |shop: &str, sort: &Value| {
        let query = json!({"bool": {"must": [query], "filter": [{"term": {"shop": shop}}]}});
        let body = json!({"query": query, "size": 60, "sort": sort});
        let (status, answer) = call(
            &named(&index, "orders"),
            "POST",
            "/orders/_search",
            "",
            &body,
        );
        assert_eq!(status, 200, "{answer}");
        list(&answer["hits"]["hits"]).to_vec()
    };
    let buckets = list(&found["shops"]["buckets"]);
    assert_eq!(buckets.len(), 3);
    for bucket in buckets {
        let shop = bucket["key"].as_str().unwrap();
        let last = of_shop(shop, &json!([{"n": "desc"}]));
        assert_eq!(bucket["last"]["hits"]["total"]["value"], last.len() as u64);
        for (hit, expected) in hits(&bucket["last"]).iter().zip(&last) {
            assert_eq!(hit["_id"], expected["_id"]);
            assert_eq!(hit["_source"], json!({"n": expected["_source"]["n"]}));
            assert_eq!(hit["sort"], expected["sort"]);
            assert_eq!(hit["_version"], 1);
            assert_eq!(hit["_score"], Value::Null);
        }
        let best = of_shop(shop, &json!([{"_score": "desc"}, {"n": "asc"}]));
        let shown = hits(&bucket["best"]);
        assert_eq!(shown.len(), 3.min(best.len()));
        let scores = |hits: &[Value]| -> Vec<Value> {
            hits.iter()
                .take(3)
                .map(|hit| hit["_score"].clone())
                .collect()
        };
        assert_eq!(scores(&shown), scores(&best));
        assert_eq!(bucket["best"]["hits"]["max_score"], shown[0]["_score"]);
        for hit in &shown {
            let text = hit["_source"]["text"].as_str().unwrap();
            let marked = hit["highlight"]["text"][0].as_str().unwrap();
            assert_eq!(marked.replace("<em>", "").replace("</em>", ""), text);
            assert!(marked.contains("<em>"), "{marked}");
        }
        let by_number = of_shop(shop, &json!([{"n": "asc"}]));
        let second = &hits(&bucket["texts"])[0];
        assert_eq!(second["_id"], by_number[1]["_id"]);
        assert_eq!(second["fields"]["n"], json!([by_number[1]["_source"]["n"]]));
        assert!(second.get("_source").is_none(), "{second}");
    }
}

#[test]
fn objects_are_shown_in_the_place_of_documents() {
    let documents = documents(5);
    let index = index(&documents);
    let aggs = json!({"items": {"nested": {"path": "items"}, "aggs": {
        "large": {"top_hits": {"size": 5, "sort": [{"items.size": "desc"}]}}}}});
    let found = aggregated(&index, &json!({"match_all": {}}), &aggs);
    let items = || {
        documents
            .iter()
            .flat_map(|document| list(&document["items"]))
    };
    let mut sizes: Vec<i64> = items().filter_map(|item| item["size"].as_i64()).collect();
    sizes.sort_unstable_by(|left, right| right.cmp(left));
    let hits = list(&found["items"]["large"]["hits"]["hits"]);
    assert_eq!(hits.len(), 5);
    for (hit, size) in hits.iter().zip(sizes) {
        assert_eq!(hit["_source"]["size"], size);
        assert_eq!(hit["sort"], json!([size]));
        assert_eq!(hit["_nested"]["field"], "items");
        assert!(items().any(|item| *item == hit["_source"]), "{hit}");
    }
}

#[test]
fn terms_are_compared_with_all_documents_or_those_of_a_filter() {
    let documents = documents(3);
    let whole = index(&documents);
    // Deleted documents are not compared with.
    let deleted = whole.delete(&json!({"query": "n:<10"})).unwrap().0;
    let left: Vec<Value> = documents
        .iter()
        .filter(|document| document["n"].as_u64() >= Some(10))
        .cloned()
        .collect();
    let words = |document: &Value| -> BTreeSet<String> {
        let text = document["text"].as_str().unwrap();
        text.split(' ').map(str::to_owned).collect()
    };
    for (index, documents) in [(&whole, &documents), (&deleted, &left)] {
        for background in [None, Some("south")] {
            let mut body = json!({"field": "text", "min_doc_count": 1, "size": 20});
            if background.is_some() {
                body["background_filter"] = json!({"terms": {"shop": ["north", "south"]}});
            }
            let kinds = ["significant_terms", "significant_text"];
            let aggs = kinds.map(|kind| (kind.to_owned(), json!({kind: body})));
            let aggs = Value::Object(aggs.into_iter().collect());
            let found = aggregated(index, &json!({"term": {"shop": "north"}}), &aggs);
            let others: Vec<&Value> = documents
                .iter()
                .filter(|document| background.is_none() || document["shop"] != "east")
                .collect();
            let here: Vec<&Value> = documents
                .iter()
                .filter(|document| document["shop"] == "north")
                .collect();
            let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            for word in WORDS {
                let count = |of: &[&Value]| {
                    of.iter()
                        .filter(|document| words(document).contains(word))
                        .count() as u64
                };
                let (count, all) = (count(&here), count(&others));
                if count > 0 && count * others.len() as u64 > all * here.len() as u64 {
                    expected.insert(word.to_owned(), (count, all));
                }
            }
            assert!(expected.len() >= 3, "{expected:?}");
            for kind in kinds {
                let found = &found[kind];
                assert_eq!(found["doc_count"], here.len() as u64);
                assert_eq!(found["bg_count"], others.len() as u64);
                let buckets = list(&found["buckets"]).iter();
                let shown = buckets.clone().map(|bucket| {
                    let number = |name: &str| bucket[name].as_u64().unwrap();
                    (
                        bucket["key"].as_str().unwrap().to_owned(),
                        (number("doc_count"), number("bg_count")),
                    )
                });
                assert_eq!(shown.collect::<BTreeMap<_, _>>(), expected, "{kind}");
                let scores: Vec<f64> = buckets
                    .map(|bucket| bucket["score"].as_f64().unwrap())
                    .collect();
                assert!(
                    scores.is_sorted_by(|left, right| left >= right),
                    "{scores:?}"
                );
            }
        }
    }
}

#[test]
fn global_sees_all_documents() {
    let documents = documents(2);
    let index = index(&documents);
    let aggs = json!({
        "all": {"global": {}, "aggs": {"shops": {"terms": {"field": "shop"}}}},
        "here": {"terms": {"field": "shop"}},
    });
    let found = aggregated(&index, &json!({"term": {"shop": "north"}}), &aggs);
    let of = |shop: &str| {
        documents
            .iter()
            .filter(|document| document["shop"] == shop)
            .count() as u64
    };
    assert_eq!(found["all"]["doc_count"], documents.len() as u64);
    let shops = ["north", "south", "east"].map(|shop| (shop.to_owned(), of(shop)));
    assert_eq!(counts(&found["all"]["shops"]), BTreeMap::from(shops));
    assert_eq!(
        counts(&found["here"]),
        BTreeMap::from([("north".to_owned(), of("north"))])
    );
}

#[test]
fn combinations_without_a_hit_are_listed_if_asked_for() {
    let documents = documents(1);
    let index = index(&documents);
    let terms = json!({"multi_terms": {"min_doc_count": 0, "size": 100, "terms": [{"field": "shop"}, {"field": "n"}]}});
    let found = aggregated(
        &index,
        &json!({"range": {"n": {"lt": 4}}}),
        &json!({"pairs": terms}),
    );
    let buckets = list(&found["pairs"]["buckets"]);
    assert_eq!(buckets.len(), documents.len());
    for bucket in buckets {
        let is_hit = bucket["key"][1].as_u64() < Some(4);
        assert_eq!(bucket["doc_count"], u64::from(is_hit), "{bucket}");
    }
}

#[test]
fn typical_terms_of_a_column_need_no_words_of_documents() {
    let documents = documents(5);
    let index = index(&documents);
    let aggs = json!({"shops": {"significant_terms": {"field": "shop", "min_doc_count": 1}}});
    let found = aggregated(&index, &json!({"match": {"text": "late"}}), &aggs);
    let is_late = |document: &&Value| document["text"].as_str().unwrap().contains("late");
    let late = documents.iter().filter(is_late).count();
    assert!(late > 0);
    let shops = &found["shops"];
    assert_eq!(shops["doc_count"], late);
    assert_eq!(shops["bg_count"], documents.len());
    let buckets = shops["buckets"].as_array().unwrap();
    assert_eq!(buckets.len(), 1, "only the north has late ones");
    assert_eq!(buckets[0]["key"], "north");
    assert_eq!(buckets[0]["doc_count"], late);
}

#[test]
fn older_notations_of_intervals_and_paths_are_understood() {
    let documents = documents(6);
    let index = index(&documents);
    let all = json!({"match_all": {}});
    let with = |path: &str| {
        let aggs = json!({"h": {"histogram": {"field": "n", "interval": 20}, "aggs": {
            "s": {"stats": {"field": "n"}},
            "twice": {"bucket_script": {"buckets_path": {"x": path}, "script": "params.x * 2"}},
        }}});
        aggregated(&index, &all, &aggs)["h"]["buckets"].clone()
    };
    let buckets = with("s[max]");
    assert_eq!(buckets, with("s.max"));
    assert_eq!(buckets[2]["twice"]["value"], 118.0);
    let dates = |interval: &Value| {
        let mut histogram = interval.clone();
        histogram["field"] = "at".into();
        histogram["min_doc_count"] = 1.into();
        json!({"d": {"date_histogram": histogram}})
    };
    for (old, new) in [
        (
            json!({"interval": "1M"}),
            json!({"calendar_interval": "1M"}),
        ),
        (
            json!({"interval": "day"}),
            json!({"calendar_interval": "day"}),
        ),
        (json!({"interval": "36h"}), json!({"fixed_interval": "36h"})),
    ] {
        let of = |interval: &Value| aggregated(&index, &all, &dates(interval))["d"].clone();
        let found = of(&old);
        assert!(list(&found["buckets"]).len() > 1, "{found}");
        assert_eq!(found, of(&new), "{old}");
    }
    for both in [
        json!({"interval": "1d", "fixed_interval": "1d"}),
        json!({"interval": "1d", "calendar_interval": "1d"}),
    ] {
        let body = json!({"size": 0, "aggs": dates(&both)});
        let searcher = named(&index, "orders");
        let (status, answer) = call(&searcher, "POST", "/orders/_search", "", &body);
        assert_eq!(status, 400, "{answer}");
    }
}
