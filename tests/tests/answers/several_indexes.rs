//! Search of several indexes: the answer equals that of a search of one index with all of their
//! documents.

use std::sync::Arc;

use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::TestIndex;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

/// Fields of the indexes. The second one has those of the first in another order and an extra one;
/// the third has no time.
const CONFIGS: [&str; 3] = [
    "
version: 0.9
index_id: one
doc_mapping:
  mode: strict
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: text, type: text, fieldnorms: true, record: position}
    - {name: tag, type: text, tokenizer: raw, fast: true}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
  timestamp_field: ts
  tag_fields: [tag]
",
    "
version: 0.9
index_id: two
doc_mapping:
  mode: strict
  field_mappings:
    - {name: other, type: u64, fast: true}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: tag, type: text, tokenizer: raw, fast: true}
    - {name: text, type: text, fieldnorms: true, record: position}
    - {name: n, type: u64, fast: true}
  timestamp_field: ts
",
    "
version: 0.9
index_id: three
doc_mapping:
  mode: strict
  field_mappings:
    - {name: text, type: text, fieldnorms: true, record: position}
    - {name: n, type: u64, fast: true}
    - {name: tag, type: text, tokenizer: raw, fast: true}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
",
];

struct Indexes {
    /// `one`, `two`, `three`, and `all`, which has the documents of the first `num_parts` of them.
    indexes: Vec<(&'static str, TestIndex)>,
}

impl Indexes {
    fn new(num_parts: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut lines: Vec<Vec<String>> = vec![Vec::new(); num_parts];
        for n in 0..400 {
            let words = [
                "red",
                "green",
                "blue",
                "red red",
                "green blue",
                "red blue green",
            ];
            let tags = ["a", "b", "c"];
            let document = json!({
                "n": n,
                "text": words[rng.random_range(0..words.len())],
                "tag": tags[rng.random_range(0..tags.len())],
                "ts": 1_460_000_000 + rng.random_range(0..200),
            });
            lines[rng.random_range(0..num_parts)].push(document.to_string());
        }
        let names = ["one", "two", "three"];
        let parts = names.iter().zip(&lines).zip(CONFIGS);
        let mut indexes: Vec<(&str, TestIndex)> = parts
            .map(|((name, lines), config)| {
                (
                    *name,
                    TestIndex::build_of(config, &[&[(*name, lines)]], 40).unwrap(),
                )
            })
            .collect();
        let sources: Vec<(&str, &[String])> = names
            .iter()
            .zip(&lines)
            .map(|(name, lines)| (*name, lines.as_slice()))
            .collect();
        let all = TestIndex::build_of(CONFIGS[0], &[&sources], 70).unwrap();
        indexes.push(("all", all));
        Self { indexes }
    }

    fn searcher(&self, engine: Arc<dyn Engine>) -> Searcher {
        let mut builder = Searcher::builder().engine(engine).max_parallel_leaves(3);
        for (name, index) in &self.indexes {
            builder = builder
                .index_from(name, Arc::new(index.fetcher()), name)
                .unwrap();
        }
        builder.build().unwrap()
    }
}

fn ask(searcher: &Searcher, path: &str, body: &Value) -> (u16, Value) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: body.to_string().into_bytes(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut limits = Limits::default();
    limits
        .guest
        .insert("min_docs_per_leaf".to_owned(), 1.into());
    let answer = runtime.block_on(searcher.http(request, &Caller::default(), &limits));
    let json = serde_json::from_slice(&answer.response.body).unwrap();
    (answer.response.status, json)
}

fn wasm() -> Arc<dyn Engine> {
    Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap())
}

/// Returns the parts of an answer that must not depend on the location of the documents.
fn told(answer: &Value) -> Value {
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| {
        json!({
            "n": hit["_source"]["n"], "score": hit["_score"], "sort": hit["sort"], "fields": hit["fields"],
            "highlight": hit["highlight"],
        })
    });
    json!({
        "hits": hits.collect::<Value>(),
        "total": answer["hits"]["total"],
        "max_score": answer["hits"]["max_score"],
        "aggregations": answer["aggregations"],
        "failed": answer["_shards"]["failed"],
    })
}

fn random_request(rng: &mut ChaCha8Rng, has_time: bool) -> Value {
    let queries = [
        json!({"match_all": {}}),
        json!({"match": {"text": "red"}}),
        json!({"match": {"text": "blue green"}}),
        json!({"match_phrase": {"text": "red blue"}}),
        json!({"term": {"tag": "b"}}),
        json!({"range": {"ts": {"gte": 1_460_000_050, "lt": 1_460_000_120, "format": "epoch_second"}}}),
        json!({"bool": {"must": {"match": {"text": "red"}}, "must_not": {"term": {"tag": "a"}}}}),
    ];
    let mut body = json!({
        "query": queries[rng.random_range(0..queries.len())],
        "size": rng.random_range(0..12),
        "from": rng.random_range(0..5),
        "_source": ["n"],
    });
    // Documents of different sources are ordered by the hash of their source, which is the same in
    // both.
    match rng.random_range(0..6) {
        0 => body["sort"] = json!([{"n": "asc"}]),
        1 => body["sort"] = json!([{"tag": "desc"}, {"n": "desc"}]),
        2 => body["sort"] = json!([{"ts": "desc"}, {"n": "asc"}]),
        3 if has_time => body["sort"] = json!([{"ts": {"order": "asc"}}]),
        _ if has_time => {}
        _ => body["sort"] = json!([{"_score": "desc"}, {"n": "asc"}]),
    }
    if rng.random_bool(0.4) {
        body["aggs"] = json!({
            "tags": {"terms": {"field": "tag"}, "aggs": {"high": {"max": {"field": "n"}}}},
            "times": {"date_histogram": {"field": "ts", "fixed_interval": "30s"}},
            "different": {"cardinality": {"field": "n"}},
        });
    }
    if rng.random_bool(0.3) {
        body["track_total_hits"] = true.into();
    }
    if rng.random_bool(0.2) {
        body["highlight"] = json!({"fields": {"text": {}}});
    }
    body
}

#[test]
fn several_indexes_answer_like_one() {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    for num_parts in [2, 3] {
        let indexes = Indexes::new(num_parts, num_parts as u64);
        let (path, has_time) = match num_parts {
            2 => ("/one,two/_search", true),
            _ => ("/o*,t*/_search", false),
        };
        for engine in [Arc::new(NativeEngine::new()) as Arc<dyn Engine>, wasm()] {
            let searcher = indexes.searcher(engine);
            for _ in 0..60 {
                let body = random_request(&mut rng, has_time);
                let (status, several) = ask(&searcher, path, &body);
                assert_eq!(status, 200, "{body}: {several}");
                let (_, one) = ask(&searcher, "/all/_search", &body);
                assert_eq!(told(&several), told(&one), "{path} {body}");
                let names = several["hits"]["hits"].as_array().unwrap().iter();
                assert!(
                    names
                        .clone()
                        .all(|hit| hit["_index"] != "all" && hit["_index"] != "")
                );
            }
        }
    }
}

#[test]
fn every_path_takes_several_indexes() {
    let indexes = Indexes::new(2, 5);
    let searcher = indexes.searcher(Arc::new(NativeEngine::new()));
    let query = json!({"query": {"term": {"tag": "a"}}});
    let count = |path: &str| ask(&searcher, path, &query).1["count"].clone();
    let all = count("/all/_count");
    assert!(all.as_u64().unwrap() > 100);
    assert_eq!(count("/one,two/_count"), all);
    assert_eq!(count("/*,-all/_count"), all);
    assert_eq!(count("/_count"), all.as_u64().unwrap() * 2);
    let quickwit = json!({"query": "tag:a", "max_hits": 3, "sort_by": "-n"});
    let hits = |path: &str| ask(&searcher, path, &quickwit).1;
    let (several, one) = (hits("/api/v1/one,two/search"), hits("/api/v1/all/search"));
    assert_eq!(several["hits"], one["hits"]);
    assert_eq!(several["num_hits"], one["num_hits"]);
    assert_eq!(hits("/api/v1/o*,two/search")["num_hits"], one["num_hits"]);
    let (status, error) = ask(&searcher, "/api/v1/one,nine/search", &quickwit);
    assert_eq!(
        (status, error["message"].as_str().unwrap().contains("nine")),
        (404, true)
    );
    // All hits, page by page.
    let mut seen = Vec::new();
    let body = json!({"query": {"match_all": {}}, "size": 37, "_source": ["n"]});
    let (_, mut page) = ask(&searcher, "/one,two/_search?scroll=1m", &body);
    while !page["hits"]["hits"].as_array().unwrap().is_empty() {
        let hits = page["hits"]["hits"].as_array().unwrap().iter();
        seen.extend(hits.map(|hit| hit["_source"]["n"].as_u64().unwrap()));
        let next = json!({"scroll": "1m", "scroll_id": page["_scroll_id"]});
        page = ask(&searcher, "/_search/scroll", &next).1;
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..400).collect::<Vec<u64>>());
}

#[test]
fn two_indexes_of_the_same_documents_show_each_twice() {
    let lines: Vec<String> = (0..20)
        .map(|n| json!({"n": n, "ts": 1_460_000_000 + n / 5}).to_string())
        .collect();
    let index = TestIndex::build_of(CONFIGS[0], &[&[("one", &lines)]], 10).unwrap();
    let mut builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    for name in ["b", "a"] {
        builder = builder
            .index_from(name, Arc::new(index.fetcher()), name)
            .unwrap();
    }
    let searcher = builder.build().unwrap();
    for sort in [
        json!([{"ts": "asc"}, {"_doc": "asc"}]),
        json!([{"ts": "desc"}, {"_doc": "desc"}]),
        json!([{"tag": "asc"}, {"_doc": "asc"}]),
    ] {
        let mut body = json!({"size": 7, "sort": sort, "_source": ["n"]});
        let mut seen = Vec::new();
        loop {
            let (_, page) = ask(&searcher, "/b,a/_search", &body);
            let hits = page["hits"]["hits"].as_array().unwrap();
            let Some(last) = hits.last() else { break };
            body["search_after"] = last["sort"].clone();
            seen.extend(
                hits.iter()
                    .map(|hit| format!("{}{}", hit["_index"], hit["_source"]["n"])),
            );
            assert!(seen.len() <= 40, "{sort}");
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 40, "{sort}");
    }
    for sort in [json!(["_doc"]), json!([{"ts": "asc"}])] {
        let body = json!({"size": 7, "sort": sort, "_source": ["n"]});
        let (_, mut page) = ask(&searcher, "/b,a/_search?scroll=1m", &body);
        let mut seen = Vec::new();
        while !page["hits"]["hits"].as_array().unwrap().is_empty() {
            let hits = page["hits"]["hits"].as_array().unwrap().iter();
            seen.extend(hits.map(|hit| format!("{}{}", hit["_index"], hit["_source"]["n"])));
            let next = json!({"scroll_id": page["_scroll_id"]});
            page = ask(&searcher, "/_search/scroll", &next).1;
        }
        seen.sort();
        assert!(seen.is_sorted_by(|left, right| left < right), "{sort}");
        assert_eq!(seen.len(), 40, "{sort}");
    }
}

#[test]
fn an_index_for_which_a_request_is_wrong_has_failed_and_the_others_answer() {
    let indexes = Indexes::new(2, 6);
    let searcher = indexes.searcher(Arc::new(NativeEngine::new()));
    let everywhere = json!({"query": {"match_all": {}}, "sort": [{"nowhere": "asc"}]});
    let (status, error) = ask(&searcher, "/one,two/_search", &everywhere);
    assert_eq!(status, 400, "{error}");
    // Only the second index has the sort field.
    let body = json!({"query": {"match_all": {}}, "sort": [{"other": "asc"}], "size": 400});
    let (status, answer) = ask(&searcher, "/one,two/_search", &body);
    assert_eq!((status, &answer["_shards"]["failed"]), (200, &json!(1)));
    let failure = &answer["_shards"]["failures"][0];
    assert_eq!(failure["node"], "one");
    assert!(
        failure["reason"]["reason"]
            .as_str()
            .unwrap()
            .contains("other")
    );
    let hits = answer["hits"]["hits"].as_array().unwrap();
    assert!(hits.len() > 100 && hits.iter().all(|hit| hit["_index"] == "two"));
}

#[test]
fn a_filter_of_indexes_leaves_those_out_that_hold_nothing() {
    let indexes = Indexes::new(2, 6);
    let searcher = indexes.searcher(Arc::new(NativeEngine::new()));
    let names = |filter: Value| {
        let body = json!({"index_filter": filter});
        let (status, answer) = ask(&searcher, "/one,two/_field_caps?fields=*", &body);
        assert_eq!(status, 200, "{answer}");
        answer["indices"].clone()
    };
    assert_eq!(names(json!({"match_all": {}})), json!(["one", "two"]));
    let late = json!({"range": {"ts": {"gte": "2030-01-01"}}});
    assert_eq!(names(late), json!([]));
    for tag in ["a", "x", "z"] {
        let filter = json!({"term": {"tag": tag}});
        let holds = |index: &&str| {
            let path = format!("/{index}/_count");
            let (status, answer) = ask(&searcher, &path, &json!({"query": filter}));
            status == 200 && answer["count"] != 0
        };
        let expected: Vec<&str> = ["one", "two"].into_iter().filter(holds).collect();
        assert_eq!(names(filter.clone()), json!(expected), "{filter}");
    }
}
