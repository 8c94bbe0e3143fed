//! Searches that consist of several: hits of groups, second queries, scores of named clauses, lookups of values, factors of
//! indexes, suggested terms; and scrolls and points in time, of which the host keeps the state.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_runtime::Searcher;
use canter_runtime::cache::EntryCache;
use canter_runtime::engine::NativeEngine;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use crate::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: shop
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: kind, type: text, tokenizer: raw, fast: true}
    - {name: size, type: i64, fast: true}
    - {name: text, type: text, fieldnorms: true, record: position, stored: true}
    - {name: wanted, type: array<text>, tokenizer: raw, fast: true}
";

/// Kind, size and text of each document; its number is its place.
const DOCUMENTS: [(&str, i64, &str); 9] = [
    ("tea", 3, "green leaves from a high garden"),
    ("tea", 1, "black leaves"),
    ("tea", 2, "green green powder"),
    ("cup", 9, "a green cup"),
    ("cup", 7, "a white cup for green leaves"),
    ("pot", 5, "an iron pot"),
    ("pot", 6, "a glass pot with leaves"),
    ("pot", 4, "a garden pot"),
    ("", 8, "nothing green of a kind"),
];

fn index() -> TestIndex {
    let documents = DOCUMENTS.iter().enumerate().map(|(n, (kind, size, text))| {
        let mut document = json!({"n": n, "size": size, "text": text});
        if !kind.is_empty() {
            document["kind"] = (*kind).into();
        }
        if n == 0 {
            document["wanted"] = json!(["cup", "pot"]);
        }
        document.to_string()
    });
    let documents: Vec<String> = documents.collect();
    TestIndex::build(CONFIG, &documents, 2).unwrap()
}

fn search(searcher: &Searcher, query: &str, body: &Value) -> Value {
    let (status, answer) = call(searcher, "POST", "/shop/_search", query, body);
    assert_eq!(status, 200, "{body}: {answer}");
    answer
}

fn refused(searcher: &Searcher, query: &str, body: &Value, part: &str) {
    let (status, answer) = call(searcher, "POST", "/shop/_search", query, body);
    assert_eq!(status, 400, "{body}: {answer}");
    let reason = answer["error"]["root_cause"][0]["reason"].as_str().unwrap();
    assert!(reason.contains(part), "{body}: {reason}");
}

fn numbers(hits: &Value) -> Vec<u64> {
    let hits = hits["hits"]["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect()
}

/// Returns the documents with a word, by kind, from the smallest.
fn groups(word: &str) -> BTreeMap<&'static str, Vec<u64>> {
    let mut groups: BTreeMap<&str, Vec<(i64, u64)>> = BTreeMap::new();
    for (n, (kind, size, text)) in DOCUMENTS.iter().enumerate() {
        if text.split(' ').any(|own| own == word) {
            groups.entry(kind).or_default().push((*size, n as u64));
        }
    }
    let sorted = groups.into_iter().map(|(kind, mut group)| {
        group.sort_unstable();
        (kind, group.into_iter().map(|(_, n)| n).collect())
    });
    sorted.collect()
}

#[test]
fn hits_of_each_group_are_shown_beside_its_first() {
    let searcher = named(&index(), "shop");
    for word in ["green", "leaves", "pot"] {
        let body = json!({
            "query": {"match": {"text": word}}, "sort": [{"size": "desc"}],
            "collapse": {"field": "kind", "max_concurrent_group_searches": 2, "inner_hits": [
                {"name": "smallest", "size": 2, "sort": [{"size": "asc"}], "version": true},
                {"name": "second", "size": 1, "from": 1, "sort": [{"size": "asc"}], "_source": ["n"]},
            ]},
        });
        let answer = search(&searcher, "rest_total_hits_as_int=true", &body);
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let groups = groups(word);
        assert_eq!(hits.len(), groups.len(), "{answer}");
        for hit in hits {
            let kind = hit["_source"]["kind"].as_str().unwrap_or_default();
            let expected = &groups[kind];
            assert_eq!(hit["_source"]["n"], *expected.last().unwrap());
            let smallest = &hit["inner_hits"]["smallest"];
            assert_eq!(smallest["hits"]["total"], expected.len());
            assert_eq!(numbers(smallest), expected[..expected.len().min(2)]);
            assert!(smallest["hits"]["hits"][0]["_version"].is_u64());
            let second = numbers(&hit["inner_hits"]["second"]);
            assert_eq!(
                second,
                expected.get(1).copied().into_iter().collect::<Vec<_>>()
            );
        }
    }
    let all = json!({"match_all": {}});
    let of =
        |inner: Value| json!({"query": all, "collapse": {"field": "kind", "inner_hits": inner}});
    refused(
        &searcher,
        "",
        &of(json!([{}, {}])),
        "already contains an entry",
    );
    refused(
        &searcher,
        "",
        &of(json!({"aggs": {}})),
        "\"aggs\" is not known",
    );
    refused(
        &searcher,
        "scroll=1m",
        &of(json!({})),
        "cannot use `collapse` in a scroll context",
    );
}

#[test]
fn a_second_query_orders_the_best_hits_anew() {
    let searcher = named(&index(), "shop");
    let first = json!({"query": {"match": {"text": "green"}}, "size": 9});
    let before = search(&searcher, "", &first);
    let scores: BTreeMap<u64, f64> = numbers(&before)
        .into_iter()
        .zip(before["hits"]["hits"].as_array().unwrap())
        .map(|(n, hit)| (n, hit["_score"].as_f64().unwrap()))
        .collect();
    let best = numbers(&before);
    let second = json!({"constant_score": {"filter": {"term": {"kind": "cup"}}, "boost": 2.0}});
    for (mode, window, from, size) in [
        ("total", 9, 0, 9),
        ("multiply", 9, 0, 9),
        ("max", 3, 0, 9),
        ("min", 9, 1, 2),
        ("avg", 2, 0, 3),
    ] {
        let rescore = json!({"window_size": window, "query": {
            "rescore_query": second, "query_weight": 0.5, "rescore_query_weight": 3.0, "score_mode": mode,
        }});
        let body = json!({"query": first["query"], "from": from, "size": size, "rescore": rescore});
        let mut expected: Vec<(f64, u64)> = best
            .iter()
            .enumerate()
            .take(window.max(from + size))
            .map(|(place, n)| {
                let own = scores[n] * 0.5;
                let is_cup = place < window && DOCUMENTS[*n as usize].0 == "cup";
                let score = match (is_cup, mode) {
                    (false, _) => own,
                    (true, "total") => own + 6.0,
                    (true, "multiply") => own * 6.0,
                    (true, "max") => own.max(6.0),
                    (true, "min") => own.min(6.0),
                    _ => f64::midpoint(own, 6.0),
                };
                (score, *n)
            })
            .collect();
        expected.sort_by(|left, right| right.0.total_cmp(&left.0));
        let expected: Vec<_> = expected.into_iter().skip(from).take(size).collect();
        let answer = search(&searcher, "", &body);
        let wanted: Vec<u64> = expected.iter().map(|(_, n)| *n).collect();
        assert_eq!(numbers(&answer), wanted, "{body}: {answer}");
        let hits = answer["hits"]["hits"].as_array().unwrap();
        for (hit, (score, _)) in hits.iter().zip(&expected) {
            assert!(
                (hit["_score"].as_f64().unwrap() - score).abs() < 1e-5,
                "{body}: {hit}"
            );
        }
        assert_eq!(answer["hits"]["max_score"], hits[0]["_score"]);
        assert_eq!(answer["hits"]["total"], before["hits"]["total"]);
    }
    let rescore = json!({"query": {"rescore_query": {"match_all": {}}}});
    let sorted = json!({"rescore": rescore, "sort": ["size"]});
    refused(
        &searcher,
        "",
        &sorted,
        "Cannot use [sort] option in conjunction with [rescore]",
    );
    let collapsed = json!({"rescore": rescore, "collapse": {"field": "kind"}});
    refused(
        &searcher,
        "",
        &collapsed,
        "cannot use `collapse` in conjunction with `rescore`",
    );
    let wide = json!({"rescore": {"window_size": 10_001, "query": rescore["query"]}});
    refused(
        &searcher,
        "",
        &wide,
        "Rescore window [10001] is too large. It must be less than [10000].",
    );
}

#[test]
fn named_clauses_show_their_scores() {
    let searcher = named(&index(), "shop");
    let clause = |name: &str, word: &str, boost: f64| json!({"constant_score": {"filter": {"match": {"text": word}}, "boost": boost, "_name": name}});
    let body = json!({"size": 9, "query": {"bool": {"should": [clause("g", "green", 2.0), clause("l", "leaves", 10.0)]}}});
    let answer = search(&searcher, "include_named_queries_score=true", &body);
    let hits = answer["hits"]["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 7);
    for hit in hits {
        let text = hit["_source"]["text"].as_str().unwrap();
        let mut expected = json!({});
        if text.contains("green") {
            expected["g"] = 2.0.into();
        }
        if text.contains("leaves") {
            expected["l"] = 10.0.into();
        }
        assert_eq!(hit["matched_queries"], expected, "{hit}");
    }
}

#[test]
fn values_of_another_document_are_looked_up() {
    let searcher = named(&index(), "shop");
    let id = search(&searcher, "", &json!({"query": {"term": {"n": 0}}}));
    let id = &id["hits"]["hits"][0]["_id"];
    let lookup = |path: &str| json!({"index": "shop", "id": id, "path": path});
    for (clause, expected) in [
        (
            json!({"terms": {"kind": lookup("wanted")}}),
            vec![3, 4, 5, 6, 7],
        ),
        (json!({"terms": {"kind": lookup("kind")}}), vec![0, 1, 2]),
        (json!({"terms": {"kind": lookup("absent")}}), vec![]),
        (
            json!({"bool": {"must_not": {"terms": {"kind": lookup("wanted")}}}}),
            vec![0, 1, 2, 8],
        ),
    ] {
        let body = json!({"query": clause, "sort": ["n"], "size": 9});
        assert_eq!(numbers(&search(&searcher, "", &body)), expected, "{clause}");
    }
    let absent = json!({"query": {"terms": {"kind": {"index": "absent", "id": "1", "path": "a"}}}});
    let (status, answer) = call(&searcher, "POST", "/shop/_search", "", &absent);
    assert_eq!(
        (status, &answer["error"]["reason"]),
        (404, &json!("no such index [absent]"))
    );
    let wrong = json!({"query": {"terms": {"kind": {"index": "shop", "id": "1"}}}});
    refused(&searcher, "", &wrong, "path is missing");
}

#[test]
fn factors_of_indexes_multiply_scores() {
    let builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    let (one, other) = (index(), index());
    let builder = builder
        .index_from("a_1", Arc::new(one.fetcher()), "a_1")
        .unwrap();
    let builder = builder
        .index_from("b_2", Arc::new(other.fetcher()), "b_2")
        .unwrap();
    let searcher = builder.build().unwrap();
    for (boosts, first) in [
        (json!([{"a_1": 2.0}]), "a_1"),
        (json!([{"b*": 2.0}, {"b_2": 0.5}]), "b_2"),
        (json!({"a_1": 1.0, "b_2": 3.0}), "b_2"),
    ] {
        let body = json!({"indices_boost": boosts, "size": 18, "query": {"term": {"kind": "tea"}}});
        let (status, answer) = call(&searcher, "POST", "/_search", "", &body);
        assert_eq!(status, 200, "{answer}");
        let hits = answer["hits"]["hits"].as_array().unwrap();
        let indexes: Vec<&str> = hits
            .iter()
            .map(|hit| hit["_index"].as_str().unwrap())
            .collect();
        assert_eq!(indexes.len(), 6);
        assert!(
            indexes[..3].iter().all(|index| *index == first),
            "{boosts}: {indexes:?}"
        );
    }
    let absent = json!({"indices_boost": [{"c": 2.0}]});
    let (status, _) = call(&searcher, "POST", "/_search", "", &absent);
    assert_eq!(status, 404);
    let (status, _) = call(
        &searcher,
        "POST",
        "/_search",
        "ignore_unavailable=true",
        &absent,
    );
    assert_eq!(status, 200);
}

#[test]
fn terms_near_words_are_suggested_from_all_splits() {
    let searcher = named(&index(), "shop");
    let suggest = |text: &str, term: Value| {
        let body = json!({"size": 0, "suggest": {"s": {"text": text, "term": term}}});
        search(&searcher, "", &body)["suggest"]["s"].clone()
    };
    let found = suggest("The graen leavse", json!({"field": "text"}));
    let words: Vec<(&str, u64, u64)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let number = |key: &str| entry[key].as_u64().unwrap();
            (
                entry["text"].as_str().unwrap(),
                number("offset"),
                number("length"),
            )
        })
        .collect();
    assert_eq!(words, [("the", 0, 3), ("graen", 4, 5), ("leavse", 10, 6)]);
    assert_eq!(found[0]["options"], json!([]));
    // Five documents in four splits have the word.
    let green = json!({"text": "green", "score": 0.8, "freq": 5});
    // This word is two edits away.
    let garden = json!({"text": "garden", "score": 0.6, "freq": 2});
    assert_eq!(found[1]["options"], json!([green, garden]));
    assert_eq!(found[2]["options"][0]["text"], "leaves");
    assert_eq!(found[2]["options"][0]["freq"], 4);
    // A word that documents have needs no others.
    assert_eq!(
        suggest("green", json!({"field": "text"}))[0]["options"],
        json!([])
    );
    let typed = json!({"size": 0, "suggest": {"text": "graen", "s": {"term": {"field": "text"}}}});
    let typed = search(&searcher, "typed_keys=true", &typed);
    assert_eq!(typed["suggest"]["term#s"][0]["options"][0]["text"], "green");
    let phrase = json!({"suggest": {"s": {"text": "x", "phrase": {"field": "text"}}}});
    refused(
        &searcher,
        "",
        &phrase,
        "the suggester \"phrase\" is not supported",
    );
}

/// Returns a searcher whose host keeps state, but no data.
fn keeping() -> Searcher {
    let builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    let builder = builder
        .index_from("shop", Arc::new(index().fetcher()), "shop")
        .unwrap();
    let cache = Arc::new(EntryCache::new(16 << 20));
    builder.cache(cache).partial_results(false).build().unwrap()
}

#[test]
fn the_first_id_of_a_scroll_stands_for_it_on_all_pages() {
    let searcher = keeping();
    for sort in [json!(["_doc"]), json!([{"size": "desc"}])] {
        let first = search(&searcher, "scroll=1m", &json!({"size": 4, "sort": sort}));
        let again = search(&searcher, "scroll=1m", &json!({"size": 4, "sort": sort}));
        let next = |id: &Value| {
            let body = json!({"scroll_id": id, "scroll": "1m"});
            let (status, page) = call(&searcher, "POST", "/_search/scroll", "", &body);
            assert_eq!(status, 200, "{page}");
            page
        };
        let id = &first["_scroll_id"];
        let mut found = numbers(&first);
        let (second, third) = (next(id), next(id));
        found.extend(numbers(&second));
        found.extend(numbers(&third));
        assert_eq!(found.len(), 9);
        assert!(numbers(&next(id)).is_empty());
        found.sort_unstable();
        assert_eq!(found, (0..9).collect::<Vec<u64>>());
        // The id of a later page continues after that page, however often it is sent.
        assert_eq!(numbers(&next(&second["_scroll_id"])), numbers(&third));
        // Another scroll of the same request has a state of its own.
        assert_eq!(numbers(&next(&again["_scroll_id"])), numbers(&second));
        let clear = |status: u16, num_freed: u64| {
            let body = json!({"scroll_id": [id]});
            let (found, answer) = call(&searcher, "DELETE", "/_search/scroll", "", &body);
            assert_eq!((found, &answer["num_freed"]), (status, &json!(num_freed)));
        };
        clear(200, 1);
        clear(404, 0);
        let body = json!({"scroll_id": second["_scroll_id"]});
        assert_eq!(call(&searcher, "POST", "/_search/scroll", "", &body).0, 404);
    }
    refused(
        &searcher,
        "scroll=1m",
        &json!({"size": 0}),
        "[size] cannot be [0] in a scroll context",
    );
    let cached = "scroll=1m&request_cache=true";
    refused(
        &searcher,
        cached,
        &json!({}),
        "[request_cache] cannot be used in a scroll context",
    );
}

#[test]
fn points_in_time_are_listed_until_they_are_let_go() {
    let searcher = keeping();
    let open = || {
        let path = "/shop/_search/point_in_time";
        let (status, opened) = call(&searcher, "POST", path, "keep_alive=23h", &Value::Null);
        assert_eq!(status, 200, "{opened}");
        opened["pit_id"].clone()
    };
    let listed = || {
        let path = "/_search/point_in_time/_all";
        let (status, list) = call(&searcher, "GET", path, "", &Value::Null);
        assert_eq!(status, 200, "{list}");
        list["pits"].as_array().unwrap().clone()
    };
    let status = |id: &Value| {
        let body = json!({"pit": {"id": id}, "size": 1});
        call(&searcher, "POST", "/_search", "", &body).0
    };
    assert_eq!(listed(), Vec::<Value>::new());
    let (one, other) = (open(), open());
    assert_ne!(one, other);
    let list = listed();
    assert_eq!([&list[0]["pit_id"], &list[1]["pit_id"]], [&one, &other]);
    assert_eq!(list[0]["keep_alive"], 82_800_000);
    assert_eq!((status(&one), status(&other)), (200, 200));
    let ended = json!({"pit_id": [one]});
    let (_, answer) = call(&searcher, "DELETE", "/_search/point_in_time", "", &ended);
    assert_eq!(
        answer,
        json!({"pits": [{"successful": true, "pit_id": one}]})
    );
    assert_eq!((status(&one), status(&other)), (404, 200));
    let all = "/_search/point_in_time/_all";
    let (_, answer) = call(&searcher, "DELETE", all, "", &Value::Null);
    assert_eq!(answer["pits"][0]["pit_id"], other);
    let (_, answer) = call(&searcher, "DELETE", all, "", &Value::Null);
    assert_eq!(answer, json!({"pits": []}));
    assert_eq!(status(&other), 404);
}

#[test]
fn passages_are_cut_as_each_highlighter_does() {
    let text = "A short one. The quick brown fox went to the forest, and saw another fox! Nothing here. Foxes and a fox.";
    let document = json!({"n": 1, "text": text}).to_string();
    let index = TestIndex::build(CONFIG, &[document], 10).unwrap();
    let searcher = named(&index, "shop");
    let check = |settings: Value, expected: &[&str]| {
        let body = json!({"query": {"match": {"text": "fox"}}, "highlight": {"fields": {"text": settings}}});
        let answer = search(&searcher, "", &body);
        let found = answer["hits"]["hits"][0]["highlight"]["text"].clone();
        assert_eq!(found, json!(expected), "{settings}");
    };
    let second = "The quick brown <em>fox</em> went to the forest, and saw another <em>fox</em>!";
    let last = "Foxes and a <em>fox</em>.";
    check(json!({"fragment_size": 0}), &[second, last]);
    check(
        json!({"fragment_size": 0, "number_of_fragments": 1}),
        &[second],
    );
    check(json!({"fragment_size": 62}), &[second, last]);
    check(
        json!({"fragment_size": 0, "order": "score"}),
        &[second, last],
    );
    check(
        json!({"boundary_scanner": "word"}),
        &["<em>fox</em>", "<em>fox</em>", "<em>fox</em>"],
    );
    let whole = text.replace("fox", "<em>fox</em>");
    check(json!({"number_of_fragments": 0}), &[&whole]);
    check(
        json!({"fragment_size": 0, "max_analyzer_offset": 40}),
        &["The quick brown <em>fox</em> went to the forest, and saw another fox!"],
    );
    check(
        json!({"type": "plain", "fragment_size": 20, "max_analyzer_offset": 36}),
        &[" quick brown <em>fox</em> wen"],
    );
    let all = json!({"type": "fvh", "fragment_size": 1_000});
    check(all, &[&whole]);
    let query = json!({"prefix": {"text": "for"}});
    check(
        json!({"highlight_query": query, "fragment_size": 0}),
        &["The quick brown fox went to the <em>forest</em>, and saw another fox!"],
    );
}
