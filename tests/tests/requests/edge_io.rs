//! Host of the adapters for WASI and Fastly on a real index: the same answers as the runtime,
//! within its budgets, from its cache, and with the names of store faults.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use canter_edge_io::{Cache, Call, FolderCache, Host, Landed, Options, Platform, Reception};
use canter_protocol::HttpRequest;
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines};
use http::HeaderMap;
use http::header::{CONTENT_RANGE, ETAG, HeaderValue};
use serde_json::{Value, json};
use url::Url;

const SPLIT_NUM_DOCS: u64 = 700;

/// Objects of an index, with the number of requests for them.
#[derive(Default)]
struct Objects {
    objects: BTreeMap<String, Bytes>,
    num_calls: u64,
    now_us: u64,
    ignores_ranges: bool,
    /// Processor time in milliseconds between two reads of the clock; `None` for a platform without
    /// such a clock.
    cpu_ms_a_look: Option<u64>,
    cpu_ms: Cell<u64>,
}

impl Objects {
    fn of(index: &TestIndex) -> Self {
        Self {
            objects: index.objects.clone(),
            ..Self::default()
        }
    }

    fn answer(&self, call: Call) -> Result<Reception, Landed> {
        let mut headers = HeaderMap::new();
        let name = call.url.path().trim_start_matches("/logs/");
        let Some(object) = self.objects.get(name) else {
            return Reception::begin(call, 404, &headers);
        };
        let mut hasher = DefaultHasher::new();
        object.hash(&mut hasher);
        let etag = format!("\"{:x}\"", hasher.finish());
        if call.known_etag.as_ref() == Some(&etag) {
            return Reception::begin(call, 304, &headers);
        }
        if let Ok(etag) = HeaderValue::from_str(&etag) {
            headers.insert(ETAG, etag);
        }
        let range = call.range.filter(|_| !self.ignores_ranges);
        let Some(range) = range else {
            let mut reception = Reception::begin(call, 200, &headers)?;
            reception.take(object)?;
            return Ok(reception);
        };
        let first = usize::try_from(range.first).unwrap_or(usize::MAX);
        let len = range.len.and_then(|len| usize::try_from(len).ok());
        let end = first + len.unwrap_or(object.len());
        let said = format!("bytes {first}-{}/{}", end - 1, object.len());
        if let Ok(said) = HeaderValue::from_str(&said) {
            headers.insert(CONTENT_RANGE, said);
        }
        let mut reception = Reception::begin(call, 206, &headers)?;
        reception.take(object.get(first..end).unwrap_or_default())?;
        Ok(reception)
    }
}

impl Platform for Objects {
    type Flight = Call;

    fn now_us(&self) -> u64 {
        self.now_us
    }

    fn unix_ms(&self) -> u64 {
        1_700_000_000_000
    }

    fn cpu_ms(&self) -> Option<u64> {
        let before = self.cpu_ms.get();
        self.cpu_ms.set(before + self.cpu_ms_a_look?);
        Some(before)
    }

    fn can_pause(&self) -> bool {
        false
    }

    fn send(&mut self, call: Call) -> Result<Call, Landed> {
        self.num_calls += 1;
        Ok(call)
    }

    fn wait(&mut self, flights: &mut Vec<Call>, _: Option<u64>) -> Option<Landed> {
        self.now_us += 1000;
        // Returns the last one first, since no answer may depend on the order.
        let call = flights.pop()?;
        Some(
            self.answer(call)
                .map_or_else(|landed| landed, Reception::end),
        )
    }
}

fn requests() -> [Value; 7] {
    [
        json!({"query": "severity_text:ERROR", "max_hits": 10}),
        json!({"query": "body:\"received block\"", "max_hits": 5}),
        json!({"query": "body:connect* OR body:exception", "max_hits": 3, "sort_by": "_score"}),
        json!({"query": "tenant_id:[10 TO 20]", "max_hits": 5, "sort_by": "-tenant_id"}),
        json!({"query": "severity_text:WARN", "max_hits": 5, "start_offset": 3}),
        json!({"query": "*", "max_hits": 0, "aggs": {"tenants": {
            "terms": {"field": "tenant_id", "size": 100},
        }}}),
        json!({"query": "body:block", "max_hits": 2, "aggs": {"days": {
            "date_histogram": {"field": "timestamp", "fixed_interval": "1h"},
        }}}),
    ]
}

fn index() -> Result<TestIndex> {
    TestIndex::build(HDFS_LOGS_YAML, &hdfs_lines(3_000, 33)?, SPLIT_NUM_DOCS)
}

/// Returns a host with this index under the name `logs`.
fn host<C: Cache>(index: &TestIndex, cache: C, options: Options) -> Result<Host<Objects, C>> {
    let logs = BTreeMap::from([("logs".to_owned(), Url::parse("http://store.example/logs")?)]);
    Ok(Host::new(Objects::of(index), cache, options, logs))
}

/// Returns the parts of an answer that are equal on all hosts.
fn essence(answer: &Value) -> Value {
    let keys = [
        "hits",
        "num_hits",
        "aggregations",
        "failed_splits",
        "skipped_splits",
    ];
    let mut essence = answer.clone();
    if let Some(essence) = essence.as_object_mut() {
        essence.retain(|key, value| keys.contains(&key.as_str()) && !value.is_null());
    }
    essence
}

fn post<C: Cache>(host: &mut Host<Objects, C>, request: &Value) -> Result<Value> {
    let answer = host.answer(&HttpRequest {
        method: "POST".to_owned(),
        path: "/api/v1/logs/search".to_owned(),
        query: String::new(),
        body: request.to_string().into_bytes(),
    });
    ensure!(answer.response.status == 200, "{:?}", answer.error);
    Ok(serde_json::from_slice(&answer.response.body)?)
}

#[test]
fn answers_are_those_of_the_runtime_with_and_without_a_cache() -> Result<()> {
    let index = index()?;
    let folder = tempfile::tempdir()?;
    let mut bare = host(&index, None::<FolderCache>, Options::default())?;
    for request in requests() {
        let expected = essence(&index.search(&request)?.json);
        assert_eq!(essence(&post(&mut bare, &request)?), expected, "{request}");
        for round in 0..2 {
            // Each round simulates a separate process.
            let cache = FolderCache::open(folder.path(), 64 << 20)?;
            let mut host = host(&index, Some(cache), Options::default())?;
            let found = essence(&post(&mut host, &request)?);
            assert_eq!(found, expected, "{request} {round}");
            host.settle();
            // Only the manifest is requested again.
            let num_calls = host.platform().num_calls;
            ensure!(round == 0 || num_calls == 1, "{request}: {num_calls}");
        }
    }
    Ok(())
}

#[test]
fn the_only_index_has_no_name() -> Result<()> {
    let index = index()?;
    let url = Url::parse("http://store.example/logs")?;
    let platform = Objects::of(&index);
    let mut host = Host::of_one(platform, None::<FolderCache>, Options::default(), url);
    for request in requests() {
        let answer: Value = serde_json::from_str(&host.search(&request.to_string())?)?;
        assert_eq!(essence(&answer), essence(&index.search(&request)?.json));
    }
    let error = host.search("{\"query\": \"a AND\"}").err();
    error.context("this is no query")?;
    Ok(())
}

#[test]
fn a_budget_cuts_the_answer_and_not_the_search() -> Result<()> {
    let index = index()?;
    let request = json!({"query": "body:block", "max_hits": 5, "sort_by": "-tenant_id"});
    let whole = {
        let mut host = host(&index, None::<FolderCache>, Options::default())?;
        post(&mut host, &request)?;
        host.platform().num_calls
    };
    ensure!(whole > 4, "{whole} requests are too few to cut");
    for max_requests in 0..whole {
        let mut options = Options::default();
        options.budget.max_requests = Some(max_requests);
        let mut host = host(&index, None::<FolderCache>, options)?;
        let answer = post(&mut host, &request);
        ensure!(host.platform().num_calls <= max_requests);
        match answer {
            Ok(answer) => {
                assert_eq!(answer["budget_exhausted"], "max_requests");
                let skipped = answer["skipped_splits"].as_array();
                ensure!(
                    skipped.is_some_and(|skipped| !skipped.is_empty()),
                    "{answer}"
                );
            }
            // Without the manifest, there is no answer.
            Err(error) => ensure!(max_requests == 0, "{error}"),
        }
    }
    Ok(())
}

/// When the processor time runs out, the answer covers the searched splits and names the others.
#[test]
fn the_processors_time_cuts_the_answer_split_by_split() -> Result<()> {
    let index = index()?;
    let request = json!({"query": "*", "max_hits": 0, "aggs": {"tenants": {
        "terms": {"field": "tenant_id", "size": 100},
    }}});
    let expected = index.search(&request)?.json;
    let objects = index.objects.keys();
    let num_splits = objects.filter(|name| name.ends_with(".split")).count() as u64;
    let mut seen = BTreeMap::new();
    for max_cpu_ms in 0..40 {
        let options = Options {
            max_cpu_ms: Some(max_cpu_ms),
            ..Options::default()
        };
        let mut host = host(&index, None::<FolderCache>, options)?;
        host.platform_mut().cpu_ms_a_look = Some(2);
        let Ok(answer) = post(&mut host, &request) else {
            // The manifest alone used up the time.
            ensure!(max_cpu_ms < 5, "no answer with {max_cpu_ms} ms");
            continue;
        };
        let skipped = answer["skipped_splits"].as_array().context("a list")?;
        *seen.entry(skipped.len()).or_insert(0) += 1;
        if skipped.is_empty() {
            assert_eq!(essence(&answer), essence(&expected));
            assert_eq!(answer["budget_exhausted"], Value::Null);
            continue;
        }
        assert_eq!(answer["budget_exhausted"], "max_cpu_ms");
        let num_hits = answer["num_hits"].as_u64().context("num_hits")?;
        let num_looked_at = num_splits - skipped.len() as u64;
        ensure!(num_hits <= num_looked_at * SPLIT_NUM_DOCS, "{answer}");
        ensure!(num_hits > 0 || num_looked_at == 0, "{answer}");
    }
    ensure!(seen.len() > 2 && seen.contains_key(&0), "{seen:?}");
    Ok(())
}

#[test]
fn a_store_that_ignores_ranges_is_named() -> Result<()> {
    let index = index()?;
    let mut host = host(&index, None::<FolderCache>, Options::default())?;
    host.platform_mut().ignores_ranges = true;
    let answer = post(&mut host, &json!({"query": "body:block", "max_hits": 5}))?;
    let failed = answer["failed_splits"].as_array().context("a list")?;
    ensure!(!failed.is_empty(), "{answer}");
    for split in failed {
        let message = split["message"].as_str().unwrap_or_default();
        ensure!(message.contains("range_ignored"), "{message}");
    }
    Ok(())
}

/// All pages come from the manifest of the first page if the host keeps it. Otherwise the scroll
/// fails once there is a newer manifest.
#[test]
fn a_scroll_goes_on_over_a_newer_manifest_where_there_is_a_cache() -> Result<()> {
    let lines = hdfs_lines(60, 33)?;
    let (old, new) = lines.split_at(40);
    let before = TestIndex::build_of(HDFS_LOGS_YAML, &[&[("old", old)]], 15)?;
    let after = TestIndex::build_of(HDFS_LOGS_YAML, &[&[("old", old)], &[("new", new)]], 15)?;
    let ask = |host: &mut Host<Objects, _>, path: &str, query: &str, body: &Value| {
        let answer = host.answer(&HttpRequest {
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: body.to_string().into_bytes(),
        });
        host.settle();
        let response = answer.response;
        serde_json::from_slice::<Value>(&response.body).map(|json| (response.status, json))
    };
    let folder = tempfile::tempdir()?;
    for sort in [json!(["_doc"]), json!([{"tenant_id": "asc"}])] {
        for has_cache in [true, false] {
            let cache = match has_cache {
                true => Some(FolderCache::open(folder.path(), 64 << 20)?),
                false => None,
            };
            let mut host = host(&before, cache, Options::default())?;
            let body = json!({"size": 7, "sort": sort});
            let (mut status, mut page) = ask(&mut host, "/logs/_search", "scroll=1m", &body)?;
            host.platform_mut().objects.extend(after.objects.clone());
            let mut ids = Vec::new();
            while status == 200 && page["hits"]["hits"] != json!([]) {
                let hits = page["hits"]["hits"].as_array().context("hits")?;
                ids.extend(hits.iter().map(|hit| hit["_id"].to_string()));
                let next = json!({"scroll_id": page["_scroll_id"]});
                (status, page) = ask(&mut host, "/_search/scroll", "", &next)?;
            }
            if has_cache {
                assert_eq!((status, ids.len()), (200, 40), "{page}");
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), 40);
            } else {
                assert_eq!((status, ids.len()), (404, 7), "{page}");
                assert_eq!(page["error"]["type"], "search_context_missing_exception");
            }
        }
    }
    Ok(())
}
