//! Several searches in one request: each has the same answer or the same error as alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use canter_runtime::cache::MemoryCache;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::{TestIndex, usual_or_full};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const CONFIG: &str = "
version: 0.9
index_id: hits
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: level, type: u64, fast: true}
    - {name: text, type: text, fieldnorms: true}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
  timestamp_field: ts
";

/// Returns keys of a search body with valid and invalid values. All keys that a search supports are
/// here.
fn of_bodies() -> Vec<(&'static str, Vec<Value>)> {
    vec![
        (
            "query",
            vec![
                json!({"match": {"text": "red"}}),
                json!({"match_al": {}}),
                json!("text:red"),
            ],
        ),
        (
            "aggs",
            vec![
                json!({"l": {"terms": {"field": "level"}}}),
                json!({"l": {"nonsense": {}}}),
            ],
        ),
        (
            "aggregations",
            vec![json!({"m": {"max": {"field": "n"}}}), json!([1])],
        ),
        (
            "post_filter",
            vec![json!({"term": {"level": 3}}), json!({"term": 3})],
        ),
        (
            "collapse",
            vec![
                json!({"field": "level"}),
                json!({"field": "level", "inner_hits": {"size": 1}}),
                json!({"field": "nonsense"}),
            ],
        ),
        ("min_score", vec![json!(0.5), json!("x")]),
        ("size", vec![json!(3), json!("4"), json!(-1), json!(20_000)]),
        ("from", vec![json!(2), json!(null), json!("x")]),
        (
            "sort",
            vec![
                json!([{"n": "desc"}]),
                json!(["_doc"]),
                json!([{"n": "up"}]),
            ],
        ),
        ("search_after", vec![json!([3]), json!("x")]),
        (
            "_source",
            vec![json!(false), json!(["n"]), json!({"nonsense": []})],
        ),
        ("fields", vec![json!(["level"]), json!([1])]),
        (
            "docvalue_fields",
            vec![json!([{"field": "ts", "format": "epoch_millis"}]), json!(1)],
        ),
        ("stored_fields", vec![json!("_none_"), json!(["n"])]),
        (
            "highlight",
            vec![json!({"fields": {"text": {}}}), json!({"fields": 1})],
        ),
        (
            "track_total_hits",
            vec![json!(true), json!(false), json!(5), json!("x")],
        ),
        ("timeout", vec![json!("10s"), json!("soon")]),
        (
            "pit",
            vec![json!({"id": "x"}), json!({"keep_alive": "1m"}), json!(1)],
        ),
        ("script_fields", vec![json!({}), json!({"a": {}})]),
        ("runtime_mappings", vec![json!({}), json!({"a": {}})]),
        ("profile", vec![json!(false), json!(1)]),
        ("terminate_after", vec![json!(0), json!(1)]),
        ("stats", vec![json!([]), json!(["a"])]),
        ("version", vec![json!(false), json!(true)]),
        ("seq_no_primary_term", vec![json!(false), json!(true)]),
        ("track_scores", vec![json!(false), json!(true)]),
        ("explain", vec![json!(false), json!(true)]),
        ("slice", vec![json!({"id": 0, "max": 2})]),
        (
            "suggest",
            vec![
                json!({}),
                json!({"s": {"text": "rad", "term": {"field": "text"}}}),
                json!({"s": {"text": "rad", "phrase": {"field": "text"}}}),
            ],
        ),
        (
            "rescore",
            vec![
                json!({"query": {"rescore_query": {"match": {"text": "red"}}}}),
                json!([]),
                json!({"window_size": 0}),
            ],
        ),
        (
            "indices_boost",
            vec![json!([{"*": 2.0}]), json!([{"*": "x"}])],
        ),
        ("nonsense", vec![json!(1)]),
    ]
}

/// Parameters of the URL of a search. A request with several searches supports fewer.
const OF_URLS: &[(&str, &[&str])] = &[
    ("q", &["text:red"]),
    ("df", &["text"]),
    ("default_operator", &["AND"]),
    ("analyze_wildcard", &["true"]),
    ("lenient", &["true"]),
    ("extra_filters", &["text:red", "text:red,n:3"]),
    ("language", &["kql"]),
    ("size", &["3", "x"]),
    ("from", &["2"]),
    ("sort", &["n:desc"]),
    ("track_total_hits", &["true", "5"]),
    ("rest_total_hits_as_int", &["true", "false", "x"]),
    ("typed_keys", &["true", "x"]),
    ("timeout", &["10s"]),
    ("scroll", &["1m"]),
    ("_source", &["n"]),
    ("_source_includes", &["n"]),
    ("_source_excludes", &["n"]),
    ("docvalue_fields", &["n"]),
    ("explain", &["true", "false"]),
    ("version", &["true"]),
    ("seq_no_primary_term", &["true"]),
    ("track_scores", &["true"]),
    ("pretty", &["true"]),
    ("search_type", &["query_then_fetch", "bogus"]),
    ("ignore_unavailable", &["true", "x"]),
    ("allow_no_indices", &["true", "x"]),
    ("expand_wildcards", &["open", "none", "x"]),
    ("preference", &["_local"]),
    ("request_cache", &["true"]),
    ("stored_fields", &["n"]),
    ("include_named_queries_score", &["true", "x"]),
    ("batched_reduce_size", &["2", "1"]),
    ("pre_filter_shard_size", &["1", "0"]),
    ("max_concurrent_searches", &["5", "0"]),
    ("max_concurrent_shard_requests", &["5", "0"]),
    ("nonsense", &["1"]),
];

/// Parameters that apply to the whole answer, where answers to several searches have another key.
const OF_THE_WHOLE: &[&str] = &["filter_path"];

struct Server {
    searcher: Searcher,
    runtime: Runtime,
}

impl Server {
    fn new(engine: Arc<dyn Engine>) -> Self {
        let document = |n: u64| {
            let text = ["red", "green red", "blue"][n as usize % 3];
            json!({"n": n, "level": n % 5, "text": text, "ts": 1_460_000_000 + n}).to_string()
        };
        let lines: Vec<String> = (0..60).map(document).collect();
        let index = TestIndex::build(CONFIG, &lines, 25).unwrap();
        let mut builder = Searcher::builder().engine(engine);
        for name in ["hits", "others"] {
            builder = builder
                .index_from(name, Arc::new(index.fetcher()), name)
                .unwrap();
        }
        let cache = Arc::new(MemoryCache::new(64 << 20));
        Self {
            searcher: builder.cache(cache).build().unwrap(),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap(),
        }
    }

    fn text(&self, path: &str, query: &str, body: String) -> (u16, String) {
        let request = HttpRequest {
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: body.into_bytes(),
        };
        let (caller, limits) = (Caller::default(), Limits::default());
        let answer = self.searcher.http(request, &caller, &limits);
        let response = self.runtime.block_on(answer).response;
        (response.status, String::from_utf8(response.body).unwrap())
    }

    fn json(&self, path: &str, query: &str, body: String) -> Value {
        serde_json::from_str(&self.text(path, query, body).1).unwrap()
    }

    /// Sends one search with `_msearch`. Returns its answer in the form of a single search, or the
    /// whole answer if that is an error.
    fn beside(&self, path: &str, header: &Value, query: &str, body: &Value) -> Value {
        let lines = format!("{header}\n{body}\n");
        let mut answer = self.json(&format!("{path}/_msearch"), query, lines);
        match answer.pointer_mut("/responses/0").map(Value::take) {
            Some(one) => without_time(one),
            None => answer,
        }
    }

    fn alone(&self, path: &str, query: &str, body: &Value) -> Value {
        without_time(self.json(&format!("{path}/_search"), query, body.to_string()))
    }
}

/// Removes the values that vary and the status that each of several answers has.
fn without_time(mut answer: Value) -> Value {
    if let Some(keys) = answer.as_object_mut() {
        keys.remove("took");
        if !keys.contains_key("error") {
            keys.remove("status");
        }
    }
    answer
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

#[test]
fn every_key_of_a_search_means_the_same_among_many() {
    for (engine, num_others) in engines().into_iter().zip([2, usual_or_full(1, 2)]) {
        let server = Server::new(engine);
        for (key, values) in of_bodies() {
            for value in values {
                // The effect of some keys depends on other keys.
                let others = [json!({"sort": [{"n": "asc"}], "size": 2}), json!({})];
                for others in others.into_iter().take(num_others) {
                    let mut body = others;
                    body[key] = value.clone();
                    for path in ["", "/hits", "/hits,others"] {
                        let alone = server.alone(path, "", &body);
                        let beside = server.beside(path, &json!({}), "", &body);
                        assert_eq!(beside, alone, "{path} {body}");
                        if !path.is_empty() {
                            let header = json!({"index": path.trim_start_matches('/')});
                            let named = server.beside("", &header, "", &body);
                            assert_eq!(named, alone, "{header} {body}");
                        }
                    }
                }
            }
        }
        let body = json!({"size": 1, "sort": [{"n": "asc"}]});
        for (key, values) in OF_URLS {
            for value in *values {
                let query = format!("{key}={value}");
                let alone = server.alone("/hits", &query, &body);
                let of_url = server.beside("/hits", &json!({}), &query, &body);
                let of_header = server.beside("/hits", &json!({(*key): value}), "", &body);
                for beside in [of_url, of_header] {
                    let is_refused = beside["status"] == 400 && beside.to_string().contains(key);
                    assert!(beside == alone || is_refused, "{query}: {beside}, {alone}");
                }
            }
        }
    }
}

/// The source of the guest shows which keys of a body and of a URL it reads.
#[test]
fn every_key_that_a_search_knows_is_in_the_table() {
    let sources = [
        include_str!("../../../guest/src/api/elastic/given/body.rs"),
        include_str!("../../../guest/src/api/elastic/search/read.rs"),
        include_str!("../../../guest/src/api/elastic/search/order.rs"),
        include_str!("../../../guest/src/api/elastic/search/shown.rs"),
        include_str!("../../../guest/src/api/elastic/given/params.rs"),
    ];
    let mut known = BTreeSet::new();
    for source in sources {
        let source: String = source.split_whitespace().collect();
        for asks in [
            ".take(\"",
            ".count(\"",
            "(&mutbody,params,\"",
            ".duration(\"",
            ".only(\"",
            ".text(\"",
            ".flag(\"",
            ".names(\"",
            ".choice(\"",
            "in[(\"",
            "),(\"",
            "in[\"",
        ] {
            let found = source.split(asks).skip(1);
            known.extend(found.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
        }
    }
    let bodies = of_bodies();
    let listed: BTreeSet<&str> = bodies
        .iter()
        .map(|(key, _)| *key)
        .chain(OF_URLS.iter().map(|(key, _)| *key))
        .chain(OF_THE_WHOLE.iter().copied())
        // Adds the keys that come from tables, those that concern a whole request, and what the server says of an alias.
        .chain(["_global_query", "format", "include_named_queries_score"])
        .collect();
    assert!(known.len() > 35, "{known:?}");
    let missing: Vec<&String> = known
        .iter()
        .filter(|key| !listed.contains(key.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn points_in_time_are_searched_among_others() {
    for engine in engines() {
        let server = Server::new(engine);
        let pit = |index: &str| {
            let opened = server.json(&format!("/{index}/_pit"), "keep_alive=1m", String::new());
            json!({"id": opened["id"], "keep_alive": "1m"})
        };
        let (hits, both) = (pit("hits"), pit("hits,others"));
        let body = |pit: &Value| json!({"pit": pit, "size": 1, "track_total_hits": true});
        let lines: Vec<String> = [
            (json!({}), body(&hits)),
            (json!({}), body(&both)),
            (json!({"index": "hits"}), body(&hits)),
            (json!({"index": "hits"}), json!({"size": 0})),
        ]
        .iter()
        .map(|(header, body)| format!("{header}\n{body}\n"))
        .collect();
        let answers = server.json("/_msearch", "", lines.concat());
        let answers = answers["responses"].as_array().unwrap();
        for (answer, pit, total) in [(&answers[0], &hits, 60), (&answers[1], &both, 120)] {
            assert_eq!(answer["hits"]["total"]["value"], total, "{answer}");
            assert_eq!(answer["pit_id"], pit["id"]);
            assert_eq!(
                without_time(answer.clone()),
                server.alone("", "", &body(pit))
            );
        }
        let reason = answers[2]["error"]["reason"].as_str().unwrap();
        assert!(
            reason.contains("cannot be used with point in time"),
            "{reason}"
        );
        assert_eq!(answers[3]["hits"]["total"]["value"], 60);
        // The same holds if the path names an index.
        let refused = server.beside("/hits", &json!({}), "", &body(&hits));
        assert_eq!(refused["status"], 400, "{refused}");
    }
}

#[test]
fn the_answers_of_many_are_laid_out_for_people_if_they_are_asked_to_be() {
    let server = Server::new(Arc::new(NativeEngine::new()));
    let lines = || "{}\n{\"size\": 0}\n".to_owned();
    let (_, short) = server.text("/hits/_msearch", "", lines());
    let (_, laid_out) = server.text("/hits/_msearch", "pretty", lines());
    assert!(
        !short.contains('\n') && laid_out.contains("\n  \"responses\": ["),
        "{laid_out}"
    );
}
