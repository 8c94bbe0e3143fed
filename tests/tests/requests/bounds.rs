//! Protection of hosts against requests: no request may exhaust, block or crash a host, or reveal
//! hidden documents.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use canter_guest::session::{Interrupt, Session};
use canter_protocol::{
    ByteClass, Demand, HostReport, Outcome, Progress, SearchError, Supply, SupplyResult,
};
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{ByteRange, FetchError, FetchedRange, RangeFetcher};
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, ErrorKind, HttpAnswer, Limits, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, run};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

fn logs(num_docs: u64, split_num_docs: u64) -> TestIndex {
    let lines = hdfs_lines(num_docs, 3).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, split_num_docs).unwrap()
}

fn native(index: &TestIndex) -> Searcher {
    index.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(work)
}

/// Store that never answers.
struct Silent;

impl RangeFetcher for Silent {
    fn fetch<'a>(
        &'a self,
        _: &'a str,
        _: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        Box::pin(std::future::pending())
    }
}

fn ask(searcher: &Searcher, body: &Value, caller: &Caller) -> HttpAnswer {
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/api/v1/logs/search".to_owned(),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    block_on(searcher.http(request, caller, &Limits::default()))
}

fn named(fetcher: Arc<dyn RangeFetcher>) -> Searcher {
    let builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    let builder = builder.index_from("logs", fetcher, "ns-logs").unwrap();
    builder.build().unwrap()
}

#[test]
fn a_deadline_of_the_requests_own_is_late_and_not_wrong() {
    let searcher = named(Arc::new(Silent));
    for deadline_ms in [0, 1, 200] {
        let body = json!({"query": "*", "budget": {"deadline_ms": deadline_ms}});
        let response = ask(&searcher, &body, &Caller::default()).response;
        let message = String::from_utf8_lossy(&response.body).into_owned();
        assert_eq!(response.status, 504, "{deadline_ms} ms: {message}");
    }
}

/// A parser that scans the whole rest of the query at every tab would take minutes.
#[test]
fn many_words_between_tabs_are_refused_before_they_are_parsed() {
    let index = logs(100, 100);
    let query = "word\t".repeat(20_000);
    let error = run(&native(&index), &json!({"query": query})).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit);
    assert!(error.message.contains("16384 terms"), "{}", error.message);
    let allowed = format!("severity_text:INFO{}", "\tseverity_text:INFO".repeat(1_000));
    let answer = run(&native(&index), &json!({"query": allowed, "max_hits": 1})).unwrap();
    let plain = run(
        &native(&index),
        &json!({"query": "severity_text:INFO", "max_hits": 1}),
    );
    assert_eq!(answer.json["num_hits"], plain.unwrap().json["num_hits"]);
}

/// Drives a session of the guest directly. Before each step, `before` is called with the demand of
/// the step before.
fn drive(
    index: &TestIndex,
    mut session: Session,
    before: impl Fn(&Demand),
) -> Result<Outcome, SearchError> {
    let mut supplies = Vec::new();
    let mut demand = Demand::default();
    loop {
        before(&demand);
        demand = match session.step(std::mem::take(&mut supplies), HostReport::default())? {
            Progress::Pending(demand) => demand,
            Progress::Done(outcome) => return Ok(outcome),
        };
        for read in &demand.reads {
            let object = &index.objects[&read.object];
            let from = usize::try_from(read.offset).unwrap();
            let len = read.len.map(|len| usize::try_from(len).unwrap());
            let to = len.map_or(object.len(), |len| from + len);
            let outcome = SupplyResult::Bytes(Bytes::copy_from_slice(&object[from..to]));
            supplies.push(Supply {
                id: read.id,
                outcome,
            });
        }
    }
}

/// The guest checks its flag while it computes, so an abandoned step ends by itself.
#[test]
fn a_step_ends_when_its_flag_is_set() {
    let index = logs(2_000, 1_000);
    let aggs = json!({"t": {"terms": {"field": "tenant_id"}}});
    for request in [
        json!({"query": "*", "max_hits": 0, "aggs": aggs}),
        json!({"query": "body:block", "max_hits": 5, "sort_by": "tenant_id"}),
        json!({"query": "body:block", "max_hits": 5, "sort_by": "_score"}),
    ] {
        for is_stopped in [false, true] {
            let flag = Arc::new(AtomicBool::new(false));
            let settings = r#"{"indexes": [], "is_of_host": true}"#;
            let body = request.to_string().into_bytes();
            let asked = HttpRequest {
                body,
                ..HttpRequest::default()
            };
            let mut session = Session::http(&asked, settings, 1).unwrap();
            session.set_interrupt(Interrupt::new(Arc::clone(&flag)));
            let end = drive(&index, session, |demand| {
                let class = |class| demand.reads.iter().any(|read| read.class == class);
                let searches_now = class(ByteClass::FastField) || class(ByteClass::Postings);
                flag.fetch_or(is_stopped && searches_now, Ordering::Relaxed);
            });
            match (is_stopped, end) {
                (false, Ok(_)) => {}
                (true, Err(error)) => {
                    assert!(error.message.contains("stopped by its host"), "{error}");
                }
                (_, end) => panic!("{request}: stopped: {is_stopped}, {end:?}"),
            }
        }
    }
}

/// A search that is abandoned at its deadline releases its slot.
#[test]
fn a_native_search_that_was_left_behind_ends() {
    let index = logs(20_000, 20_000);
    let searcher = native(&index);
    let terms = json!({"terms": {"field": "tenant_id", "size": 1000}, "aggs": {
        "p": {"percentiles": {"field": "timestamp"}}, "b": {"extended_stats": {"field": "tenant_id"}}}});
    let many = (0..30).map(|n| (format!("a{n}"), terms.clone()));
    let aggs = Value::Object(many.collect());
    let request = json!({"query": "body:block OR *", "max_hits": 0, "aggs": aggs});
    let limits = Limits::within_ms(20);
    block_on(async {
        let error = searcher.search(&request, &limits).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{}", error.message);
        assert!(searcher.is_idle_within(Duration::from_secs(120)).await);
    });
}

#[test]
fn a_caller_with_a_filter_learns_nothing_of_costs() {
    let index = logs(3_000, 1_000);
    let searcher = named(Arc::new(index.fetcher()));
    let scoped = Caller {
        indexes: None,
        forced_filter: Some("tenant_id:7".to_owned()),
    };
    for body in [
        json!({"query": "*", "profile": true}),
        json!({"query": "*", "budget": {"max_requests": 1}}),
        json!({"query": "*", "budget": {"max_bytes": 1}}),
        json!({"query": "*", "budget": {"max_waves": 1}}),
        json!({"query": "*", "explain": true}),
    ] {
        let answer = ask(&searcher, &body, &scoped);
        assert_eq!(answer.response.status, 400, "{body}");
        assert!(answer.cost_headers().is_empty());
        let message = String::from_utf8(answer.response.body).unwrap();
        assert!(!message.contains("split"), "{message}");
    }
    // A value that another tenant has, and one that does not exist.
    let answers = ["severity_text:ERROR", "severity_text:NOBODY"].map(|query| {
        let body =
            json!({"query": format!("tenant_id:8 AND {query}"), "budget": {"deadline_ms": 20_000}});
        let answer = ask(&searcher, &body, &scoped);
        assert!(answer.cost_headers().is_empty());
        let mut json: Value = serde_json::from_slice(&answer.response.body).unwrap();
        json["elapsed_time_micros"] = Value::Null;
        (answer.response.status, answer.response.headers, json)
    });
    assert_eq!(answers[0], answers[1]);
    let open = ask(
        &searcher,
        &json!({"query": "*", "profile": true}),
        &Caller::default(),
    );
    assert_eq!(open.response.status, 200);
    assert!(
        open.cost_headers()
            .iter()
            .any(|(name, _)| *name == "x-canter-requests")
    );
}

/// With one histogram inside, tantivy counts small terms in a table; with two of them, it does not.
#[test]
fn terms_of_numbers_have_their_keys_with_one_histogram_inside() {
    let index = logs(2_000, 700);
    let days = json!({"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}});
    let of = |inside: Value| {
        let aggs = json!({"t": {"terms": {"field": "tenant_id", "size": 300, "order": {"_key": "asc"}}, "aggs": inside}});
        let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
        index.search(&request).unwrap().json["aggregations"]["t"]["buckets"].clone()
    };
    let one = of(json!({"days": days}));
    let two = of(json!({"days": days, "n": {"value_count": {"field": "tenant_id"}}}));
    let counts = |buckets: &Value| -> BTreeMap<String, Value> {
        let buckets = buckets.as_array().unwrap().iter();
        buckets
            .map(|bucket| (bucket["key"].to_string(), bucket["days"].clone()))
            .collect()
    };
    assert!(counts(&one).len() > 50);
    assert_eq!(counts(&one), counts(&two));
}

#[test]
fn a_filter_aggregation_counts_what_the_query_finds() {
    let index = logs(2_000, 700);
    for query in [
        "severity_text:ERROR",
        "severity_text:(ERROR WARN)",
        "severity_text:IN [ERROR WARN] NOT tenant_id:>50",
        "body:blo*",
        "tenant_id:[3 TO 20}",
    ] {
        let aggs =
            json!({"f": {"filter": query, "aggs": {"n": {"value_count": {"field": "tenant_id"}}}}});
        let of_all = json!({"query": "*", "max_hits": 0, "aggs": aggs});
        let of_all = index.search(&of_all).unwrap().json;
        let found = index
            .search(&json!({"query": query, "max_hits": 0}))
            .unwrap()
            .json;
        assert_eq!(
            of_all["aggregations"]["f"]["doc_count"], found["num_hits"],
            "{query}"
        );
        assert_eq!(
            of_all["aggregations"]["f"]["n"]["value"].as_f64(),
            found["num_hits"].as_f64()
        );
    }
}

const SPARSE: &str = "
version: 0.9
index_id: sparse
doc_mapping:
  field_mappings:
    - {name: n, type: i64, fast: true}
    - {name: at, type: datetime, fast: true}
    - {name: any, type: json, fast: true}
";

/// Half of the splits lack a field. Their empty columns must not change its type.
#[test]
fn splits_without_a_field_change_no_key() {
    let lines: Vec<String> = (0..40)
        .map(|n| match n < 20 {
            true => json!({"any": {"x": n - 10}}).to_string(),
            false => json!({"n": n - 30, "at": format!("2024-05-{:02}T12:00:00Z", n - 10), "any": {"d": "2024-05-01T00:00:00Z"}}).to_string(),
        })
        .collect();
    let aggs = json!({
        "h": {"histogram": {"field": "n", "interval": 5}},
        "d": {"date_histogram": {"field": "at", "fixed_interval": "5d"}},
        "hd": {"histogram": {"field": "at", "interval": 432_000_000}},
        "r": {"range": {"field": "n", "ranges": [{"from": -3.5, "to": 2.5}]}},
        "rx": {"range": {"field": "any.x", "ranges": [{"from": -3.5, "to": 2.5}]}},
        "mx": {"max": {"field": "any.d"}},
        "t": {"top_hits": {"size": 2, "sort": [{"n": "desc"}], "docvalue_fields": ["n", "any.x"]}},
    });
    let request = json!({"query": "*", "max_hits": 0, "aggs": aggs});
    let answers = [10, 40].map(|split_num_docs| {
        let index = TestIndex::build(SPARSE, &lines, split_num_docs).unwrap();
        let mut answer = index.search(&request).unwrap().json["aggregations"].clone();
        answer["t"] = answer["t"]["hits"].as_array().unwrap().len().into();
        answer
    });
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0]["mx"]["value"], 1_714_521_600_000.0);
    let keys: Vec<&Value> = answers[0]["r"]["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| &b["key"])
        .collect();
    assert_eq!(keys, ["-3.5-2.5"]);

    let index = TestIndex::build(SPARSE, &lines, 10).unwrap();
    for aggregation in [
        json!({"histogram": {"field": "any.d", "interval": 1}}),
        json!({"histogram": {"field": "n", "interval": 1e-18}}),
    ] {
        let request = json!({"query": "*", "max_hits": 0, "aggs": {"a": aggregation}});
        let error = index.search(&request).unwrap_err();
        assert!(
            error.to_string().starts_with("aggs.a."),
            "{aggregation}: {error}"
        );
    }
}

/// The documents of a deep page equal those of many small pages, in any order.
#[test]
fn a_deep_page_is_all_the_small_ones() {
    let index = logs(3_000, 700);
    for sort_by in ["-timestamp", "tenant_id", "_doc"] {
        let page = |start_offset: usize, max_hits: usize| {
            let request = json!({"query": "*", "sort_by": sort_by, "start_offset": start_offset, "max_hits": max_hits, "profile": true});
            let answer = index.search(&request).unwrap().json;
            assert_eq!(answer["profile"]["warmup_gaps"], 0, "{sort_by}");
            answer["hits"].as_array().unwrap().clone()
        };
        let deep = page(0, 3_000);
        let small: Vec<Value> = (0..6).flat_map(|n| page(n * 500, 500)).collect();
        assert_eq!(deep.len(), 3_000);
        assert_eq!(deep, small, "{sort_by}");
    }
}
