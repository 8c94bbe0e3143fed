//! The nearest vectors (`knn`), judged by a scan: exact where few vectors are read as a whole, and by recall where
//! clusters are chosen.

use std::collections::BTreeMap;

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: vec
doc_mapping:
  mode: dynamic
  index_field_presence: true
  id_field: key
  field_mappings:
    - {name: key, type: text, tokenizer: raw, fast: true}
    - {name: n, type: u64, fast: true}
    - {name: group, type: text, tokenizer: raw, fast: true}
    - {name: words, type: text}
    - {name: cosine, type: dense_vector, dims: 8}
    - {name: unit, type: dense_vector, dims: 5, similarity: dot_product}
    - {name: near, type: dense_vector, dims: 3, similarity: l2_norm}
    - {name: inner, type: dense_vector, dims: 4, similarity: max_inner_product}
    - {name: bytes, type: dense_vector, dims: 6, element_type: byte, similarity: cosine}
    - {name: dots, type: dense_vector, dims: 6, element_type: byte, similarity: dot_product}
    - {name: bits, type: dense_vector, dims: 24, element_type: bit}
    - name: inside
      type: object
      field_mappings:
        - {name: deep, type: dense_vector, dims: 2, similarity: l2_norm}
    - {name: kept, type: dense_vector, dims: 2, indexed: false}
";

const FIELDS: [(&str, usize); 8] = [
    ("cosine", 8),
    ("unit", 5),
    ("near", 3),
    ("inner", 4),
    ("bytes", 6),
    ("dots", 6),
    ("bits", 3),
    ("inside.deep", 2),
];

/// Draws a vector that suits a field.
fn vector(field: &str, len: usize, random: &mut ChaCha8Rng) -> Vec<f64> {
    loop {
        let numbers = (0..len).map(|_| match field {
            "bytes" | "dots" | "bits" => f64::from(random.random_range(-128..=127)),
            _ => f64::from(random.random_range(-1.0f32..1.0)),
        });
        let mut numbers: Vec<f64> = numbers.collect();
        let length = dot(&numbers, &numbers).sqrt();
        if length < 1e-3 {
            continue;
        }
        if field == "unit" {
            numbers.iter_mut().for_each(|number| *number /= length);
        }
        return numbers;
    }
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Returns how alike two vectors are, and Elasticsearch's score for it.
fn scored(field: &str, one: &[f64], other: &[f64]) -> (f64, f64) {
    let squares = one.iter().zip(other);
    let distance = squares.map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let inner = dot(one, other);
    match field {
        "cosine" | "bytes" => {
            let cosine = inner / (dot(one, one).sqrt() * dot(other, other).sqrt());
            (cosine, (1.0 + cosine) / 2.0)
        }
        "unit" => (inner, (1.0 + inner) / 2.0),
        "dots" => (inner, 0.5 + inner / (one.len() as f64 * 32_768.0)),
        "inner" if inner < 0.0 => (inner, 1.0 / (1.0 - inner)),
        "inner" => (inner, inner + 1.0),
        "bits" => {
            let bits = one.iter().zip(other);
            let differ = bits.map(|(a, b)| ((*a as i8) ^ (*b as i8)).count_ones());
            let differ = f64::from(differ.sum::<u32>());
            (differ, (24.0 - differ) / 24.0)
        }
        _ => (distance, 1.0 / (1.0 + distance * distance)),
    }
}

fn is_similar(field: &str, alike: f64, least: f64) -> bool {
    match field {
        "near" | "bits" | "inside.deep" => alike <= least,
        _ => alike >= least,
    }
}

fn value_at<'d>(document: &'d Value, field: &str) -> &'d Value {
    field.split('.').fold(document, |value, key| &value[key])
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    let list = value.as_array()?;
    Some(list.iter().map(|number| number.as_f64().unwrap()).collect())
}

/// Draws documents, each of which lacks some of the vectors.
fn documents(num_docs: u64, seed: u64) -> Vec<Value> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let documents = (0..num_docs).map(|n| {
        let group = format!("g{}", random.random_range(0..5));
        let words = format!("all w{}", random.random_range(0..3));
        let mut document = json!({"key": format!("k{n}"), "n": n, "group": group, "words": words});
        for (field, len) in FIELDS {
            let of_field = vector(field, len, &mut random);
            if random.random_bool(0.2) {
                continue;
            }
            match field.split_once('.') {
                Some((object, key)) => document[object] = json!({ key: of_field }),
                None => document[field] = json!(of_field),
            }
        }
        document
    });
    documents.collect()
}

fn built(documents: &[Value], docs_per_split: u64) -> TestIndex {
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    TestIndex::build(CONFIG, &lines, docs_per_split).unwrap()
}

fn search(searcher: &Searcher, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/vec/_search", "", body);
    assert_eq!(status, 200, "{body}: {answer}");
    assert_eq!(answer["_shards"]["failed"], json!(0), "{body}: {answer}");
    answer
}

/// Returns the numbers of the hits, with their scores.
fn hits(answer: &Value) -> Vec<(u64, f64)> {
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| {
        let n = hit["_source"]["n"].as_u64().unwrap();
        (n, hit["_score"].as_f64().unwrap())
    });
    hits.collect()
}

fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-5 * (1.0 + one.abs().max(other.abs()))
}

/// A drawn condition.
struct Asked {
    field: &'static str,
    vector: Vec<f64>,
    k: usize,
    filter: Option<Filter>,
    similarity: Option<f64>,
}

#[derive(Clone, Copy)]
enum Filter {
    Group(u64),
    Below(u64),
    Word(u64),
}

impl Filter {
    fn draw(random: &mut ChaCha8Rng) -> Self {
        match random.random_range(0..4) {
            0 => Self::Group(random.random_range(0..6)),
            1 => Self::Word(random.random_range(0..3)),
            2 => Self::Below(random.random_range(0..20)),
            _ => Self::Below(random.random_range(0..400)),
        }
    }

    fn json(self) -> Value {
        match self {
            Self::Group(group) => json!({"term": {"group": format!("g{group}")}}),
            Self::Below(n) => json!([{"range": {"n": {"lt": n}}}, {"match_all": {}}]),
            Self::Word(word) => json!({"match": {"words": format!("w{word}")}}),
        }
    }

    fn takes(self, document: &Value) -> bool {
        match self {
            Self::Group(group) => document["group"] == format!("g{group}"),
            Self::Below(n) => document["n"].as_u64().unwrap() < n,
            Self::Word(word) => {
                let words = document["words"].as_str().unwrap();
                words.ends_with(&format!(" w{word}"))
            }
        }
    }
}

impl Asked {
    fn draw(random: &mut ChaCha8Rng) -> Self {
        let (field, len) = FIELDS[random.random_range(0..FIELDS.len())];
        let vector = vector(field, len, random);
        let filter = random.random_bool(0.6).then(|| Filter::draw(random));
        let similarity = random.random_bool(0.3).then_some(match field {
            "bits" => 10.0,
            "dots" => 1_000.0,
            "near" | "inside.deep" => 0.9,
            _ => 0.2,
        });
        Self {
            field,
            vector,
            k: random.random_range(1..40),
            filter,
            similarity,
        }
    }

    fn json(&self) -> Value {
        let mut knn = json!({
            "field": self.field, "query_vector": self.vector, "k": self.k, "num_candidates": 50,
        });
        if let Some(filter) = self.filter {
            knn["filter"] = filter.json();
        }
        if let Some(similarity) = self.similarity {
            knn["similarity"] = json!(similarity);
        }
        knn
    }

    /// Returns the scores of all documents that count, by their numbers.
    fn all(&self, documents: &[Value]) -> BTreeMap<u64, f64> {
        let taken = documents
            .iter()
            .filter(|document| self.filter.is_none_or(|filter| filter.takes(document)));
        let scored = taken.filter_map(|document| {
            let vector = numbers(value_at(document, self.field))?;
            let (alike, score) = scored(self.field, &self.vector, &vector);
            let is_similar = self
                .similarity
                .is_none_or(|least| is_similar(self.field, alike, least));
            is_similar.then(|| (document["n"].as_u64().unwrap(), score))
        });
        scored.collect()
    }

    /// Checks that hits are the nearest, best first. Among documents with the same score, any will do.
    fn check(&self, documents: &[Value], hits: &[(u64, f64)]) {
        let all = self.all(documents);
        let mut best: Vec<f64> = all.values().copied().collect();
        best.sort_by(|one, other| other.total_cmp(one));
        best.truncate(self.k);
        let asked = self.json();
        assert_eq!(hits.len(), best.len(), "{asked}: {hits:?}");
        for ((n, score), expected) in hits.iter().zip(best) {
            let own = all.get(n).unwrap_or_else(|| panic!("{asked}: {n}"));
            assert!(
                is_close(*own, *score),
                "{asked}: {n} has {own}, not {score}"
            );
            assert!(
                is_close(*score, expected),
                "{asked}: {n} {score}, not {expected}"
            );
        }
    }
}

/// Returns the index in several forms, which all have the documents that are not deleted.
fn forms(documents: &[Value]) -> (Vec<(&'static str, TestIndex)>, Vec<Value>) {
    let delete = json!({"query": "group:g4 OR n:[30 TO 44]"});
    let is_left = |document: &&Value| {
        let n = document["n"].as_u64().unwrap();
        document["group"] != "g4" && !(30..=44).contains(&n)
    };
    let one = built(documents, 10_000).delete(&delete).unwrap().0;
    let several = built(documents, 47).delete(&delete).unwrap().0;
    let merged = built(documents, 47);
    let parts = merged.entries().unwrap();
    let parts = parts.chunks(4).map(|part| {
        let split = merged.merge(CONFIG, part).unwrap().unwrap();
        split.unwrap()
    });
    let merged = TestIndex::of_splits(CONFIG, &parts.collect::<Vec<_>>(), &merged).unwrap();
    let merged = merged.delete(&delete).unwrap().0;
    let rewritten = several.merge_deleted().unwrap();
    let forms = vec![
        ("one split", one),
        ("several", several),
        ("merged", merged),
        ("without deleted documents", rewritten),
    ];
    (forms, documents.iter().filter(is_left).cloned().collect())
}

#[test]
fn the_nearest_are_those_of_a_scan() {
    let documents = documents(400, 3);
    let (forms, left) = forms(&documents);
    for (form, index) in &forms {
        let searcher = named(index, "vec");
        let mut random = ChaCha8Rng::seed_from_u64(17);
        for _ in 0..150 {
            let asked = Asked::draw(&mut random);
            let body = match random.random_bool(0.5) {
                true => json!({"knn": asked.json(), "size": 100}),
                false => json!({"query": {"knn": asked.json()}, "size": 100}),
            };
            let answer = search(&searcher, &body);
            let hits = hits(&answer);
            println!("{form}: {body}");
            asked.check(&left, &hits);
            assert_eq!(
                answer["hits"]["total"]["value"],
                json!(hits.len()),
                "{body}"
            );
        }
    }
}

#[test]
fn scores_of_vectors_and_words_are_added_and_counted_together() {
    let documents = documents(300, 5);
    let searcher = named(&built(&documents, 60), "vec");
    let mut random = ChaCha8Rng::seed_from_u64(23);
    for _ in 0..40 {
        let (one, other) = (Asked::draw(&mut random), Asked::draw(&mut random));
        let nearest = |asked: &Asked| -> BTreeMap<u64, f64> {
            let body = json!({"knn": asked.json(), "size": 100});
            hits(&search(&searcher, &body)).into_iter().collect()
        };
        let (ones, others) = (nearest(&one), nearest(&other));
        let words = json!({"constant_score": {"filter": {"term": {"group": "g1"}}, "boost": 0.25}});
        let mut boosted = other.json();
        boosted["boost"] = json!(0.5);
        let body = json!({
            "query": words, "knn": [one.json(), boosted], "size": 300,
            "aggs": {"groups": {"terms": {"field": "group"}}, "sum": {"sum": {"field": "n"}}},
        });
        let answer = search(&searcher, &body);
        let mut expected: BTreeMap<u64, f64> = BTreeMap::new();
        for document in &documents {
            let n = document["n"].as_u64().unwrap();
            let of_words = (document["group"] == "g1").then_some(0.25);
            let parts = [
                of_words,
                ones.get(&n).copied(),
                others.get(&n).map(|score| score * 0.5),
            ];
            if parts.iter().any(Option::is_some) {
                expected.insert(n, parts.into_iter().flatten().sum());
            }
        }
        let found = hits(&answer);
        assert_eq!(found.len(), expected.len(), "{body}");
        assert!(
            found.windows(2).all(|pair| pair[0].1 >= pair[1].1),
            "{body}"
        );
        for (n, score) in &found {
            assert!(is_close(*score, expected[n]), "{body}: {n}");
        }
        let sum: u64 = expected.keys().sum();
        assert_eq!(
            answer["aggregations"]["sum"]["value"],
            json!(sum as f64),
            "{body}"
        );
        let in_first = expected
            .keys()
            .filter(|n| documents[**n as usize]["group"] == "g1")
            .count();
        let buckets = answer["aggregations"]["groups"]["buckets"]
            .as_array()
            .unwrap();
        let first = buckets.iter().find(|bucket| bucket["key"] == "g1").unwrap();
        assert_eq!(first["doc_count"], json!(in_first), "{body}");
    }
}

#[test]
fn a_condition_stands_anywhere_in_a_query_and_pages_are_those_of_one_answer() {
    let documents = documents(200, 7);
    let searcher = named(&built(&documents, 50), "vec");
    let mut random = ChaCha8Rng::seed_from_u64(29);
    let query_vector = vector("cosine", 8, &mut random);
    let knn =
        json!({"field": "cosine", "query_vector": query_vector, "k": 20, "num_candidates": 40});
    let all = hits(&search(&searcher, &json!({"knn": knn, "size": 50})));
    assert_eq!(all.len(), 20);
    let mut paged = Vec::new();
    for from in [0, 7, 14] {
        let body = json!({"knn": knn, "from": from, "size": 7});
        paged.extend(hits(&search(&searcher, &body)));
    }
    assert_eq!(paged, all);
    let numbers = |query: Value| -> Vec<u64> {
        let found = hits(&search(&searcher, &json!({"query": query, "size": 200})));
        let mut numbers: Vec<u64> = found.into_iter().map(|(n, _)| n).collect();
        numbers.sort_unstable();
        numbers
    };
    let mut nearest: Vec<u64> = all.iter().map(|(n, _)| *n).collect();
    nearest.sort_unstable();
    let in_group = |n: &u64| documents[*n as usize]["group"] == "g1";
    let condition = json!({ "knn": knn });
    // Ranked first, filtered then: a filter inside of the condition would find 20.
    let both: Vec<u64> = nearest.iter().copied().filter(|n| in_group(n)).collect();
    let query = json!({"bool": {"must": condition, "filter": {"term": {"group": "g1"}}}});
    assert_eq!(numbers(query), both);
    let others: Vec<u64> = (0..200).filter(|n| !nearest.contains(n)).collect();
    assert_eq!(numbers(json!({"bool": {"must_not": condition}})), others);
    let constant = json!({"constant_score": {"filter": condition}});
    assert_eq!(numbers(constant), nearest);
    let retriever = json!({"retriever": {"knn": knn}, "size": 50});
    assert_eq!(hits(&search(&searcher, &retriever)), all);
    let count = call(
        &searcher,
        "POST",
        "/vec/_count",
        "",
        &json!({"query": condition}),
    );
    assert_eq!(count.1["count"], json!(20));
    // Without k, as many as candidates; without these, one and a half times as many as hits.
    let plain = json!({"field": "cosine", "query_vector": knn["query_vector"]});
    for (num_candidates, expected) in [(json!(33), 33), (Value::Null, 15)] {
        let mut plain = plain.clone();
        plain["num_candidates"] = num_candidates;
        let answer = search(&searcher, &json!({"query": {"knn": plain}}));
        assert_eq!(answer["hits"]["total"]["value"], json!(expected));
    }
}

/// Adds up the shares of rankings.
fn fused(rankings: &[Vec<u64>], window: usize, constant: f64) -> BTreeMap<u64, f64> {
    let mut scores: BTreeMap<u64, f64> = BTreeMap::new();
    for ranking in rankings {
        for (rank, n) in ranking.iter().take(window).enumerate() {
            *scores.entry(*n).or_default() += 1.0 / (constant + rank as f64 + 1.0);
        }
    }
    scores
}

#[test]
fn rankings_of_words_and_vectors_become_one() {
    let documents = documents(250, 11);
    let searcher = named(&built(&documents, 40), "vec");
    let mut random = ChaCha8Rng::seed_from_u64(37);
    let by_number = |group: &str| {
        json!({"function_score": {
            "query": {"term": {"group": group}}, "field_value_factor": {"field": "n"}, "boost_mode": "replace",
        }})
    };
    for window in [10usize, 25] {
        // Vectors of floats have no equal scores.
        let query_vector = vector("cosine", 8, &mut random);
        let knn =
            json!({"field": "cosine", "query_vector": query_vector, "k": 30, "num_candidates": 60});
        let words = by_number("g2");
        let rankings = [json!({ "knn": knn }), words.clone()].map(|query| {
            let found = hits(&search(&searcher, &json!({"query": query, "size": 250})));
            found.into_iter().map(|(n, _)| n).collect::<Vec<u64>>()
        });
        let expected = fused(&rankings, window, 20.0);
        let body = json!({
            "retriever": {"rrf": {
                "retrievers": [{"knn": knn}, {"standard": {"query": words}}],
                "rank_constant": 20, "rank_window_size": window,
            }},
            "size": window,
            "aggs": {"sum": {"sum": {"field": "n"}}},
        });
        let answer = search(&searcher, &body);
        let mut best: Vec<f64> = expected.values().copied().collect();
        best.sort_by(|one, other| other.total_cmp(one));
        let found = hits(&answer);
        assert_eq!(found.len(), window);
        for ((n, score), best) in found.iter().zip(best) {
            assert!(
                is_close(*score, expected[n]) && is_close(*score, best),
                "{n}: {score}"
            );
        }
        // All documents of both queries are counted and aggregated, as in Elasticsearch.
        let all: std::collections::BTreeSet<u64> = rankings.iter().flatten().copied().collect();
        assert_eq!(answer["hits"]["total"]["value"], json!(all.len()));
        let sum: u64 = all.iter().sum();
        assert_eq!(answer["aggregations"]["sum"]["value"], json!(sum as f64));
    }
    let one = json!({"retriever": {"rrf": {"retrievers": [{"standard": {}}]}}});
    let (status, answer) = call(&searcher, "POST", "/vec/_search", "", &one);
    assert_eq!(status, 400, "{answer}");
    assert!(answer.to_string().contains("2 to 16"), "{answer}");
}

#[test]
fn a_vector_is_shown_as_it_was_sent_and_exists() {
    let sent = [0.1, 0.250, -3.0e-1, 4.0, 0.0, 1e-7, 2.5, -1.0];
    let base64 = "zczMPQAAgD6amZm+AACAQAAAAACVv9YzAAAgQAAAgL8=";
    let lines = [
        json!({"key": "a", "n": 1, "cosine": sent}),
        json!({"key": "b", "n": 2, "cosine": base64}),
        json!({"key": "c", "n": 3, "cosine": null, "bytes": "0102030405ff"}),
        json!({"key": "d", "n": 4, "kept": [3, 4]}),
    ];
    let index = built(&lines, 10);
    let searcher = named(&index, "vec");
    let knn = json!({"field": "cosine", "query_vector": base64, "k": 5, "num_candidates": 5});
    let answer = search(&searcher, &json!({"knn": knn}));
    let shown = answer["hits"]["hits"].as_array().unwrap();
    let mut vectors: Vec<String> = shown
        .iter()
        .map(|hit| hit["_source"]["cosine"].to_string())
        .collect();
    vectors.sort();
    assert_eq!(
        vectors,
        [json!(base64).to_string(), json!(sent).to_string()]
    );
    assert!(
        shown
            .iter()
            .all(|hit| is_close(hit["_score"].as_f64().unwrap(), 1.0))
    );
    for (field, expected) in [("cosine", vec![1, 2]), ("bytes", vec![3]), ("near", vec![])] {
        let answer = search(&searcher, &json!({"query": {"exists": {"field": field}}}));
        let mut found: Vec<u64> = hits(&answer).into_iter().map(|(n, _)| n).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{field}");
    }
    let bytes = json!({"field": "bytes", "query_vector": [1, 2, 3, 4, 5, -1], "k": 1});
    assert_eq!(hits(&search(&searcher, &json!({"knn": bytes}))), [(3, 1.0)]);
}

#[test]
fn what_cannot_be_answered_is_refused_by_name() {
    let searcher = named(&built(&documents(30, 2), 10), "vec");
    let refused = |body: Value, problem: &str| {
        let (status, answer) = call(&searcher, "POST", "/vec/_search", "", &body);
        assert_eq!(status, 400, "{body}: {answer}");
        assert!(answer.to_string().contains(problem), "{body}: {answer}");
    };
    let knn = |change: Value| {
        let mut knn = json!({"field": "near", "query_vector": [1, 2, 3], "k": 3});
        for (key, value) in change.as_object().unwrap() {
            knn[key] = value.clone();
        }
        json!({ "knn": knn })
    };
    refused(knn(json!({"field": "none"})), "does not exist");
    refused(knn(json!({"field": "words"})), "is no dense_vector");
    refused(
        knn(json!({"field": "kept", "query_vector": [1, 2]})),
        "is not indexed",
    );
    refused(
        knn(json!({"query_vector": [1, 2]})),
        "a vector of 2 dimensions, but the field has 3",
    );
    refused(
        knn(json!({"query_vector": [1, 2, "3"]})),
        "element 2 of the array is no number",
    );
    refused(
        knn(json!({"query_vector": [1, 2, 1e39]})),
        "number 2 of the vector is not finite",
    );
    refused(
        knn(json!({"query_vector": null})),
        "query_vector is missing",
    );
    let zeros = json!({"field": "cosine", "query_vector": [0, 0, 0, 0, 0, 0, 0, 0]});
    refused(knn(zeros), "a vector of zeros has no direction");
    let long = json!({"field": "unit", "query_vector": [1, 1, 1, 1, 1]});
    refused(
        knn(long),
        "the similarity dot_product is for vectors of length 1",
    );
    refused(knn(json!({"k": 0})), "[k] must be greater than 0");
    refused(
        knn(json!({"num_candidates": 2})),
        "[num_candidates] cannot be less than [k]",
    );
    refused(
        knn(json!({"num_candidates": 10_001})),
        "[num_candidates] cannot exceed [10000]",
    );
    refused(
        knn(json!({"query_vector_builder": {}})),
        "query_vector_builder is not supported",
    );
    refused(
        knn(json!({"inner_hits": {}})),
        "inner_hits is not supported",
    );
    refused(
        knn(json!({"filter": knn(json!({}))})),
        "a filter can be neither knn",
    );
    refused(knn(json!({"boost": -1})), "boost");
    let aggs = json!({"a": {"filter": knn(json!({}))}});
    refused(json!({"aggs": aggs}), "[knn] is for the query only");
    let score = json!({"query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "cosineSimilarity"}}}});
    refused(score, "script_score");
    refused(json!({"query": {"term": {"near": 1}}}), "it has vectors");
    refused(json!({"query": {"range": {"near": {"gt": 1}}}}), "vectors");
    refused(json!({"sort": ["near"]}), "near");
    refused(json!({"aggs": {"a": {"terms": {"field": "near"}}}}), "near");
}

#[test]
fn documents_without_a_right_vector_are_refused() {
    let config = canter_doc_mapper::IndexConfig::from_yaml(CONFIG, |_| None).unwrap();
    let mapper = canter_doc_mapper::DocMapper::new(&config).unwrap();
    for (value, problem) in [
        (
            json!([1, 2]),
            "a vector of 2 dimensions, but the field has 3",
        ),
        (json!([1, 2, 3, 4]), "a vector of 4 dimensions"),
        (json!([1, null, 3]), "element 1 of the array is no number"),
        (json!([[1, 2, 3]]), "element 0 of the array is no number"),
        (json!([1, 2, 1e300]), "number 2 of the vector is not finite"),
        (json!({"a": 1}), "an array of numbers, and not an object"),
        (json!(5), "an array of numbers, and not a number"),
    ] {
        let lines = [
            json!({"key": "a", "n": 1, "near": value}),
            json!({"key": "b", "n": 2}),
        ];
        let error = mapper
            .parse_doc(lines[0].to_string().as_bytes())
            .unwrap_err();
        assert!(error.to_string().contains(problem), "{value}: {error}");
        let index = built(&lines, 10);
        assert_eq!(index.report.rejects_by_reason["wrong_type"], 1, "{value}");
        assert_eq!(index.report.num_ingested_docs, 1, "{value}");
    }
    for (document, problem) in [
        (
            json!({"unit": [1, 1, 0, 0, 0]}),
            "is for vectors of length 1",
        ),
        (
            json!({"cosine": [0, 0, 0, 0, 0, 0, 0, 0]}),
            "has no direction",
        ),
        (
            json!({"bytes": [1, 2, 3, 4, 5, 128]}),
            "a whole number from -128 to 127",
        ),
        (
            json!({"bytes": [1, 2, 3, 4, 5, 0.5]}),
            "a whole number from -128 to 127",
        ),
        (
            json!({"bits": [1, 2, 3, 4]}),
            "a vector of 32 dimensions, but the field has 24",
        ),
        (json!({"kept": [1, 2, 3]}), "a vector of 3 dimensions"),
    ] {
        let error = mapper
            .parse_doc(document.to_string().as_bytes())
            .unwrap_err();
        assert!(error.to_string().contains(problem), "{document}: {error}");
    }
    let coerced = CONFIG.replace("  mode: dynamic", "  mode: dynamic\n  coerce: true");
    let config = canter_doc_mapper::IndexConfig::from_yaml(&coerced, |_| None).unwrap();
    let mapper = canter_doc_mapper::DocMapper::new(&config).unwrap();
    let twice = json!({"inside": {"deep": [1, 2]}, "inside.deep": [1, 2]}).to_string();
    let error = mapper.parse_doc(twice.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("another vector"), "{error}");
}

/// Draws vectors of a mixture of clusters.
fn mixture(num: usize, dims: usize, random: &mut ChaCha8Rng) -> Vec<Vec<f64>> {
    let draw = |random: &mut ChaCha8Rng, of: f64| -> Vec<f64> {
        let normal =
            |random: &mut ChaCha8Rng| (0..6).map(|_| random.random_range(-1.0..1.0)).sum::<f64>();
        (0..dims).map(|_| normal(random) * of).collect()
    };
    let centers: Vec<Vec<f64>> = (0..200).map(|_| draw(random, 1.0)).collect();
    let vectors = (0..num).map(|_| {
        let center = &centers[random.random_range(0..centers.len())];
        let off = draw(random, 0.4);
        let rounded = |number: f64| (number * 1e4).round() / 1e4;
        center
            .iter()
            .zip(off)
            .map(|(center, off)| rounded(center + off))
            .collect()
    });
    vectors.collect()
}

#[test]
fn most_of_the_nearest_are_found_among_clusters() {
    const DIMS: usize = 16;
    const CONFIG: &str = "
version: 0.9
index_id: vec
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: v, type: dense_vector, dims: 16, similarity: l2_norm}
";
    let mut random = ChaCha8Rng::seed_from_u64(31);
    let mut vectors = mixture(45_040, DIMS, &mut random);
    let queries = vectors.split_off(45_000);
    let lines = vectors.iter().enumerate();
    let lines: Vec<String> = lines
        .map(|(n, v)| json!({"n": n, "v": v}).to_string())
        .collect();
    let index = TestIndex::build(CONFIG, &lines, 9_000).unwrap();
    let entries = index.entries().unwrap();
    let merged = index.merge(CONFIG, &entries).unwrap().unwrap().unwrap();
    let merged = TestIndex::of_splits(CONFIG, &[merged], &index).unwrap();
    let (deleted, _) = index.delete(&json!({"query": "n:[0 TO 19999]"})).unwrap();
    // Splits whose vectors have no codes.
    let tiny = TestIndex::build_of(CONFIG, &[&[("few", &lines[..30_000])]], 300).unwrap();
    for (form, index, from, filter) in [
        ("splits", &index, 0, None),
        ("merged", &merged, 0, None),
        ("deleted", &deleted, 20_000, None),
        ("tiny splits", &tiny, 0, None),
        ("a tenth", &index, 40_500, Some(40_500)),
        ("few", &merged, 44_980, Some(44_980)),
    ] {
        let searcher = named(index, "vec");
        let mut num_found = 0;
        for query in &queries {
            let mut knn =
                json!({"field": "v", "query_vector": query, "k": 10, "num_candidates": 100});
            if let Some(from) = filter {
                knn["filter"] = json!({"range": {"n": {"gte": from}}});
            }
            let found = hits(&search(&searcher, &json!({"knn": knn})));
            let to = if form == "tiny splits" {
                30_000
            } else {
                45_000
            };
            let mut all: Vec<(f64, u64)> = (from..to)
                .map(|n| (scored("near", query, &vectors[n]).1, n as u64))
                .collect();
            all.sort_by(|one, other| other.0.total_cmp(&one.0));
            all.truncate(10);
            assert_eq!(found.len(), 10, "{form}");
            for (n, score) in found {
                assert!(n as usize >= from, "{form}: {n}");
                let own = scored("near", query, &vectors[n as usize]).1;
                assert!(is_close(own, score), "{form}: {n} has {own}, not {score}");
                num_found += usize::from(all.iter().any(|(_, best)| *best == n));
            }
        }
        let recall = num_found as f64 / (10 * queries.len()) as f64;
        println!("{form}: {recall}");
        assert!(
            recall
                >= if matches!(form, "few" | "tiny splits") {
                    1.0
                } else {
                    0.95
                },
            "{form}: {recall}"
        );
    }
}
