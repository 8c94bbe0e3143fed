//! Ways of indexing a field: custom tokenizers, several ways at once, fields derived from others,
//! and no index. In each case, a query finds the same documents as a plain scan.

use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{ErrorKind, Limits};
use canter_tests::{TestIndex, run, run_with};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

fn config(fields: &Value, others: &Value) -> String {
    let mut all = vec![json!({ "name": "id", "type": "u64", "fast": true })];
    all.extend(fields.as_array().unwrap().clone());
    let mut mapping = json!({ "mode": "lenient", "field_mappings": all });
    let mapping_entries = mapping.as_object_mut().unwrap();
    mapping_entries.extend(others.as_object().unwrap().clone());
    json!({ "version": "0.9", "index_id": "fields", "doc_mapping": mapping }).to_string()
}

/// Builds an index with several splits, whose documents have their positions in `id`.
fn build(fields: Value, others: Value, documents: &[Value]) -> TestIndex {
    let lines = documents.iter().enumerate().map(|(id, document)| {
        let mut document = document.clone();
        document["id"] = json!(id);
        document.to_string()
    });
    let lines: Vec<String> = lines.collect();
    TestIndex::build(&config(&fields, &others), &lines, 60).unwrap()
}

/// Returns the positions of the documents that a query finds.
#[track_caller]
fn ids(index: &TestIndex, query: &str) -> Vec<usize> {
    let request = json!({ "query": query, "max_hits": 1_000, "sort_by": "-id" });
    let answer = index.search(&request);
    let answer = answer
        .unwrap_or_else(|error| panic!("{query}: {error}"))
        .json;
    assert_eq!(answer["failed_splits"], json!([]), "{query}");
    let hits = answer["hits"].as_array().unwrap();
    let ids = hits.iter().map(|hit| hit["id"].as_u64().unwrap() as usize);
    ids.collect()
}

/// Returns the positions of the documents for which `holds` is true.
fn scan(documents: &[Value], holds: impl Fn(&Value) -> bool) -> Vec<usize> {
    let found = documents.iter().enumerate().filter(|(_, doc)| holds(doc));
    found.map(|(id, _)| id).collect()
}

const WORDS: [&str; 12] = [
    "GET",
    "get",
    "Café",
    "cafe",
    "fooBar",
    "HTTPServer2",
    "index.html",
    "/a/b",
    "x-1",
    "ÄÖ",
    "12",
    "é",
];

fn texts(seed: u64) -> Vec<Value> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut text = move || {
        let num = rng.random_range(0..5);
        let words: Vec<&str> = (0..num).map(|_| *WORDS.choose(&mut rng).unwrap()).collect();
        words.join([" ", ", "][rng.random_range(0..2)])
    };
    let mut documents: Vec<Value> = (0..200)
        .map(|nth| match nth % 5 {
            0 => json!({ "a": [text(), text()], "b": text() }),
            1 => json!({ "b": text() }),
            _ => json!({ "a": [text()] }),
        })
        .collect();
    documents[0] = json!({ "a": null });
    documents
}

fn values(document: &Value) -> Vec<&str> {
    let values = document["a"].as_array().into_iter().flatten();
    values.map(|value| value.as_str().unwrap()).collect()
}

fn folded(text: &str) -> String {
    let folded = text.to_lowercase();
    folded.replace('é', "e").replace('ä', "a").replace('ö', "o")
}

fn grams(text: &str) -> Vec<String> {
    let letters: Vec<char> = folded(text).chars().collect();
    let all = (2..=3).flat_map(|len| letters.windows(len).map(String::from_iter));
    all.collect()
}

/// Returns the runs of characters that match the pattern `[\w.]+`.
fn runs(text: &str) -> Vec<String> {
    let runs = text.split(|c: char| !c.is_alphanumeric() && c != '.' && c != '_');
    runs.filter(|run| !run.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn custom_tokenizers_find_what_a_scan_finds_indexed_or_not() {
    let tokenizers = json!({ "tokenizers": [
        { "name": "grams", "type": "ngram", "min_gram": 2, "max_gram": 3, "filters": ["lower_caser", "ascii_folding"] },
        { "name": "runs", "type": "regex", "pattern": r"[\w.]+" },
    ] });
    let documents = texts(1);
    for strategy in ["fulltext", "none"] {
        let field = |tokenizer: &str| {
            let field = json!({ "name": "a", "type": "array<text>", "tokenizer": tokenizer, "strategy": strategy });
            build(json!([field]), tokenizers.clone(), &documents)
        };
        let (by_grams, by_runs) = (field("grams"), field("runs"));
        for word in ["ca", "CAFÉ", "http", "ao", "zz", "bar"] {
            let wanted = grams(word);
            // Some single value has all grams.
            let has = |text: &&str| {
                let own = grams(text);
                wanted.iter().all(|gram| own.contains(gram))
            };
            let expect = scan(&documents, |doc| values(doc).iter().any(has));
            assert_eq!(
                ids(&by_grams, &format!("a:{word}")),
                expect,
                "{strategy} {word}"
            );
        }
        let of_runs = |holds: &dyn Fn(&str) -> bool| {
            scan(&documents, |doc| {
                values(doc)
                    .iter()
                    .any(|text| runs(text).iter().any(|run| holds(run)))
            })
        };
        for word in ["GET", "get", "index.html", "Café", "a"] {
            let expect = of_runs(&|run| run == word);
            assert_eq!(
                ids(&by_runs, &format!("a:{word}")),
                expect,
                "{strategy} {word}"
            );
        }
        assert_eq!(ids(&by_runs, "a:i*"), of_runs(&|run| run.starts_with('i')));
        assert_eq!(
            ids(&by_runs, "a:/.*[0-9]/"),
            of_runs(&|run| run.ends_with(|c: char| c.is_ascii_digit()))
        );
        assert_eq!(
            ids(&by_runs, "a:[G TO f]"),
            of_runs(&|run| ("G"..="f").contains(&run))
        );
        assert!(
            ids(&by_grams, "a:CAFÉ").len() > 20,
            "the documents have something to find"
        );
        // Patterns pass through the same filters as words.
        assert_eq!(
            ids(&by_grams, "a:FÉ*"),
            scan(&documents, |doc| {
                values(doc)
                    .iter()
                    .any(|text| grams(text).iter().any(|gram| gram.starts_with("fe")))
            })
        );
    }
}

#[test]
fn each_way_of_indexing_is_found_by_its_name() {
    let documents = texts(2);
    let field = json!({ "name": "a", "type": "array<text>", "strategy": ["fulltext", "term"],
        "fields": { "code": { "tokenizer": "source" } } });
    let tokenizers = json!({ "tokenizers": [
        { "name": "source", "type": "source_code", "filters": ["lower_caser"] },
    ] });
    let index = build(json!([field]), tokenizers, &documents);
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let any = |holds: &dyn Fn(&str) -> bool| {
        scan(&documents, |doc| values(doc).iter().any(|text| holds(text)))
    };
    let get = any(&|text| words(text).contains(&"get".to_owned()));
    assert_eq!(ids(&index, "a:GET"), get);
    let phrase = any(&|text| words(text).windows(2).any(|pair| pair == ["get", "get"]));
    assert_eq!(ids(&index, r#"a:"get get""#), phrase);
    assert!(!phrase.is_empty());
    for text in ["GET", "get, get", "GET get"] {
        let whole = any(&|value| value == text);
        assert_eq!(ids(&index, &format!("a.term:{text:?}")), whole, "{text}");
    }
    let server = any(&|text| text.contains("HTTPServer2"));
    assert_eq!(ids(&index, "a.code:server"), server);
    assert_eq!(ids(&index, "a:server"), Vec::<usize>::new());
    let error = index
        .search(&json!({ "query": "a.nothing:x", "max_hits": 0 }))
        .unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
}

#[test]
fn a_concatenation_is_found_by_the_words_of_its_fields() {
    let documents = texts(3);
    let documents: Vec<Value> = (0..)
        .zip(documents)
        .map(|(nth, mut doc)| {
            doc["n"] = json!(nth % 7);
            doc["extra"] = json!({ "deep": ["unmapped", nth % 3 == 0] });
            doc
        })
        .collect();
    let fields = json!([
        { "name": "all", "type": "concatenate", "concatenate_fields": ["a", "n"], "include_dynamic_fields": true },
        { "name": "a", "type": "array<text>", "tokenizer": "raw" },
        { "name": "b", "type": "text", "indexed": false },
        { "name": "n", "type": "u64" },
    ]);
    let index = build(fields, json!({ "mode": "dynamic" }), &documents);
    let words = |doc: &Value| -> Vec<String> {
        let mut text = values(doc).join(" ");
        text += &format!(" {} {} unmapped", doc["n"], doc["extra"]["deep"][1]);
        let words = text.split(|c: char| !c.is_alphanumeric());
        words
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    for word in ["get", "3", "unmapped", "true", "html", "absent"] {
        let expect = scan(&documents, |doc| words(doc).contains(&word.to_owned()));
        assert_eq!(ids(&index, &format!("all:{word}")), expect, "{word}");
    }
    let hit = index
        .search(&json!({ "query": "all:true", "max_hits": 1, "sort_by": "-id" }))
        .unwrap();
    assert_eq!(hit.json["hits"][0].get("all"), None, "it is not stored");
}

/// Returns an index of the documents in which `a` and `n` are not indexed, and one in which they
/// are.
fn stored_and_indexed(documents: &[Value]) -> (TestIndex, TestIndex) {
    let index = |strategy: &str| {
        let fields = json!([
            { "name": "a", "type": "array<text>", "tokenizer": "default", "record": "position", "strategy": strategy },
            { "name": "b", "type": "text", "tokenizer": "default" },
        ]);
        build(fields, json!({}), documents)
    };
    (index("none"), index("fulltext"))
}

fn scanned(answer: &Value) -> u64 {
    answer["profile"]["docs_scanned"].as_u64().unwrap_or(0)
}

#[test]
fn only_documents_that_the_rest_of_the_query_leaves_open_are_looked_at() {
    let documents = texts(4);
    let (stored, indexed) = stored_and_indexed(&documents);
    let has_b = |word: &str| {
        scan(&documents, |doc| {
            let text = doc["b"].as_str().unwrap_or_default().to_lowercase();
            text.split(|c: char| !c.is_alphanumeric())
                .any(|part| part == word)
        })
        .len() as u64
    };
    let total = documents.len() as u64;
    for (query, most) in [
        ("a:get", total),
        ("b:get a:cafe", has_b("get")),
        ("b:get -a:cafe", has_b("get")),
        ("b:get OR a:cafe", total - has_b("get")),
        ("-b:get a:cafe", total - has_b("get")),
        ("id:7 (a:get OR NOT a:cafe)", 1),
        ("b:get", 0),
        ("b:nowhere a:get", 0),
        ("NOT (a:get b:get)", has_b("get")),
    ] {
        let request =
            json!({ "query": query, "max_hits": 1_000, "sort_by": "-id", "profile": true });
        let (found, expect) = (
            stored.search(&request).unwrap().json,
            indexed.search(&request).unwrap().json,
        );
        assert_eq!(found["hits"], expect["hits"], "{query}");
        assert_eq!(found["num_hits"], expect["num_hits"], "{query}");
        assert_eq!(scanned(&found), most, "{query}: {}", found["profile"]);
        assert_eq!(scanned(&expect), 0, "{query}");
    }
}

#[test]
fn counts_and_aggregations_are_those_of_an_index() {
    let documents = texts(5);
    let (stored, indexed) = stored_and_indexed(&documents);
    for query in ["*", "a:get", "a:\"get get\"", "b:get", "a:*"] {
        let request = json!({ "query": query, "max_hits": 0, "aggs": {
            "sum": { "sum": { "field": "id" } },
            "filtered": { "filter": "a:cafe",
                "aggs": { "stats": { "stats": { "field": "id" } } } },
        } });
        let answer = |index: &TestIndex| {
            let answer = index.search(&request);
            let answer = answer
                .unwrap_or_else(|error| panic!("{query}: {error}"))
                .json;
            (answer["num_hits"].clone(), answer["aggregations"].clone())
        };
        if query == "a:*" {
            // Only a scan can determine whether there is a value.
            let with = scan(&documents, |doc| !values(doc).is_empty()).len();
            assert_eq!(answer(&stored).0, json!(with));
            continue;
        }
        assert_eq!(answer(&stored), answer(&indexed), "{query}");
    }
}

#[test]
fn too_many_documents_to_look_at_are_refused_with_what_to_do() {
    let documents = texts(6);
    let (stored, _) = stored_and_indexed(&documents);
    let searcher = stored
        .searcher(Arc::new(NativeEngine::new()), 0, 1)
        .unwrap();
    let within = |limit: u64, query: &str| {
        let mut limits = Limits::default();
        limits
            .guest
            .insert("max_docs_scanned".to_owned(), limit.into());
        run_with(
            &searcher,
            &json!({ "query": query, "max_hits": 1 }),
            &limits,
        )
    };
    assert!(within(200, "a:get").is_ok());
    let refused = within(199, "a:get").unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Limit, "{refused}");
    for part in [
        "strategy: none",
        "199 documents",
        "time range",
        "max_docs_scanned",
    ] {
        assert!(refused.to_string().contains(part), "{part}: {refused}");
    }
    assert!(within(1, "id:5 a:get").is_ok());
}

#[test]
fn a_field_that_is_not_indexed_by_mistake_is_still_an_error() {
    let documents = texts(7);
    let field = json!({ "name": "a", "type": "array<text>", "indexed": false });
    let index = build(json!([field]), json!({}), &documents);
    let error = index
        .search(&json!({ "query": "a:get", "max_hits": 1 }))
        .unwrap_err();
    assert!(error.to_string().contains("strategy: none"), "{error}");
}

#[test]
fn fields_of_all_kinds_survive_merges_and_deletes() {
    let documents = texts(8);
    let fields = json!([
        { "name": "a", "type": "array<text>", "strategy": "none" },
        { "name": "b", "type": "text", "strategy": ["fulltext", "term"] },
        { "name": "all", "type": "concatenate", "concatenate_fields": ["a", "b"], "tokenizer": "grams" },
    ]);
    let tokenizers = json!({ "tokenizers": [{ "name": "grams", "type": "ngram", "min_gram": 3, "max_gram": 3 }] });
    let config = config(&fields, &tokenizers);
    let index = build(fields, tokenizers, &documents);
    let queries = [
        "a:get",
        "b:get",
        "b.term:\"GET\"",
        "all:Caf",
        "all:htm -a:cafe",
    ];
    let answers = |index: &TestIndex| queries.map(|query| ids(index, query));
    let before = answers(&index);
    assert!(before.iter().all(|found| !found.is_empty()), "{before:?}");
    let merged = index.merge(&config, &index.entries().unwrap()).unwrap();
    let merged = merged.unwrap().expect("documents are left");
    let merged = TestIndex::of_splits(&config, &[merged], &index).unwrap();
    assert_eq!(answers(&merged), before);
    let (left, report) = merged.delete(&json!({ "query": "a:get" })).unwrap();
    assert_eq!(report.num_deleted_docs, before[0].len() as u64);
    let gone = &before[0];
    let expect = before.clone().map(|found| {
        found
            .into_iter()
            .filter(|id| !gone.contains(id))
            .collect::<Vec<usize>>()
    });
    assert_eq!(answers(&left), expect);
}

#[test]
fn wasm_finds_the_same() {
    let documents = texts(9);
    let fields = json!([
        { "name": "a", "type": "array<text>", "strategy": "none", "tokenizer": "runs" },
        { "name": "b", "type": "text", "tokenizer": "runs", "fields": { "grams": { "tokenizer": "grams" } } },
        { "name": "all", "type": "concatenate", "concatenate_fields": ["a", "b"], "tokenizer": "code" },
    ]);
    let tokenizers = json!({ "tokenizers": [
        { "name": "runs", "type": "regex", "pattern": r"(?i)\b[a-zäé]{2,4}|\d+" },
        { "name": "grams", "type": "ngram", "min_gram": 2, "max_gram": 2, "filters": ["ascii_folding"] },
        { "name": "code", "type": "source_code" },
    ] });
    let index = build(fields, tokenizers, &documents);
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    let searchers = engines.map(|engine| index.searcher(engine, 0, 1).unwrap());
    let mut num_hits = 0;
    for query in [
        "a:get",
        "a:Caf*",
        "a:\"GET GET\"",
        "b:Café",
        "b.grams:caf",
        "all:Server",
        "all:bar -a:get",
        "a:12 OR b:12",
        "a:[a TO h]",
        "a:*",
    ] {
        let request = json!({ "query": query, "max_hits": 20, "profile": true,
            "aggs": { "ids": { "sum": { "field": "id" } } } });
        let [native, wasm] = searchers
            .each_ref()
            .map(|searcher| run(searcher, &request).unwrap().json);
        for part in ["hits", "num_hits", "aggregations", "failed_splits"] {
            assert_eq!(native[part], wasm[part], "{query}");
        }
        assert_eq!(scanned(&native), scanned(&wasm), "{query}");
        num_hits += native["num_hits"].as_u64().unwrap();
    }
    assert!(num_hits > 200, "{num_hits}");
}

#[test]
fn tokenizers_of_quickwit_find_their_words_in_every_engine() {
    let documents = [
        json!({ "zh": "Go 去北京, Hello你好world", "code": "parseHTTPRequest2 of CaféFactory" }),
        json!({ "zh": "北 and 京", "code": "parse http" }),
        json!({ "zh": "京北", "code": "Factory_2" }),
    ];
    let fields = json!([
        { "name": "zh", "type": "text", "tokenizer": "chinese_compatible", "record": "position" },
        { "name": "code", "type": "text", "tokenizer": "source_code_default", "record": "position" },
    ]);
    let index = build(fields, json!({}), &documents);
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    for engine in engines {
        let searcher = index.searcher(engine, 0, 1).unwrap();
        for (query, expect) in [
            // Characters side by side, as they are written.
            ("zh:北京", vec![0]),
            ("zh:京", vec![0, 1, 2]),
            ("zh:\"京 北\"", vec![2]),
            ("zh:HELLO", vec![0]),
            ("zh:hello你", vec![0]),
            ("zh:wor*", vec![0]),
            ("code:httprequest", vec![]),
            ("code:HTTPRequest", vec![0]),
            ("code:http", vec![0, 1]),
            ("code:CAFE", vec![0]),
            ("code:CAFÉ*", vec![0]),
            ("code:2", vec![0, 2]),
        ] {
            let request = json!({ "query": query, "max_hits": 10, "sort_by": "-id" });
            let answer = run(&searcher, &request).unwrap().json;
            let hits = answer["hits"].as_array().unwrap();
            let ids: Vec<u64> = hits.iter().map(|hit| hit["id"].as_u64().unwrap()).collect();
            assert_eq!(ids, expect, "{query}");
        }
    }
}
