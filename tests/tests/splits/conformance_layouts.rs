//! All requests of the conformance test for the same documents in few splits, in many, and in
//! merged ones: the answers are byte-identical.

use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::conformance::{Call, Layout, Request, Site, comparable_bytes, read_requests};
use canter_tests::usual_or_full;
use serde_json::Value;

/// Indexes that have all of their documents in every layout.
const WHOLE: [&str; 3] = ["hdfs-logs", "catalogue", "numbers"];

/// Returns the searches of these indexes; usually every third.
fn requests() -> Vec<Request> {
    let mut requests = read_requests().unwrap();
    let of_index = |path: &str, index: &str| path.contains(&format!("/{index}/search"));
    requests.retain(|request| {
        WHOLE
            .iter()
            .any(|index| of_index(&request.call.path, index))
    });
    requests.into_iter().step_by(usual_or_full(3, 1)).collect()
}

fn searcher(site: &Site) -> Searcher {
    let mut builder = Searcher::builder().engine(Arc::new(NativeEngine::new()));
    for name in WHOLE {
        let url = &site.urls()[name];
        builder = builder.index(name, url, &OpenOptions::default()).unwrap();
    }
    builder.max_parallel_leaves(1).build().unwrap()
}

/// Answers of a layout.
struct Answers {
    /// Status and body of each answer, without the elapsed time.
    all: Vec<(u16, String)>,
    /// Number of splits in the index of logs.
    num_splits: u64,
}

fn answers(layout: Layout) -> Answers {
    let site = Site::start_with(layout).unwrap();
    let searcher = searcher(&site);
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    let ask = |call: Call| {
        let sent = HttpRequest {
            method: call.method,
            path: call.path,
            query: call.query,
            body: call.body,
        };
        let (caller, limits) = (Caller::default(), Limits::default());
        let answer = runtime.block_on(searcher.http(sent, &caller, &limits));
        (answer.response.status, answer.response.body)
    };
    let profiled = Call {
        query: "query=*&max_hits=0&profile=true".to_owned(),
        ..Call::get("/api/v1/hdfs-logs/search")
    };
    let profiled: Value = serde_json::from_slice(&ask(profiled).1).unwrap();
    let all = requests().into_iter().map(|request| {
        let (status, body) = ask(request.call);
        let body = comparable_bytes(&body);
        (status, String::from_utf8_lossy(&body).into_owned())
    });
    Answers {
        all: all.collect(),
        num_splits: profiled["profile"]["num_splits"].as_u64().unwrap(),
    }
}

#[test]
fn the_whole_list_is_answered_alike_before_and_after_a_merge() {
    let [few, many, merged] = [Layout::Few, Layout::Many, Layout::Merged].map(answers);
    assert_eq!((few.num_splits, many.num_splits), (8, 200));
    assert!(merged.num_splits < 30, "{} splits", merged.num_splits);
    let requests = requests();
    for (ord, request) in requests.iter().enumerate() {
        let name = &request.name;
        assert_eq!(many.all[ord], few.all[ord], "{name}: in many splits");
        assert_eq!(merged.all[ord], many.all[ord], "{name}: after the merge");
    }
    assert!(requests.len() > 100, "{}", requests.len());
}
