//! Search API over real indexes: the answers equal those of a search in both engines, whole or
//! divided.

use std::sync::Arc;

use canter_runtime::cache::{CacheOptions, MemoryCache};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, HttpAnswer, Limits, RangeCache, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{CATALOGUE_CONFIG, TestIndex, catalogue, hdfs_lines, run};
use serde_json::{Value, json};

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

struct Indexes {
    logs: TestIndex,
    things: TestIndex,
}

fn indexes() -> Indexes {
    Indexes {
        logs: TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(3_000, 3).unwrap(), 800).unwrap(),
        things: TestIndex::build(CATALOGUE_CONFIG, &catalogue(300, 5), 100).unwrap(),
    }
}

fn searcher(
    indexes: &Indexes,
    engine: Arc<dyn Engine>,
    cache: Option<Arc<dyn RangeCache>>,
) -> Searcher {
    let builder = Searcher::builder()
        .engine(engine)
        .max_parallel_leaves(3)
        .index_from("logs", Arc::new(indexes.logs.fetcher()), "ns-logs")
        .and_then(|builder| {
            builder.index_from("things", Arc::new(indexes.things.fetcher()), "ns-things")
        })
        .unwrap();
    match cache {
        Some(cache) => builder.cache(cache).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

fn ask(searcher: &Searcher, line: &str, body: &Value, caller: &Caller) -> HttpAnswer {
    let (method, target) = line.split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let request = HttpRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        },
    };
    let mut limits = Limits::default();
    let min_docs = "min_docs_per_leaf".to_owned();
    limits.guest.insert(min_docs, 1.into());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(searcher.http(request, caller, &limits))
}

fn json_of(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.response.body).unwrap()
}

/// Sends a request and removes the values that vary between runs from the answer.
fn timeless(searcher: &Searcher, line: &str, body: &Value) -> Value {
    let answer = ask(searcher, line, body, &Caller::default());
    assert_eq!(answer.response.status, 200, "{line}: {}", json_of(&answer));
    let mut json = json_of(&answer);
    assert!(json["elapsed_time_micros"].is_u64(), "{json}");
    json["elapsed_time_micros"] = Value::Null;
    json
}

/// Keys of every answer. Those with aggregations also have `aggregations`.
const KEYS: &str = "hits num_hits elapsed_time_micros errors failed_splits skipped_splits timed_out \
                    budget_exhausted";

#[test]
fn the_api_answers_as_a_search_does() {
    let indexes = indexes();
    let aggs = json!({"levels": {"terms": {"field": "severity_text"}}});
    for engine in engines() {
        let searcher = searcher(&indexes, Arc::clone(&engine), None);
        let alone = indexes.logs.searcher(engine, 0, 1).unwrap();
        for request in [
            json!({"query": "severity_text:ERROR", "max_hits": 3}),
            json!({"query": "*", "max_hits": 0, "aggs": aggs}),
            json!({"query": "body:block", "start_offset": 2, "sort_by": "-timestamp"}),
        ] {
            let answer = timeless(&searcher, "POST /api/v1/logs/search", &request);
            let keys = answer.as_object().unwrap().keys();
            let keys: Vec<&String> = keys.filter(|key| *key != "aggregations").collect();
            assert_eq!(
                answer.get("aggregations").is_some(),
                request.get("aggs").is_some()
            );
            assert_eq!(keys, KEYS.split_whitespace().collect::<Vec<_>>());
            let expected = run(&alone, &request).unwrap().json;
            for key in ["hits", "num_hits", "aggregations"] {
                assert_eq!(answer[key], expected[key], "{request} {key}");
            }
            assert_eq!(answer["timed_out"], false);
        }
        let url = "GET /api/v1/logs/search?query=severity_text%3AERROR&max_hits=3";
        let body = json!({"query": "severity_text:ERROR", "max_hits": 3});
        assert_eq!(
            timeless(&searcher, url, &Value::Null),
            timeless(&searcher, "POST /api/v1/logs/search", &body),
        );
        let profiled = timeless(&searcher, &format!("{url}&profile=true"), &Value::Null);
        assert!(profiled["profile"]["num_splits"].as_u64().unwrap() > 1);
        let pretty = format!("{url}&format=pretty_json");
        let pretty = ask(&searcher, &pretty, &Value::Null, &Caller::default());
        assert!(pretty.response.body.starts_with(b"{\n  \"hits\""));
    }
}

#[test]
fn both_engines_answer_with_the_same_bytes() {
    let indexes = indexes();
    let [native, wasm] = engines().map(|engine| searcher(&indexes, engine, None));
    for (line, body) in [
        ("GET /api/v1/indexes", Value::Null),
        ("GET /api/v1/indexes/things?pretty=true", Value::Null),
        ("GET /health/readyz", Value::Null),
        ("GET /api/v1/logs/search?max_hits=x", Value::Null),
        ("GET /api/v1/nope/search", Value::Null),
        ("POST /api/v1/things/search", json!({"query": "nofield("})),
        ("POST /api/v1/logs/search", json!({"query": "nosuch:x"})),
    ] {
        let ask = |searcher| ask(searcher, line, &body, &Caller::default()).response;
        assert_eq!(ask(&native), ask(&wasm), "{line}");
    }
    let request = json!({
        "query": "title:shoes OR title:lamp",
        "sort_by": "_score",
        "snippet_fields": "title",
        "aggs": {"prices": {"histogram": {"field": "price", "interval": 10}}},
    });
    let line = "POST /api/v1/things/search";
    let answer = timeless(&native, line, &request);
    assert_eq!(answer, timeless(&wasm, line, &request));
    let hits = answer["hits"].as_array().unwrap();
    assert!(!hits.is_empty());
    assert_eq!(answer["snippets"].as_array().unwrap().len(), hits.len());
    for snippet in answer["snippets"].as_array().unwrap() {
        let text = snippet["title"][0].as_str().unwrap();
        assert!(
            text.contains("<b>shoes</b>") || text.contains("<b>lamp</b>"),
            "{text}"
        );
    }
}

#[test]
fn indexes_are_described_under_the_names_they_have_here() {
    let indexes = indexes();
    let [native, _] = engines();
    let searcher = searcher(&indexes, native, None);
    let everything = Caller::default();
    let list = json_of(&ask(
        &searcher,
        "GET /api/v1/indexes",
        &Value::Null,
        &everything,
    ));
    let ids: Vec<&Value> = list.as_array().unwrap().iter().collect();
    let ids: Vec<&Value> = ids
        .iter()
        .map(|index| &index["index_config"]["index_id"])
        .collect();
    assert_eq!(ids, ["logs", "things"]);
    let things = json_of(&ask(
        &searcher,
        "GET /api/v1/indexes/things",
        &Value::Null,
        &everything,
    ));
    assert_eq!(things, list[1]);
    assert_eq!(things["num_published_docs"], 300);
    assert_eq!(things["num_published_splits"], 3);
    assert_eq!(things["timestamp_field_name"], "created");
    let mapping = &things["index_config"]["doc_mapping"];
    assert!(mapping["field_mappings"].as_array().unwrap().len() > 5);
}

#[test]
fn a_caller_sees_its_indexes_and_its_documents_only() {
    let indexes = indexes();
    for engine in engines() {
        // With a cache, entries of one caller's search must not be visible to another caller.
        let cache = MemoryCache::with_options(&CacheOptions::memory()).unwrap();
        let searcher = searcher(&indexes, engine, Some(Arc::new(cache)));
        let all = Caller::default();
        let scoped = Caller {
            indexes: Some(vec!["things".to_owned()]),
            forced_filter: Some("vendor:acme".to_owned()),
        };
        let line = "POST /api/v1/things/search";
        let request = json!({"query": "*", "max_hits": 300});
        let whole = json_of(&ask(&searcher, line, &request, &all));
        let seen = json_of(&ask(&searcher, line, &request, &scoped));
        let of_acme = json_of(&ask(
            &searcher,
            line,
            &json!({"query": "vendor:acme", "max_hits": 300}),
            &all,
        ));
        assert_eq!(whole["num_hits"], 300);
        assert_eq!(seen["hits"], of_acme["hits"]);
        assert!(seen["num_hits"].as_u64().unwrap() < 300);
        for query in [
            "* OR vendor:dune",
            "vendor:dune",
            "NOT vendor:acme",
            "title:shoes OR *",
        ] {
            let request = json!({"query": query, "search_field": "vendor", "max_hits": 300});
            let answer = json_of(&ask(&searcher, line, &request, &scoped));
            for hit in answer["hits"].as_array().unwrap() {
                assert_eq!(hit["vendor"], "acme", "{query}");
            }
            let num_hits = answer["num_hits"].as_u64().unwrap();
            assert!(num_hits <= seen["num_hits"].as_u64().unwrap(), "{query}");
        }
        // Terms without documents are taken from all documents, regardless of the filter.
        let aggs = |least: u64| {
            let terms = json!({"field": "vendor", "min_doc_count": least, "size": 100});
            json!({"query": "*", "max_hits": 0, "aggs": {"all": {"filter": "*", "aggs": {"v": {"terms": terms}}}}})
        };
        let answer = ask(&searcher, line, &aggs(0), &all).response;
        assert!(String::from_utf8_lossy(&answer.body).contains("borealis"));
        let answer = ask(&searcher, line, &aggs(0), &scoped).response;
        assert_eq!(answer.status, 400);
        let answer = ask(&searcher, line, &aggs(1), &scoped).response;
        assert_eq!(answer.status, 200);
        assert!(!String::from_utf8_lossy(&answer.body).contains("borealis"));
        let other = ask(&searcher, "GET /api/v1/logs/search", &Value::Null, &scoped);
        assert_eq!(other.response.status, 404);
        let list = json_of(&ask(
            &searcher,
            "GET /api/v1/indexes",
            &Value::Null,
            &scoped,
        ));
        assert_eq!(list.as_array().unwrap().len(), 1);
        assert_eq!(
            list[0]["num_published_docs"],
            Value::Null,
            "totals are not for a part"
        );
        let described = json_of(&ask(
            &searcher,
            "GET /api/v1/indexes/things/describe",
            &Value::Null,
            &scoped,
        ));
        assert_eq!(
            described,
            json!({"index_id": "things", "index_uri": "things"})
        );
    }
}

#[test]
fn a_budget_in_the_request_is_kept() {
    let indexes = indexes();
    for engine in engines() {
        let searcher = searcher(&indexes, engine, None);
        let request =
            json!({"query": "body:block", "max_hits": 100, "budget": {"max_requests": 2}});
        let answer = ask(
            &searcher,
            "POST /api/v1/logs/search",
            &request,
            &Caller::default(),
        );
        let json = json_of(&answer);
        assert_eq!(json["budget_exhausted"], "max_requests", "{json}");
        assert!(!json["skipped_splits"].as_array().unwrap().is_empty());
        assert!(answer.profile.num_requests <= 2);
    }
}

#[test]
fn a_repeated_request_is_answered_from_the_cache_of_its_index() {
    let indexes = indexes();
    let [native, _] = engines();
    let cache: Arc<dyn RangeCache> =
        Arc::new(MemoryCache::with_options(&CacheOptions::memory()).unwrap());
    let searcher = searcher(&indexes, native, Some(cache));
    for (name, num_hits) in [("logs", 3_000), ("things", 300)] {
        let line = format!("GET /api/v1/{name}/search?max_hits=5");
        let first = ask(&searcher, &line, &Value::Null, &Caller::default());
        let second = ask(&searcher, &line, &Value::Null, &Caller::default());
        assert_eq!(json_of(&first)["num_hits"], num_hits);
        assert_eq!(json_of(&first)["hits"], json_of(&second)["hits"]);
        assert_eq!(second.profile.num_requests, 1, "{name}: the manifest");
    }
}
