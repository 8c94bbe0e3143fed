//! `more_like_this`, judged by a scan that chooses the words itself; and the words and places of other clauses.

use std::collections::{BTreeMap, BTreeSet};

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use rand::seq::IndexedRandom;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: notes
doc_mapping:
  mode: dynamic
  id_field: key
  dynamic_mapping: {indexed: true, stored: true, tokenizer: default, fast: true}
  field_mappings:
    - {name: key, type: text, tokenizer: raw, fast: true}
    - {name: n, type: u64, fast: true}
    - {name: title, type: text, record: position}
    - {name: body, type: text, record: position}
    - {name: place, type: geo_point, fast: true}
";

const NUM_DOCS: u64 = 120;

/// Draws documents whose words are unevenly frequent.
fn documents() -> Vec<Value> {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let words: Vec<String> = (0..40).map(|n| format!("w{n}")).collect();
    let mut text = |num: usize| {
        let words = (0..num).map(|_| {
            let most = random.random_range(1..=words.len());
            words[..most].choose(&mut random).unwrap().clone()
        });
        words.collect::<Vec<_>>().join(" ")
    };
    let documents = (0..NUM_DOCS).map(|n| {
        json!({"key": format!("k{n}"), "n": n, "title": text(3), "body": text(12), "extra": {"note": text(4)}})
    });
    documents.collect()
}

fn indexed(documents: &[Value], docs_per_split: u64) -> Searcher {
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    named(
        &TestIndex::build(CONFIG, &lines, docs_per_split).unwrap(),
        "notes",
    )
}

/// Returns the documents that a query finds, with their scores.
fn found(searcher: &Searcher, query: &Value) -> Vec<(u64, f64)> {
    let body = json!({"query": query, "size": 500});
    let (status, answer) = call(searcher, "POST", "/notes/_search", "", &body);
    assert_eq!(status, 200, "{query}: {answer}");
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| {
        let n = hit["_source"]["n"].as_u64().unwrap();
        (n, hit["_score"].as_f64().unwrap())
    });
    hits.collect()
}

fn ids(searcher: &Searcher, query: &Value) -> BTreeSet<u64> {
    found(searcher, query).into_iter().map(|(n, _)| n).collect()
}

fn words(text: &Value) -> impl Iterator<Item = &str> {
    text.as_str()
        .unwrap()
        .split(' ')
        .filter(|word| !word.is_empty())
}

fn text<'d>(document: &'d Value, field: &str) -> &'d Value {
    field.split('.').fold(document, |value, key| &value[key])
}

/// Parameters of a clause.
struct Alike<'a> {
    fields: &'a [&'a str],
    like: &'a [&'a Value],
    unlike: &'a [&'a Value],
    most: usize,
    min_term_freq: usize,
    doc_freqs: std::ops::RangeInclusive<usize>,
    percent: usize,
}

impl Alike<'_> {
    /// Returns the words that are typical, each with its field.
    fn chosen(&self, documents: &[Value]) -> Vec<(String, String)> {
        let mut chosen = Vec::new();
        for field in self.fields {
            let mut nums: BTreeMap<&str, usize> = BTreeMap::new();
            for like in self.like {
                words(text(like, field)).for_each(|word| *nums.entry(word).or_default() += 1);
            }
            let avoided: BTreeSet<&str> = self
                .unlike
                .iter()
                .flat_map(|doc| words(text(doc, field)))
                .collect();
            let doc_freq = |word: &str| {
                let has = |document: &&Value| words(text(document, field)).any(|own| own == word);
                documents.iter().filter(has).count()
            };
            let mut weighed: Vec<(f64, &str)> = nums
                .into_iter()
                .filter(|(word, num)| *num >= self.min_term_freq && !avoided.contains(word))
                .map(|(word, num)| (num, word, doc_freq(word)))
                .filter(|(_, _, doc_freq)| *doc_freq > 0 && self.doc_freqs.contains(doc_freq))
                .map(|(num, word, doc_freq)| {
                    let rarity = ((documents.len() + 1) as f64 / (doc_freq + 1) as f64).ln() + 1.0;
                    (num as f64 * rarity, word)
                })
                .collect();
            weighed.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(right.1)));
            let kept = weighed.into_iter().take(self.most);
            chosen.extend(kept.map(|(_, word)| ((*field).to_owned(), word.to_owned())));
        }
        chosen
    }

    fn expected(&self, documents: &[Value]) -> BTreeSet<u64> {
        let chosen = self.chosen(documents);
        let least = (chosen.len() * self.percent / 100).max(1);
        let is_alike = |document: &&Value| {
            let has = |(field, word): &&(String, String)| {
                words(text(document, field)).any(|own| own == word)
            };
            !chosen.is_empty() && chosen.iter().filter(has).count() >= least
        };
        let alike = documents.iter().filter(is_alike);
        alike
            .map(|document| document["n"].as_u64().unwrap())
            .collect()
    }
}

#[test]
fn documents_alike_are_those_with_enough_of_the_typical_words() {
    let documents = documents();
    let searchers = [indexed(&documents, 1_000), indexed(&documents, 25)];
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut num_found = 0;
    for _ in 0..40 {
        let [like, other, unlike] = [0; 3].map(|_| documents.choose(&mut random).unwrap());
        let fields: &[&str] = [&["body"][..], &["title", "body"], &["extra.note", "body"]]
            .choose(&mut random)
            .unwrap();
        let (most, percent) = (random.random_range(1..9), random.random_range(1..60));
        let (least, greatest) = (random.random_range(0..20), random.random_range(20..120));
        let alike = Alike {
            fields,
            like: &[like, other],
            unlike: &[unlike],
            most,
            min_term_freq: random.random_range(1..3),
            doc_freqs: least..=greatest,
            percent,
        };
        let query = json!({"more_like_this": {
            "fields": fields, "like": [{"_id": like["key"]}, {"doc": other}], "unlike": {"_id": unlike["key"]},
            "max_query_terms": most, "min_term_freq": alike.min_term_freq, "min_doc_freq": least, "max_doc_freq": greatest,
            "minimum_should_match": format!("{percent}%"), "include": true,
        }});
        let expected = alike.expected(&documents);
        num_found += expected.len();
        let answers = searchers.each_ref().map(|searcher| found(searcher, &query));
        for answer in &answers {
            let ids: BTreeSet<u64> = answer.iter().map(|(n, _)| *n).collect();
            assert_eq!(ids, expected, "{query} {:?}", alike.chosen(&documents));
        }
        // However the documents are divided into splits.
        let scores = answers.map(|answer| {
            answer
                .into_iter()
                .map(|(n, score)| (n, format!("{score:.4}")))
                .collect::<BTreeSet<_>>()
        });
        assert_eq!(scores[0], scores[1], "{query}");
    }
    assert!(num_found > 100, "{num_found}");
}

#[test]
fn examples_are_texts_and_documents_and_are_no_hits_themselves() {
    let documents = documents();
    let searcher = indexed(&documents, 50);
    let loose = |more: Value| {
        let mut query = json!({"min_term_freq": 1, "min_doc_freq": 1, "minimum_should_match": 1, "fields": ["body"]});
        query
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"more_like_this": query})
    };
    let with_word = |word: &str| -> BTreeSet<u64> {
        let has = |document: &&Value| words(&document["body"]).any(|own| own == word);
        documents
            .iter()
            .filter(has)
            .map(|document| document["n"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(
        ids(&searcher, &loose(json!({"like": "W7, and nothing"}))),
        with_word("w7")
    );
    assert_eq!(
        ids(
            &searcher,
            &loose(json!({"like": ["w7", "w9"], "unlike": ["w9"]}))
        ),
        with_word("w7")
    );
    assert_eq!(
        ids(
            &searcher,
            &loose(json!({"like": "w7 w9", "stop_words": ["w7"]}))
        ),
        with_word("w9")
    );
    assert_eq!(
        ids(
            &searcher,
            &loose(json!({"like": "w7 w19", "min_word_length": 3}))
        ),
        with_word("w19")
    );
    assert_eq!(
        ids(
            &searcher,
            &loose(json!({"like": "w7 w19", "max_word_length": 2}))
        ),
        with_word("w7")
    );
    assert_eq!(
        ids(
            &searcher,
            &loose(json!({"like": "W7", "analyzer": "whitespace"}))
        ),
        BTreeSet::new()
    );
    assert_eq!(
        ids(&searcher, &loose(json!({"like": {"_id": "nobody"}}))),
        BTreeSet::new()
    );
    // An example is no hit, unless it is asked for.
    let itself = loose(json!({"like": {"_index": "notes", "_id": "k5"}}));
    let others = ids(&searcher, &itself);
    assert!(!others.contains(&5) && others.len() > 10, "{others:?}");
    let with_itself = ids(
        &searcher,
        &loose(json!({"like": {"_id": "k5"}, "include": true})),
    );
    assert!(with_itself.contains(&5));
    assert_eq!(with_itself.len(), others.len() + 1);
    // Without fields, all texts of a document count, mapped or not.
    let free = json!({"more_like_this": {
        "like": {"doc": {"extra": {"note": "w3"}, "n": 4}}, "min_term_freq": 1, "min_doc_freq": 1}});
    let expected = documents
        .iter()
        .filter(|document| words(&document["extra"]["note"]).any(|own| own == "w3"));
    let expected: BTreeSet<u64> = expected
        .map(|document| document["n"].as_u64().unwrap())
        .collect();
    assert_eq!(ids(&searcher, &free), expected);
    // Inside other clauses.
    let both = json!({"bool": {"must": [loose(json!({"like": "w7"}))], "filter": [{"range": {"n": {"lt": 40}}}]}});
    let expected: BTreeSet<u64> = with_word("w7").into_iter().filter(|n| *n < 40).collect();
    assert_eq!(ids(&searcher, &both), expected);
    // A weight for each word.
    let rare = loose(json!({"like": "w0 w39", "boost_terms": 1}));
    let (status, answer) = call(
        &searcher,
        "POST",
        "/notes/_search",
        "",
        &json!({"query": rare, "size": 1}),
    );
    assert_eq!(status, 200);
    assert!(words(&answer["hits"]["hits"][0]["_source"]["body"]).any(|own| own == "w39"));
    let (status, counted) = call(
        &searcher,
        "POST",
        "/notes/_count",
        "",
        &json!({"query": loose(json!({"like": "w7"}))}),
    );
    assert_eq!(
        (status, counted["count"].as_u64()),
        (200, Some(with_word("w7").len() as u64))
    );
}

fn refused(searcher: &Searcher, body: &Value) -> String {
    let (status, answer) = call(searcher, "POST", "/notes/_search", "", body);
    assert_eq!(status, 400, "{body}: {answer}");
    answer.to_string().replace("\\\"", "\"")
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let searcher = indexed(&documents()[..4], 10);
    let alike = json!({"more_like_this": {"fields": ["body"], "like": "a"}});
    for (query, expected) in [
        (
            json!({"more_like_this": {"fields": ["body"]}}),
            "requires 'like'",
        ),
        (
            json!({"more_like_this": {"fields": ["n"], "like": "a"}}),
            "text/keyword fields: [n]",
        ),
        (
            json!({"more_like_this": {"fields": ["body"], "like": [5]}}),
            "texts or objects",
        ),
        (
            json!({"more_like_this": {"fields": ["body"], "like": {"_id": "a", "doc": {}}}}),
            "either _id or doc",
        ),
        (
            json!({"more_like_this": {"fields": ["body"], "like": {"_index": "x", "_id": "a"}}}),
            "not among the indexes",
        ),
        (
            json!({"more_like_this": {"fields": ["body"], "like": "a", "max_query_terms": 0}}),
            "between 1 and",
        ),
        (
            json!({"more_like_this": {"fields": ["body"], "like": "a", "analyzer": "x"}}),
            "analyzer [x] not found",
        ),
        (
            json!({"percolate": {"field": "q"}}),
            "not supported: documents are searched",
        ),
        (
            json!({"script_score": {"query": {"match_all": {}}}}),
            "scripts are not supported",
        ),
        (json!({"has_child": {"type": "a"}}), "ask with nested"),
        (json!({"pinned": {"ids": ["a"]}}), "a bool's should"),
        (
            json!({"terms": {"n": [1], "value_type": "bitmap"}}),
            "list the values",
        ),
        (
            json!({"regexp": {"title": "a".repeat(1_110)}}),
            "The length of regex [1110]",
        ),
        (
            json!({"query_string": {"query": format!("title:/{}/", "a".repeat(1_110))}}),
            "The length of regex [1110]",
        ),
        (
            json!({"query_string": {"query": "a", "fields": ["title", null]}}),
            "[query_string] field name in [fields] cannot be null",
        ),
        (
            json!({"multi_match": {"query": "a", "fields": ["title"], "type": "bool_prefix", "slop": 1}}),
            "[slop] not allowed for type [bool_prefix]",
        ),
        (
            json!({"match": {"title": {"query": "a", "analyzer": "latin"}}}),
            "analyzer [latin] not found",
        ),
        (
            json!({"distance_feature": {"field": "n", "origin": [1, 2], "pivot": "1km"}}),
            "has no points",
        ),
        (
            json!({"distance_feature": {"field": "place", "origin": 5, "pivot": 3}}),
            "has points",
        ),
    ] {
        let reason = refused(&searcher, &json!({"query": query}));
        assert!(reason.contains(expected), "{query}: {reason}");
    }
    let reason = refused(&searcher, &json!({"aggs": {"a": {"filter": alike}}}));
    assert!(reason.contains("for the query only"), "{reason}");
}

#[test]
fn another_analyzer_splits_the_text_of_a_query() {
    let documents = [
        json!({"key": "a", "n": 0, "title": "Brown Fox", "body": "dog"}),
        json!({"key": "b", "n": 1, "title": "dog", "body": "fox-trot"}),
    ];
    let searcher = indexed(&documents, 10);
    let check = |query: Value, expected: &[u64]| {
        let found: Vec<u64> = ids(&searcher, &query).into_iter().collect();
        assert_eq!(found, expected, "{query}");
    };
    for (text, analyzer, expected) in [
        ("BROWN dog", "whitespace", &[1][..]),
        ("BROWN dog", "standard", &[0, 1]),
        ("fox-trot", "whitespace", &[]),
        ("brown fox", "keyword", &[]),
    ] {
        let of_field = json!({"title": {"query": text, "analyzer": analyzer}});
        check(json!({"match": of_field}), expected);
        check(json!({"match_bool_prefix": of_field}), expected);
    }
    let several = |kind: &str| {
        json!({"multi_match": {
        "query": "FOX dog", "fields": ["title", "body"], "type": kind, "analyzer": "whitespace"}})
    };
    for kind in ["best_fields", "most_fields", "cross_fields", "bool_prefix"] {
        check(several(kind), &[0, 1]);
    }
    let phrase = |analyzer: &str| json!({"match_phrase": {"title": {"query": "brown FOX", "analyzer": analyzer}}});
    check(phrase("simple"), &[0]);
    check(phrase("whitespace"), &[]);
}

#[test]
fn nearer_points_score_more() {
    let places = [(41.13, -71.34), (41.14, -71.34), (41.12, -71.34)];
    let mut documents: Vec<Value> = (0..)
        .zip(places)
        .map(|(n, (lat, lon))| json!({"key": format!("p{n}"), "n": n, "place": {"lat": lat, "lon": lon}}))
        .collect();
    documents.push(json!({"key": "none", "n": 9}));
    let searcher = indexed(&documents, 2);
    for origin in [
        json!([-71.35, 41.12]),
        json!({"lat": 41.12, "lon": -71.35}),
        json!("41.12,-71.35"),
    ] {
        let query =
            json!({"distance_feature": {"field": "place", "pivot": "1km", "origin": origin}});
        let hits = found(&searcher, &query);
        let order: Vec<u64> = hits.iter().map(|(n, _)| *n).collect();
        assert_eq!(order, [2, 0, 1]);
        for (n, score) in hits {
            // A small distance, by the law of haversines on Lucene's sphere.
            let (lat, lon) = places[usize::try_from(n).unwrap()];
            let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
            let share = half(lat - 41.12)
                + 41.12_f64.to_radians().cos() * lat.to_radians().cos() * half(lon + 71.35);
            let metres = 2.0 * 6_371_008.771_4 * share.sqrt().asin();
            let expected = 1_000.0 / (1_000.0 + metres);
            assert!((score - expected).abs() < 1e-4, "{n}: {score} {expected}");
            for (shape, left) in [
                ("gauss", 0.3_f64.powf((metres / 2_000.0).powi(2))),
                ("exp", 0.3_f64.powf(metres / 2_000.0)),
                ("linear", (1.0 - metres * 0.7 / 2_000.0).max(0.0)),
            ] {
                let near = json!({"place": {"origin": origin, "scale": "2km", "decay": 0.3}});
                let query = json!({"function_score": {"query": {"term": {"n": n}}, "functions": [{shape: near}],
                    "boost_mode": "replace"}});
                let score = found(&searcher, &query)[0].1;
                assert!((score - left).abs() < 1e-4, "{shape} {n}: {score} {left}");
            }
        }
    }
    let query = json!({"function_score": {"query": {"term": {"n": 9}}, "boost_mode": "replace",
        "functions": [{"gauss": {"place": {"origin": "41.12,-71.35", "scale": "2km", "offset": "500m"}}}]}});
    assert_eq!(found(&searcher, &query)[0].1, 1.0, "without a place");
}
