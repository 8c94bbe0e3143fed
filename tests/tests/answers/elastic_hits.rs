//! Selection of hits with Elasticsearch's API: one of each group, those with a minimum score, those
//! of a point in time, and those after a given hit.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use canter_runtime::cache::MemoryCache;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::MemoryFetcher;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, HttpAnswer, Limits, RangeCache, Searcher};
use canter_tests::{TestIndex, usual_or_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const CONFIG: &str = "
version: 0.9
index_id: hits
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: level, type: u64, fast: true}
    - {name: text, type: text, fieldnorms: true}
    - {name: tag, type: text, tokenizer: raw, fast: true}
    - {name: host, type: ip, fast: true}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
  timestamp_field: ts
";

fn documents(seed: u64, num: u64) -> Vec<Value> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let words = [
        "red",
        "green",
        "blue",
        "red red blue",
        "green blue",
        "blue blue blue red",
    ];
    let document = |n| {
        let mut document = json!({
            "n": n,
            "level": rng.random_range(0..9),
            "text": words[rng.random_range(0..words.len())],
            "ts": 1_460_000_000 + rng.random_range(0..30),
            "host": format!("10.0.0.{}", rng.random_range(0..5)),
        });
        if rng.random_bool(0.9) {
            document["tag"] = format!("t{}", rng.random_range(0..40)).into();
        }
        document
    };
    (0..num).map(document).collect()
}

fn lines(documents: &[Value]) -> Vec<String> {
    documents.iter().map(Value::to_string).collect()
}

fn index(documents: &[Value]) -> TestIndex {
    TestIndex::build(CONFIG, &lines(documents), 60).unwrap()
}

fn engines() -> [Arc<dyn Engine>; 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

fn searcher(fetcher: MemoryFetcher, engine: Arc<dyn Engine>) -> Searcher {
    let builder = Searcher::builder().engine(engine);
    let builder = builder.index_from("hits", Arc::new(fetcher), "hits");
    builder.unwrap().build().unwrap()
}

fn request(line: &str, body: &Value) -> HttpRequest {
    let (method, target) = line.split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    HttpRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        },
    }
}

fn answer_of(searcher: &Searcher, request: HttpRequest, caller: &Caller) -> HttpAnswer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(searcher.http(request, caller, &Limits::default()))
}

fn ask_as(searcher: &Searcher, line: &str, body: &Value, caller: &Caller) -> (u16, Value) {
    let answer = answer_of(searcher, request(line, body), caller);
    let json = serde_json::from_slice(&answer.response.body).unwrap();
    (answer.response.status, json)
}

fn ask(searcher: &Searcher, line: &str, body: &Value) -> Value {
    let (status, answer) = ask_as(searcher, line, body, &Caller::default());
    assert_eq!(status, 200, "{line} {body}: {answer}");
    answer
}

fn numbers(answer: &Value) -> Vec<u64> {
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect()
}

#[test]
fn of_each_group_the_first_hit_is_shown() {
    let documents = documents(1, 500);
    let index = index(&documents);
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        for (field, sort, size, from) in [
            ("tag", json!([{"n": "asc"}]), 10, 0),
            ("tag", json!([{"n": "desc"}]), 100, 0),
            ("tag", json!([{"level": "desc"}, {"n": "asc"}]), 7, 5),
            ("level", json!([{"tag": "asc"}, {"n": "asc"}]), 20, 2),
            ("host", json!([{"ts": "desc"}, {"n": "asc"}]), 3, 1),
            ("n", json!([{"n": "desc"}]), 9, 3),
        ] {
            let body = json!({"query": {"match": {"text": "blue"}}, "collapse": {"field": field}, "sort": sort,
                "size": size, "from": from, "track_total_hits": true});
            let answer = ask(&searcher, "POST /hits/_search", &body);
            let matching = documents.iter();
            let matching =
                matching.filter(|document| document["text"].as_str().unwrap().contains("blue"));
            let mut sorted: Vec<&Value> = matching.collect();
            assert_eq!(answer["hits"]["total"]["value"], sorted.len());
            for key in sort.as_array().unwrap().iter().rev() {
                let (name, order) = key.as_object().unwrap().iter().next().unwrap();
                sorted.sort_by(|left, right| {
                    let rank = |value: &Value| {
                        let number = value.as_u64().unwrap_or_default();
                        // Documents without a value come last in either direction.
                        (number, value.as_str().unwrap_or_default().to_owned())
                    };
                    let (one, other) = (&left[name], &right[name]);
                    let by_value = match order.as_str() {
                        Some("desc") => rank(other).cmp(&rank(one)),
                        _ => rank(one).cmp(&rank(other)),
                    };
                    one.is_null().cmp(&other.is_null()).then(by_value)
                });
            }
            let mut seen = BTreeSet::new();
            sorted.retain(|document| seen.insert(document[field].to_string()));
            let wanted = sorted.iter().skip(from).take(size);
            let wanted: Vec<u64> = wanted
                .map(|document| document["n"].as_u64().unwrap())
                .collect();
            assert_eq!(numbers(&answer), wanted, "{body}");
            for hit in answer["hits"]["hits"].as_array().unwrap() {
                let value = &hit["_source"][field];
                assert_eq!(hit["fields"][field], json!([value]), "{hit}");
            }
        }
        // By score, also with equal scores.
        for query in [json!({"match": {"text": "blue"}}), json!({"match_all": {}})] {
            let body = json!({"query": query, "collapse": {"field": "level"}, "size": 50});
            let answer = ask(&searcher, "POST /hits/_search", &body);
            let hits = answer["hits"]["hits"].as_array().unwrap();
            let levels: BTreeSet<u64> = hits
                .iter()
                .map(|hit| hit["_source"]["level"].as_u64().unwrap())
                .collect();
            assert_eq!((hits.len(), levels.len()), (9, 9), "{answer}");
            let best = ask(
                &searcher,
                "POST /hits/_search",
                &json!({"query": query, "size": 1}),
            );
            assert_eq!(numbers(&best)[0], numbers(&answer)[0]);
        }
    }
}

#[test]
fn hits_with_a_lower_score_are_none() {
    let index = index(&documents(2, 400));
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        let query = json!({"match": {"text": "red blue"}});
        let all = ask(
            &searcher,
            "POST /hits/_search",
            &json!({"query": query, "size": 400, "track_total_hits": true}),
        );
        let scores: Vec<f64> = all["hits"]["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| hit["_score"].as_f64().unwrap())
            .collect();
        for least in [0.0, scores[20], scores[200], scores[0], scores[0] + 1.0] {
            let body =
                json!({"query": query, "size": 400, "min_score": least, "track_total_hits": true});
            let answer = ask(&searcher, "POST /hits/_search", &body);
            let wanted = scores.iter().filter(|score| **score >= least).count();
            assert_eq!(answer["hits"]["total"]["value"], wanted, "{least}");
            assert_eq!(numbers(&answer).as_slice(), &numbers(&all)[..wanted]);
        }
        for (body, what) in [
            (
                json!({"min_score": 0.5, "sort": [{"n": "asc"}], "query": query}),
                "no scores",
            ),
            (
                json!({"min_score": 0.5, "query": query, "aggs": {"a": {"max": {"field": "n"}}}}),
                "aggregations",
            ),
            (json!({"min_score": "much"}), "number"),
        ] {
            let (status, error) =
                ask_as(&searcher, "POST /hits/_search", &body, &Caller::default());
            assert!(status == 400 && error.to_string().contains(what), "{error}");
        }
    }
}

#[test]
fn aggregations_see_what_a_filter_of_hits_leaves_out() {
    let index = index(&documents(3, 400));
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        let aggs = json!({"levels": {"terms": {"field": "level"}}});
        let query = json!({"match": {"text": "blue"}});
        let filter = json!({"range": {"level": {"gte": 6}}});
        let body = json!({"query": query, "post_filter": filter, "aggs": aggs, "sort": [{"n": "asc"}], "size": 5});
        let answer = ask(&searcher, "POST /hits/_search", &body);
        let of = |query: Value| {
            ask(
                &searcher,
                "POST /hits/_search",
                &json!({"query": query, "aggs": aggs, "sort": [{"n": "asc"}], "size": 5}),
            )
        };
        let (all, filtered) = (
            of(query.clone()),
            of(json!({"bool": {"must": [query], "filter": [filter]}})),
        );
        assert_eq!(answer["aggregations"], all["aggregations"]);
        assert_eq!(answer["hits"], filtered["hits"]);
        assert_ne!(answer["hits"]["total"], all["hits"]["total"]);
        let parts = ask(
            &searcher,
            "POST /hits/_search?filter_path=aggregations.*.buckets.key,hits.total",
            &body,
        );
        assert!(
            parts["hits"]["hits"].is_null()
                && parts["aggregations"]["levels"]["buckets"][0]["key"].is_u64()
        );
        let named = ask(&searcher, "POST /hits/_search?typed_keys=true", &body);
        assert_eq!(
            named["aggregations"]["ulterms#levels"],
            all["aggregations"]["levels"]
        );
        let lines = format!("{{}}\n{body}\n");
        let request = HttpRequest {
            method: "POST".to_owned(),
            path: "/hits/_msearch".to_owned(),
            query: String::new(),
            body: lines.into_bytes(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let many = runtime.block_on(searcher.http(request, &Caller::default(), &Limits::default()));
        let many: Value = serde_json::from_slice(&many.response.body).unwrap();
        assert_eq!(many["responses"][0]["aggregations"], all["aggregations"]);
        assert_eq!(many["responses"][0]["hits"], filtered["hits"]);
    }
}

/// Returns all hits, fetched page by page with the last hit of the page before.
fn pages(searcher: &Searcher, path: &str, mut body: Value) -> Vec<u64> {
    let mut seen = Vec::new();
    loop {
        let answer = ask(searcher, path, &body);
        if let Some(id) = answer.get("pit_id") {
            body["pit"]["id"] = id.clone();
        }
        let Some(last) = answer["hits"]["hits"].as_array().unwrap().last() else {
            return seen;
        };
        body["search_after"] = last["sort"].clone();
        seen.extend(numbers(&answer));
        assert!(seen.len() <= 2_000, "{body}");
    }
}

#[test]
fn documents_with_the_same_values_are_told_apart_behind_a_page() {
    let num = usual_or_full(100, 300) as u64;
    let documents = documents(4, num);
    let index = index(&documents);
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        for (sort, size) in [
            (json!([{"ts": "asc"}, {"_doc": "asc"}]), 7),
            (json!([{"ts": "desc"}, {"_doc": "desc"}]), 1),
            (json!([{"level": "desc"}, {"_doc": "asc"}]), 11),
            (
                json!([{"tag": {"order": "asc", "missing": "_first"}}, {"ts": "desc"}, {"_shard_doc": "asc"}]),
                13,
            ),
        ] {
            let body = json!({"query": {"match_all": {}}, "sort": sort, "size": size});
            let mut seen = pages(&searcher, "POST /hits/_search", body);
            let key = sort[0].as_object().unwrap().keys().next().unwrap().clone();
            if key == "level" {
                let level = |n: &u64| {
                    documents[usize::try_from(*n).unwrap()]["level"]
                        .as_u64()
                        .unwrap()
                };
                assert!(
                    seen.iter()
                        .map(level)
                        .is_sorted_by(|left, right| left >= right)
                );
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..num).collect::<Vec<u64>>(), "{sort}");
        }
    }
}

/// Server with a growing index.
struct Growing {
    before: TestIndex,
    after: TestIndex,
}

impl Growing {
    fn new() -> Self {
        let documents = documents(5, 200);
        let (old, new) = (lines(&documents[..120]), lines(&documents[120..]));
        Self {
            before: TestIndex::build_of(CONFIG, &[&[("old", &old)]], 40).unwrap(),
            after: TestIndex::build_of(CONFIG, &[&[("old", &old)], &[("new", &new)]], 40).unwrap(),
        }
    }

    fn searcher(
        &self,
        has_grown: bool,
        engine: Arc<dyn Engine>,
        cache: Option<Arc<dyn RangeCache>>,
    ) -> Searcher {
        let index = if has_grown { &self.after } else { &self.before };
        // Objects that are no longer referenced stay for a while.
        let mut objects = self.before.objects.clone();
        objects.extend(index.objects.clone());
        let fetcher: MemoryFetcher = objects.into_iter().collect();
        let builder = Searcher::builder().engine(engine);
        let builder = builder
            .index_from("hits", Arc::new(fetcher), "hits")
            .unwrap();
        match cache {
            Some(cache) => builder.cache(cache).build().unwrap(),
            None => builder.build().unwrap(),
        }
    }
}

#[test]
fn a_point_in_time_stays_as_it_was_while_its_index_grows() {
    let growing = Growing::new();
    for engine in engines() {
        let cache: Arc<dyn RangeCache> = Arc::new(MemoryCache::new(64 << 20));
        let before = growing.searcher(false, Arc::clone(&engine), Some(Arc::clone(&cache)));
        let opened = ask(&before, "POST /hits/_pit?keep_alive=1m", &Value::Null);
        let body = json!({"query": {"match_all": {}}, "size": 17, "pit": {"id": opened["id"], "keep_alive": "1m"}});
        let after = growing.searcher(true, Arc::clone(&engine), Some(cache));
        for searcher in [&before, &after] {
            for sort in [
                Value::Null,
                json!([{"ts": "asc"}]),
                json!([{"level": "desc"}, {"ts": "asc"}, {"n": "asc"}]),
            ] {
                let mut body = body.clone();
                if !sort.is_null() {
                    body["sort"] = sort.clone();
                }
                let mut seen = pages(searcher, "POST /_search", body);
                seen.sort_unstable();
                assert_eq!(seen, (0..120).collect::<Vec<u64>>(), "{sort}");
            }
        }
        let all = ask(&after, "POST /hits/_count", &json!({}));
        assert_eq!(all["count"], 200);
        let closed = ask(&after, "DELETE /_pit", &json!({"id": opened["id"]}));
        assert_eq!(closed["succeeded"], true);
        // A host with another cache does not have the point in time.
        let other: Arc<dyn RangeCache> = Arc::new(MemoryCache::new(64 << 20));
        let other = growing.searcher(true, engine, Some(other));
        let (status, error) = ask_as(&other, "POST /_search", &body, &Caller::default());
        assert_eq!(
            (status, &error["error"]["type"]),
            (404, &json!("search_context_missing_exception"))
        );
    }
}

#[test]
fn a_scroll_goes_through_all_hits_in_any_order() {
    let documents = documents(6, 150);
    let index = index(&documents);
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        for sort in [
            json!([{"n": "desc"}]),
            json!([{"level": "asc"}]),
            json!([{"ts": "asc"}]),
            json!(["_score"]),
            json!([{"tag": {"order": "desc", "missing": "_first"}}, {"_doc": "desc"}]),
        ] {
            let body = json!({"query": {"match_all": {}}, "sort": sort, "size": 13});
            let mut page = ask(&searcher, "POST /hits/_search?scroll=1m", &body);
            let mut seen = Vec::new();
            while !numbers(&page).is_empty() {
                assert_eq!(page["hits"]["total"]["value"], 150);
                seen.extend(numbers(&page));
                let next = json!({"scroll": "1m", "scroll_id": page["_scroll_id"]});
                page = ask(&searcher, "POST /_search/scroll", &next);
            }
            if sort == json!([{"n": "desc"}]) {
                assert!(seen.is_sorted_by(|left, right| left > right));
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..150).collect::<Vec<u64>>(), "{sort}");
        }
    }
}

/// The number of hits in the splits that no page has reached is known from the manifest, or
/// determined at once.
#[test]
fn the_first_page_of_a_scroll_reads_the_splits_of_its_hits_only() {
    let lines = lines(&documents(8, 1_200));
    let index = TestIndex::build(CONFIG, &lines, 30).unwrap();
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        for (query, num_hits, max_waves, max_requests) in [
            (json!({"match_all": {}}), 1_200, 3, 8),
            (json!({"range": {"n": {"gte": 200}}}), 1_000, 12, 80),
        ] {
            let body = json!({"query": query, "size": 10, "sort": ["_doc"]});
            let request = request("POST /hits/_search?scroll=1m", &body);
            let answer = answer_of(&searcher, request, &Caller::default());
            let page: Value = serde_json::from_slice(&answer.response.body).unwrap();
            assert_eq!(page["hits"]["total"]["value"], num_hits, "{query}");
            assert_eq!(numbers(&page).len(), 10, "{query}");
            let cost = &answer.profile;
            assert!(
                cost.num_waves <= max_waves && cost.num_requests <= max_requests,
                "{query}: {} waves, {} requests",
                cost.num_waves,
                cost.num_requests
            );
        }
    }
}

/// Places of hits can neither be read nor forged.
#[test]
fn a_scroll_tells_a_caller_with_a_filter_no_places() {
    let documents = documents(9, 300);
    let index = index(&documents);
    let caller = Caller {
        forced_filter: Some("level:[3 TO 5]".to_owned()),
        ..Caller::default()
    };
    let level = |n: u64| documents[n as usize]["level"].as_u64().unwrap();
    let expected: Vec<u64> = (0..300).filter(|n| (3..=5).contains(&level(*n))).collect();
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        let body = json!({"size": 7, "sort": ["_doc"]});
        let (_, mut page) = ask_as(&searcher, "POST /hits/_search?scroll=1m", &body, &caller);
        let mut seen = Vec::new();
        while !numbers(&page).is_empty() {
            seen.extend(numbers(&page));
            let id = page["_scroll_id"].as_str().unwrap();
            let written = BASE64_URL_SAFE_NO_PAD.decode(id).unwrap();
            let mut written: Value = serde_json::from_slice(&written).unwrap();
            let split = index.objects.keys().find_map(|name| {
                let id = name.strip_prefix("splits/")?.strip_suffix(".split")?;
                written.to_string().contains(id).then_some(id)
            });
            assert_eq!(split, None, "{written}");
            // A forged place is refused.
            let hidden = written["after"]["hidden"].as_u64().unwrap();
            written["after"]["hidden"] = json!(hidden ^ 1);
            let made_up = BASE64_URL_SAFE_NO_PAD.encode(written.to_string());
            let next = json!({"scroll_id": made_up});
            let (status, _) = ask_as(&searcher, "POST /_search/scroll", &next, &caller);
            assert_eq!(status, 404);
            let next = json!({"scroll_id": id});
            page = ask_as(&searcher, "POST /_search/scroll", &next, &caller).1;
        }
        seen.sort_unstable();
        assert_eq!(seen, expected);
    }
}

/// This also holds for the order of the index, in which splits are searched one after another.
#[test]
fn the_first_page_of_a_scroll_counts_and_aggregates_all_splits() {
    let documents = documents(7, 150);
    let index = index(&documents);
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        for sort in [Value::Null, json!(["_doc"]), json!([{"n": "asc"}])] {
            for has_aggs in [false, true] {
                let mut body = json!({"size": 13});
                if !sort.is_null() {
                    body["sort"] = sort.clone();
                }
                if has_aggs {
                    body["aggs"] = json!({"num": {"value_count": {"field": "n"}}});
                }
                let mut page = ask(&searcher, "POST /hits/_search?scroll=1m", &body);
                let num = &page["aggregations"]["num"]["value"];
                assert_eq!(num.as_f64(), has_aggs.then_some(150.0), "{body}");
                let mut seen = Vec::new();
                while !numbers(&page).is_empty() {
                    let total = json!({"value": 150, "relation": "eq"});
                    assert_eq!(page["hits"]["total"], total, "{body}");
                    seen.extend(numbers(&page));
                    let next = json!({"scroll": "1m", "scroll_id": page["_scroll_id"]});
                    page = ask(&searcher, "POST /_search/scroll", &next);
                    assert!(page.get("aggregations").is_none(), "{body}");
                }
                seen.sort_unstable();
                assert_eq!(seen, (0..150).collect::<Vec<u64>>(), "{body}");
            }
        }
    }
}

/// Each request decides whether the number of hits is a plain number.
#[test]
fn a_page_of_a_scroll_has_its_total_in_the_form_that_it_is_asked_for() {
    let index = index(&documents(8, 40));
    for engine in engines() {
        let searcher = searcher(index.fetcher(), engine);
        for sort in [json!(["_doc"]), json!([{"n": "asc"}])] {
            let body = json!({"sort": sort, "size": 7});
            let object = json!({"value": 40, "relation": "eq"});
            for (first, expect) in [("", &object), ("&rest_total_hits_as_int=true", &json!(40))] {
                let line = format!("POST /hits/_search?scroll=1m{first}");
                let mut page = ask(&searcher, &line, &body);
                assert_eq!(page["hits"]["total"], *expect);
                for (path, expect) in [
                    ("/_search/scroll?rest_total_hits_as_int=true", &json!(40)),
                    ("/_search/scroll?rest_total_hits_as_int=false", &object),
                    ("/_search/scroll", &object),
                ] {
                    let next = json!({"scroll": "1m", "scroll_id": page["_scroll_id"]});
                    page = ask(&searcher, &format!("POST {path}"), &next);
                    assert_eq!(page["hits"]["total"], *expect, "{path}");
                }
            }
        }
    }
}

#[test]
fn numbers_of_several_types_are_one_value() {
    let documents = ["{\"o\": 1}", "{\"o\": 2}", "{\"o\": 1.0}", "{\"o\": 1.5}"];
    let documents = documents.map(str::to_owned);
    let config = "
version: 0.9
index_id: numbers
doc_mapping: {mode: dynamic}
";
    let index = TestIndex::build(config, &documents, 2).unwrap();
    let searcher = searcher(index.fetcher(), Arc::new(NativeEngine::new()));
    let body = json!({"collapse": {"field": "o"}, "sort": [{"o": "asc"}]});
    let answer = ask(&searcher, "POST /hits/_search", &body);
    assert_eq!(
        answer["hits"]["hits"].as_array().unwrap().len(),
        3,
        "{answer}"
    );
}

#[test]
fn what_is_no_point_in_time_is_refused() {
    let growing = Growing::new();
    let searcher = growing.searcher(false, Arc::new(NativeEngine::new()), None);
    let refused = |line: &str, body: Value, caller: &Caller, what: &str| {
        let (status, error) = ask_as(&searcher, line, &body, caller);
        assert!(
            status == 400 && error.to_string().contains(what),
            "{line} {body}: {error}"
        );
    };
    let all = Caller::default();
    // Without a cache, the manifest cannot be kept.
    refused(
        "POST /hits/_pit?keep_alive=1m",
        Value::Null,
        &all,
        "keeps nothing",
    );
    refused("POST /hits/_pit", Value::Null, &all, "keep_alive");
    refused(
        "POST /_search",
        json!({"pit": {"id": "bm9uZQ"}}),
        &all,
        "no point in time",
    );
    refused(
        "POST /_search",
        json!({"pit": {"id": "?"}}),
        &all,
        "no point in time",
    );
    refused(
        "POST /_search",
        json!({"pit": "x"}),
        &all,
        "id and keep_alive",
    );
    let some = Caller {
        forced_filter: Some("level:3".to_owned()),
        ..Caller::default()
    };
    refused(
        "POST /hits/_pit?keep_alive=1m",
        Value::Null,
        &some,
        "filter",
    );
    refused(
        "POST /hits/_search",
        json!({"collapse": {"field": "text"}}),
        &all,
        "fast",
    );
    refused(
        "POST /hits/_search",
        json!({"collapse": {"field": "level", "inner_hits": {"nonsense": 1}}}),
        &all,
        "inner_hits",
    );
    let behind =
        json!({"collapse": {"field": "level"}, "sort": [{"n": "asc"}], "search_after": [3]});
    refused("POST /hits/_search", behind, &all, "collapse");
}
