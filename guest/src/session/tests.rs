//! Parse counts of a session: each part of a request once, at the door, however many splits, indexes and phases there
//! are.

use std::path::Path;

use bytes::Bytes;
use canter_protocol::{
    CacheLookup, FetchErrorKind, HostReport, HttpRequest, Outcome, Progress, QueryPlan,
    ReadRequest, Supply, SupplyResult,
};
use serde_json::{Value, json};

use super::Session;
use crate::request::parses;

/// The index of the fuzz targets: two splits of twelve documents.
const INDEX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fuzz/index");

/// Two names of that index, and leaves of one split.
const SETTINGS: &str = r#"{"indexes": ["logs", "others"], "limits": {"min_docs_per_leaf": 1, "partial_result_cache": true}}"#;

#[expect(clippy::disallowed_methods, reason = "a test stands in for the host")]
fn read(request: &ReadRequest) -> Supply {
    let (_, name) = request.object.split_once('/').unwrap();
    let object = std::fs::read(Path::new(INDEX).join(name)).ok();
    let start = usize::try_from(request.offset).unwrap();
    let bytes = object.as_ref().and_then(|bytes| match request.len {
        None => bytes.get(start..),
        Some(len) => bytes.get(start..start + usize::try_from(len).unwrap()),
    });
    let outcome = match bytes {
        Some(bytes) => SupplyResult::Bytes(Bytes::copy_from_slice(bytes)),
        None => SupplyResult::Failed {
            kind: FetchErrorKind::NotFound,
            message: request.object.clone(),
        },
    };
    Supply {
        id: request.id,
        outcome,
    }
}

fn missed(lookup: &CacheLookup) -> Supply {
    Supply {
        id: lookup.id,
        outcome: SupplyResult::Miss,
    }
}

/// Runs a session; returns the numbers of queries, orders and aggregations that it parsed since it was opened, and its
/// outcome.
fn run(open: impl FnOnce() -> Session) -> ([u32; 3], Outcome) {
    parses::take();
    let mut session = open();
    let mut supplies = Vec::new();
    loop {
        let step = session.step(std::mem::take(&mut supplies), HostReport::default());
        match step.unwrap() {
            Progress::Pending(demand) => {
                let read = demand.reads.iter().map(read);
                supplies = read.chain(demand.lookups.iter().map(missed)).collect();
            }
            Progress::Done(outcome) => return (parses::take(), outcome),
        }
    }
}

fn open(path: &str, body: &Value, max_leaves: u32) -> Session {
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: path.to_owned(),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    Session::http(&request, SETTINGS, max_leaves).unwrap()
}

fn body_of(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Http(response) => {
            let body = String::from_utf8(response.body).unwrap();
            assert_eq!(response.status, 200, "{body}");
            serde_json::from_str(&body).unwrap()
        }
        other => panic!("not an answer: {other:?}"),
    }
}

/// Returns a search with all features at once: hits in an order, their snippets, and aggregations.
fn everything() -> Value {
    json!({
        "query": "n:>=-1000000 OR word:a", "max_hits": 20, "sort_by": "-n", "snippet_fields": "word",
        "aggs": {"tags": {"terms": {"field": "tag"}, "aggs": {"most": {"max": {"field": "f"}}}}},
    })
}

#[test]
fn a_session_parses_each_part_of_its_request_once() {
    for path in ["/api/v1/logs/search", "/api/v1/logs,others/search"] {
        let (parsed, outcome) = run(|| open(path, &everything(), 1));
        assert_eq!(parsed, [1, 1, 1], "{path}");
        let answer = body_of(outcome);
        assert!(answer["num_hits"].as_u64().unwrap() > 12, "{answer}");
        assert!(!answer["aggregations"]["tags"]["buckets"][0].is_null());
    }
    let body = json!({
        "query": {"range": {"n": {"gte": -1000000}}}, "sort": [{"n": "asc"}], "highlight": {"fields": {"word": {}}},
        "aggs": {"tags": {"terms": {"field": "tag"}}},
    });
    for path in ["/logs/_search", "/logs,others/_search"] {
        let (parsed, outcome) = run(|| open(path, &body, 1));
        assert_eq!(parsed, [1, 1, 1], "{path}");
        let answer = body_of(outcome);
        assert!(!answer["hits"]["hits"][0]["sort"][0].is_null(), "{answer}");
    }
}

/// A query inside an aggregation adds one parse, whatever the number of splits.
#[test]
fn the_query_of_an_aggregation_is_parsed_once() {
    let body = json!({"max_hits": 0, "query": "*", "aggs": {
        "few": {"filter": "n:<3"}, "all": {"filters": {"filters": [{"match_all": {}}, "n:>=3"]}},
    }});
    let (parsed, outcome) = run(|| open("/api/v1/logs/search", &body, 1));
    assert_eq!(parsed, [1 + 3, 1, 1]);
    let answer = body_of(outcome);
    assert!(
        answer["aggregations"]["few"]["doc_count"].is_u64(),
        "{answer}"
    );
}

/// Leaves and root parse no query and no order; aggregations, which cannot be serialized, once each.
#[test]
fn what_was_parsed_travels_to_leaves_and_root() {
    let body = everything();
    let (_, whole) = run(|| open("/api/v1/logs/search", &body, 1));
    let (parsed, outcome) = run(|| open("/api/v1/logs/search", &body, 2));
    assert_eq!(parsed, [1, 1, 1]);
    let Outcome::Plan(QueryPlan { leaves, root }) = outcome else {
        panic!("two splits are divided among two leaves");
    };
    assert_eq!(leaves.len(), 2);
    let partials = leaves.iter().map(|leaf| {
        let (parsed, outcome) = run(|| Session::leaf(leaf).unwrap());
        assert_eq!(parsed, [0, 0, 1]);
        match outcome {
            Outcome::Partial(partial) => partial,
            other => panic!("not a partial result: {other:?}"),
        }
    });
    let partials: Vec<Vec<u8>> = partials.collect();
    let (parsed, divided) = run(|| Session::root(&root, &partials).unwrap());
    assert_eq!(parsed, [0, 0, 1]);
    assert_eq!(body_of(divided), body_of(whole));
}
