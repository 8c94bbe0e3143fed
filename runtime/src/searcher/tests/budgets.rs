//! Searches whose budget is used up: they answer with the available data, and say so.

use super::*;
use crate::Budget;
use crate::fetch::{HedgeOptions, RetryOptions};

async fn budgeted(budget: Value, waves: Value) -> SearchResponse {
    let searcher = searcher(objects()).build().unwrap();
    let request = json!({"waves": waves, "budget": budget, "profile": true});
    searcher.search(&request, &Limits::default()).await.unwrap()
}

/// Returns three reads too far apart to be merged.
fn far_reads() -> Value {
    json!([
        ["b", 90, 10, "postings"],
        ["a", 0, 10, "postings"],
        ["a", 50, 10, "head"]
    ])
}

fn kinds(response: &SearchResponse) -> Vec<&str> {
    let arrived = response.json["arrived"].as_array().unwrap();
    let kind = |read: &'_ Value| match &read[1] {
        Value::Array(error) => error[0].as_str().unwrap().to_owned(),
        _ => "bytes".to_owned(),
    };
    arrived
        .iter()
        .map(|read| match kind(read).as_str() {
            "bytes" => "bytes",
            "Budget" => "Budget",
            other => panic!("{other}"),
        })
        .collect()
}

#[tokio::test]
async fn requests_beyond_the_budget_are_not_sent_and_the_first_asked_for_are() {
    let response = budgeted(json!({"max_requests": 2}), json!([far_reads()])).await;
    assert_eq!(kinds(&response), ["bytes", "bytes", "Budget"]);
    assert_eq!(response.json["budget_exhausted"], "max_requests");
    assert_eq!(response.json["timed_out"], false);
    let ample = budgeted(json!({"max_requests": 3}), json!([far_reads()])).await;
    assert_eq!(kinds(&ample), ["bytes", "bytes", "bytes"]);
    assert_eq!(ample.json["budget_exhausted"], Value::Null);
}

#[tokio::test]
async fn bytes_beyond_the_budget_are_not_fetched() {
    let response = budgeted(json!({"max_bytes": 25}), json!([far_reads()])).await;
    assert_eq!(kinds(&response), ["bytes", "bytes", "Budget"]);
    assert_eq!(response.json["budget_exhausted"], "max_bytes");
    assert_eq!(response.profile.num_bytes, 20);
}

#[tokio::test]
async fn waves_beyond_the_budget_are_not_begun() {
    let waves = json!([far_reads(), [["a", 70, 1, "head"]], [["a", 0, 5, "head"]]]);
    let response = budgeted(json!({"max_waves": 1}), waves).await;
    assert_eq!(
        kinds(&response),
        ["bytes", "bytes", "bytes", "Budget", "Budget"]
    );
    assert_eq!(response.json["budget_exhausted"], "max_waves");
    assert_eq!(response.profile.num_waves, 1);
}

#[tokio::test]
async fn the_hosts_budget_holds_without_a_word_in_the_request() {
    let searcher = searcher(objects()).build().unwrap();
    let limits = Limits {
        budget: Budget {
            max_requests: Some(1),
            ..Budget::default()
        },
        ..Limits::default()
    };
    let request = json!({"waves": [far_reads()], "budget": {"max_requests": 100}});
    let response = searcher.search(&request, &limits).await.unwrap();
    assert_eq!(response.json["budget_exhausted"], "max_requests");
}

/// A store that fails the first request for each object with a transient error.
#[derive(Default)]
struct Flaky {
    seen: Mutex<Vec<String>>,
}

impl RangeFetcher for Flaky {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let mut seen = self.seen.lock().unwrap();
        let is_first = !seen.iter().any(|name| name == object);
        seen.push(object.to_owned());
        let answer = match is_first {
            true => Err(FetchError::new(
                FetchErrorKind::Unavailable,
                object,
                range,
                "busy",
            )),
            false => Ok(FetchedRange::new(vec![b'x'; 4].into())),
        };
        std::future::ready(answer).boxed()
    }
}

#[tokio::test]
async fn repetitions_cost_budget_like_any_request() {
    let quick = RetryOptions {
        initial_backoff: Duration::from_millis(1),
        ..RetryOptions::default()
    };
    for (max_requests, arrives) in [(1, false), (2, true)] {
        let searcher = searcher(Flaky::default())
            .retry(quick)
            .hedge(HedgeOptions::off())
            .build()
            .unwrap();
        let request = json!({
            "waves": [[["a", 0, 4, "head"]]],
            "budget": {"max_requests": max_requests},
        });
        let response = searcher.search(&request, &Limits::default()).await.unwrap();
        assert_eq!(response.json["arrived"][0][1] == json!("xxxx"), arrives);
        assert_eq!(response.json["budget_exhausted"].is_null(), arrives);
    }
}
