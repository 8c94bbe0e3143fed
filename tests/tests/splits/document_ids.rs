//! Identities of documents, which Elasticsearch's API returns as `_id`: they never change, `ids`
//! finds them, and they are read together with the documents.

use std::collections::BTreeMap;
use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_split_format::{DocIdentity, SourceId};
use canter_tests::TestIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const CONFIG: &str = "
version: 0.9
index_id: logs
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: what, type: text, strategy: none}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
  timestamp_field: ts
";
const NUM_SOURCES: usize = 40;
const NUM_LINES: u64 = 120;

/// Returns the lines of each source, with mixed times.
fn sources() -> Vec<(String, Vec<String>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let mut n = 0;
    let mut line = || {
        n += 1;
        let ts = 1_460_000_000 + rng.random_range(0..1_000);
        json!({"n": n, "what": format!("line {n}"), "ts": ts}).to_string()
    };
    (0..NUM_SOURCES)
        .map(|source| {
            let lines = (0..NUM_LINES).map(|_| line()).collect();
            (format!("source {source}"), lines)
        })
        .collect()
}

/// Returns identities keyed by document number, computed according to the format's specification.
fn expected(sources: &[(String, Vec<String>)]) -> BTreeMap<u64, String> {
    let mut expected = BTreeMap::new();
    for (id, lines) in sources {
        let source = SourceId::of(format!("id:{id}").as_bytes(), lines[0].as_bytes());
        for (position, line) in (1..).zip(lines) {
            let line: Value = serde_json::from_str(line).unwrap();
            let identity = DocIdentity { source, position };
            expected.insert(line["n"].as_u64().unwrap(), identity.to_string());
        }
    }
    expected
}

/// Returns an index from several ingests of several sources each, with small splits.
fn index(sources: &[(String, Vec<String>)]) -> TestIndex {
    let sources: Vec<(&str, &[String])> = sources
        .iter()
        .map(|(id, lines)| (id.as_str(), lines.as_slice()))
        .collect();
    let ingests: Vec<&[(&str, &[String])]> = sources.chunks(NUM_SOURCES / 4).collect();
    TestIndex::build_of(CONFIG, &ingests, 500).unwrap()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

fn searcher(index: &TestIndex, engine: Arc<dyn Engine>) -> Searcher {
    let builder = Searcher::builder().engine(engine);
    let builder = builder.index_from("logs", Arc::new(index.fetcher()), "logs");
    builder.unwrap().build().unwrap()
}

fn ask_as(searcher: &Searcher, body: &Value, caller: &Caller) -> (u16, Value) {
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/logs/_search".to_owned(),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let answer = runtime.block_on(searcher.http(request, caller, &Limits::default()));
    let json = serde_json::from_slice(&answer.response.body).unwrap();
    (answer.response.status, json)
}

/// Returns the identities of the hits, keyed by document number.
#[track_caller]
fn hits(searcher: &Searcher, body: &Value) -> BTreeMap<u64, String> {
    let (status, answer) = ask_as(searcher, body, &Caller::default());
    assert_eq!(status, 200, "{body}: {answer}");
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| {
        let n = hit["_source"]["n"].as_u64().unwrap();
        (n, hit["_id"].as_str().unwrap().to_owned())
    })
    .collect()
}

#[test]
fn a_document_keeps_its_id_when_its_split_is_merged() {
    let sources = sources();
    let expected = expected(&sources);
    let index = index(&sources);
    let entries = index.entries().unwrap();
    let merged = index.merge(CONFIG, &entries).unwrap().unwrap().unwrap();
    assert!(entries.len() > 8, "{}", entries.len());
    let merged = TestIndex::of_splits(CONFIG, &[merged], &index).unwrap();
    for index in [&index, &merged] {
        for engine in engines() {
            let searcher = searcher(index, engine);
            let all = hits(&searcher, &json!({"size": 10_000, "sort": [{"n": "asc"}]}));
            assert_eq!(all, expected);
        }
    }
}

#[test]
fn ids_find_their_documents_and_no_others() {
    let sources = sources();
    let expected = expected(&sources);
    let index = index(&sources);
    let entries = index.entries().unwrap();
    let merged = index.merge(CONFIG, &entries).unwrap().unwrap().unwrap();
    let merged = TestIndex::of_splits(CONFIG, &[merged], &index).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for index in [&index, &merged] {
        for engine in engines() {
            let searcher = searcher(index, engine);
            for num in [0, 1, 2, 30, 600] {
                let mut wanted: BTreeMap<u64, String> = BTreeMap::new();
                for _ in 0..num {
                    let n = rng.random_range(1..=expected.len() as u64);
                    wanted.insert(n, expected[&n].clone());
                }
                let mut ids: Vec<&str> = wanted.values().map(String::as_str).collect();
                let check = |query: Value, wanted: &BTreeMap<u64, String>| {
                    let found = hits(&searcher, &json!({"size": 1_000, "query": query}));
                    assert_eq!(&found, wanted, "{query}");
                };
                check(json!({"terms": {"_id": ids}}), &wanted);
                // Unused identities, and texts that are not identities.
                let nobody = format!("{}-1", "0".repeat(32));
                ids.extend(["", "1", &nobody, "-1"]);
                check(json!({"ids": {"values": ids}}), &wanted);
                let small = |n: u64| n <= 2_000;
                let few: BTreeMap<u64, String> = wanted
                    .clone()
                    .into_iter()
                    .filter(|(n, _)| small(*n))
                    .collect();
                let filter = [
                    json!({"ids": {"values": ids}}),
                    json!({"range": {"n": {"lte": 2_000}}}),
                ];
                check(json!({"bool": {"filter": filter}}), &few);
                let others: BTreeMap<u64, String> = expected
                    .clone()
                    .into_iter()
                    .filter(|(n, _)| *n <= 500 && !wanted.contains_key(n))
                    .collect();
                let query = json!({"bool": {
                    "must_not": {"ids": {"values": ids}},
                    "filter": {"range": {"n": {"lte": 500}}},
                }});
                check(query, &others);
            }
            let one = &expected[&77];
            let only = BTreeMap::from([(77, one.clone())]);
            let query = json!({"term": {"_id": {"value": one}}});
            assert_eq!(hits(&searcher, &json!({"query": query})), only);
            // Combines `ids` with a field that requires a scan of the documents.
            let both = json!({"bool": {"should": [
                {"ids": {"values": one}}, {"match_phrase": {"what": "line 78"}},
            ]}});
            let found = hits(&searcher, &json!({"query": both}));
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [77, 78]);
            // As the filter of an aggregation.
            let body = json!({
                "query": {"range": {"n": {"lte": 100}}}, "size": 0,
                "aggs": {"those": {"filter": {"ids": {"values": [one, expected[&78]]}}}},
            });
            let (_, answer) = ask_as(&searcher, &body, &Caller::default());
            assert_eq!(answer["aggregations"]["those"]["doc_count"], 2, "{answer}");
        }
    }
}

/// Returns the number of waves of a search without a cache.
fn waves(index: &TestIndex, path: &str, body: &Value) -> u64 {
    let searcher = searcher(index, Arc::new(NativeEngine::new()));
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: path.to_owned(),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let answer = runtime.block_on(searcher.http(request, &Caller::default(), &Limits::default()));
    assert_eq!(answer.response.status, 200);
    answer.profile.num_waves
}

/// The identity of a hit is read together with its document.
#[test]
fn ids_take_no_wave_of_their_own() {
    let sources = sources();
    let index = index(&sources);
    let entries = index.entries().unwrap();
    let merged = index.merge(CONFIG, &entries).unwrap().unwrap().unwrap();
    let merged = TestIndex::of_splits(CONFIG, &[merged], &index).unwrap();
    let body = json!({"query": "*", "max_hits": 20});
    let without = waves(&merged, "/api/v1/logs/search", &body);
    let with = waves(&merged, "/logs/_search", &json!({"size": 20}));
    assert_eq!(with, without);
}

/// The number of candidate splits does not matter.
#[test]
fn ids_are_looked_for_in_all_splits_at_once() {
    let sources = sources();
    let index = index(&sources);
    assert!(index.entries().unwrap().len() > 8);
    let one = &expected(&sources)[&77];
    let body = json!({"query": {"ids": {"values": [one]}}, "size": 0});
    // One wave for the manifest, and one for the identities.
    assert_eq!(waves(&index, "/logs/_search", &body), 2);
}

#[test]
fn who_may_see_some_documents_only_learns_no_places() {
    let sources = sources();
    let expected = expected(&sources);
    let index = index(&sources);
    for engine in engines() {
        let searcher = searcher(&index, engine);
        let caller = Caller {
            forced_filter: Some("n:[1 TO 2000]".to_owned()),
            ..Caller::default()
        };
        let (status, answer) = ask_as(&searcher, &json!({"size": 100}), &caller);
        assert_eq!(status, 200, "{answer}");
        for hit in answer["hits"]["hits"].as_array().unwrap() {
            let id = hit["_id"].as_str().unwrap();
            assert!(id.len() == 32 && !id.contains('-'), "{id}");
        }
        let one = &expected[&77];
        for query in [
            json!({"ids": {"values": [one]}}),
            json!({"term": {"_id": one}}),
            json!({"bool": {"must_not": [{"terms": {"_id": [one]}}]}}),
            json!({"dis_max": {"queries": [{"match_all": {}}, {"ids": {"values": []}}]}}),
        ] {
            let (status, answer) = ask_as(&searcher, &json!({"query": query}), &caller);
            assert_eq!(status, 400, "{query}: {answer}");
            let aggs = json!({"a": {"filter": query}});
            let (status, answer) = ask_as(&searcher, &json!({"aggs": aggs}), &caller);
            assert_eq!(status, 400, "{query}: {answer}");
        }
    }
}

#[test]
fn an_id_is_found_by_whatever_clause_names_it() {
    let sources = sources();
    let expected = expected(&sources);
    let index = index(&sources);
    let one = &expected[&77];
    for engine in engines() {
        let searcher = searcher(&index, engine);
        for query in [
            json!({"match": {"_id": one}}),
            json!({"match_phrase": {"_id": one}}),
            json!({"query_string": {"query": format!("_id:\"{one}\"")}}),
            json!({"bool": {"must": {"exists": {"field": "_id"}}, "filter": {"term": {"n": 77}}}}),
        ] {
            let found = hits(&searcher, &json!({"query": query}));
            assert_eq!(found, BTreeMap::from([(77, one.clone())]), "{query}");
        }
        for query in [
            json!({"prefix": {"_id": "0"}}),
            json!({"wildcard": {"_id": "0*"}}),
            json!({"range": {"_id": {"gte": "0"}}}),
            json!({"ids": {}}),
        ] {
            let (status, answer) = ask_as(&searcher, &json!({"query": query}), &Caller::default());
            assert_eq!(status, 400, "{query}: {answer}");
        }
    }
}

/// `_id` and `_index` have a special meaning only in Elasticsearch's query language.
#[test]
fn keys_of_documents_with_these_names_are_fields_of_the_query_string() {
    let config = "{version: 0.9, index_id: logs, doc_mapping: {mode: dynamic}}";
    let documents = [
        "{\"_id\": \"x\", \"_index\": \"old\", \"n\": 1}",
        "{\"n\": 2}",
    ];
    let index = TestIndex::build(config, &documents.map(str::to_owned), 10).unwrap();
    for (query, num_hits) in [
        ("_id:x", 1),
        ("_id:*", 1),
        ("_index:old", 1),
        ("_index:logs", 0),
        ("_index:*", 1),
        ("NOT _index:old", 1),
        ("_index:>a", 1),
    ] {
        let answer = index.search(&json!({"query": query})).unwrap();
        assert_eq!(answer.json["num_hits"], num_hits, "{query}");
    }
}
