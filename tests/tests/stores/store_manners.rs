//! Faults of stores, tested with both kinds of fetcher over real sockets and with whole searches:
//! each results in a specific error, and never in a wrong answer.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use bytes::Bytes;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{
    ByteRange, FetchError, FetchErrorKind, FetchedRange, OpenOptions, RangeFetcher, RetryOptions,
    Settings, StoreFault, open_uri,
};
use canter_runtime::{Limits, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{Quirk, TestIndex, WebServer, hdfs_lines};
use serde_json::{Value, json};

const OBJECT: &str = "splits/a b.split";

fn body() -> Bytes {
    (0..200_000u32).map(|n| (n % 251) as u8).collect()
}

fn serve(quirks: &[Quirk]) -> WebServer {
    let objects = BTreeMap::from([("bucket/index/splits/a%20b.split".to_owned(), body())]);
    WebServer::start(objects, quirks).unwrap()
}

/// Returns settings that read `s3://bucket/…` from a server without signatures.
fn settings(server: &WebServer) -> Settings {
    let pairs = [
        ("AWS_ENDPOINT_URL", server.origin()),
        ("AWS_SKIP_SIGNATURE", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ];
    Settings(pairs.map(|(name, value)| (name.to_owned(), value)).into())
}

/// Returns fetchers for the index on a server, as a bucket and as a web site.
fn fetchers(server: &WebServer) -> [(&'static str, Arc<dyn RangeFetcher>); 2] {
    let options = OpenOptions {
        retry: RetryOptions {
            max_retries: 0,
            ..RetryOptions::default()
        },
        settings: settings(server),
        ..OpenOptions::default()
    };
    let web = format!("{}/bucket/index", server.origin());
    [
        ("s3", open_uri("s3://bucket/index", &options).unwrap()),
        ("http", open_uri(&web, &options).unwrap()),
    ]
}

async fn fetch_both(
    quirks: &[Quirk],
    range: ByteRange,
) -> Vec<(&'static str, Result<FetchedRange, FetchError>)> {
    let server = serve(quirks);
    let mut answers = Vec::new();
    for (name, fetcher) in fetchers(&server) {
        answers.push((name, fetcher.fetch(OBJECT, range).await));
    }
    for request in server.requests() {
        assert_eq!(request.method, "GET", "never HEAD: {request:?}");
        assert_eq!(request.headers["accept-encoding"], "identity");
    }
    answers
}

const RANGES: [ByteRange; 4] = [
    ByteRange {
        offset: 1000,
        len: Some(50_000),
    },
    ByteRange {
        offset: 0,
        len: Some(1),
    },
    ByteRange {
        offset: 150_000,
        len: None,
    },
    ByteRange {
        offset: 0,
        len: None,
    },
];

/// Checks that the bytes are correct, even if the answer lacks something.
async fn check_right(quirks: &[Quirk], has_len: bool) {
    let body = body();
    for range in RANGES {
        let end = range
            .len
            .map_or(body.len(), |len| (range.offset + len) as usize);
        for (name, answer) in fetch_both(quirks, range).await {
            let fetched = answer.unwrap_or_else(|error| panic!("{name} {quirks:?}: {error}"));
            assert!(
                fetched.bytes == body[range.offset as usize..end],
                "{name} {range}"
            );
            let is_whole = range == ByteRange::from(0);
            let len = (has_len || is_whole).then_some(body.len() as u64);
            assert_eq!(fetched.object_len, len, "{name} {range} {quirks:?}");
        }
    }
}

/// Checks that both fetchers reject the answer, report the same fault, and say how to fix it.
async fn check_fault(quirk: Quirk, range: ByteRange, fault: StoreFault) {
    for (name, answer) in fetch_both(std::slice::from_ref(&quirk), range).await {
        let error = answer.map(|fetched| fetched.bytes.len()).expect_err(name);
        assert_eq!(
            error.fault,
            Some(fault),
            "{name} {quirk:?} {range}: {error}"
        );
        let text = &error.message;
        assert!(
            text.contains(&format!("{}: ", fault.name())),
            "{name}: {text}"
        );
        assert!(text.contains(fault.remedy()), "{name}: {text}");
        assert!(text.contains(OBJECT), "{name}: {text}");
        assert_eq!(
            error.is_transient,
            fault == StoreFault::ShortBody,
            "{name}: {text}"
        );
    }
}

#[tokio::test]
async fn nothing_depends_on_content_length() {
    check_right(&[], true).await;
    check_right(&[Quirk::NoContentLength], true).await;
    check_right(&[Quirk::UnknownSize], false).await;
    check_right(&[Quirk::NoContentLength, Quirk::UnknownSize], false).await;
    check_right(&[Quirk::NoContentLength, Quirk::NoEtag], true).await;
}

#[tokio::test]
async fn a_redirect_on_the_same_host_is_followed() {
    check_right(&[Quirk::RedirectsOnce], true).await;
}

#[tokio::test]
async fn every_fault_has_its_name() {
    let [middle, first, open, whole] = RANGES;
    for range in [middle, first, open] {
        check_fault(Quirk::RangeIgnored, range, StoreFault::RangeIgnored).await;
        check_fault(Quirk::NoContentRange, range, StoreFault::WrongContentRange).await;
        check_fault(Quirk::ShiftedRange, range, StoreFault::WrongContentRange).await;
        check_fault(Quirk::LongBody, range, StoreFault::LongBody).await;
    }
    check_fault(Quirk::ClippedRange, middle, StoreFault::WrongContentRange).await;
    check_fault(Quirk::ClippedRange, open, StoreFault::WrongContentRange).await;
    for range in [middle, open, whole] {
        check_fault(Quirk::CutBody, range, StoreFault::ShortBody).await;
    }
    check_fault(Quirk::ShortChunks, middle, StoreFault::ShortBody).await;
    for range in RANGES {
        check_fault(Quirk::Compressed, range, StoreFault::ContentEncoded).await;
        check_fault(Quirk::RedirectsForever, range, StoreFault::TooManyRedirects).await;
    }
    let beyond = ByteRange::new(199_999, 2);
    check_fault(Quirk::NoContentLength, beyond, StoreFault::PastTheEnd).await;
    let beyond = ByteRange::new(200_000, 2);
    check_fault(Quirk::NoContentLength, beyond, StoreFault::PastTheEnd).await;
    check_fault(Quirk::WholeBeyondTheEnd, beyond, StoreFault::RangeIgnored).await;
}

#[tokio::test]
async fn nothing_is_sent_to_another_host() {
    let other = serve(&[]);
    for range in RANGES {
        let quirk = Quirk::RedirectsTo(other.origin());
        check_fault(quirk, range, StoreFault::RedirectedToOtherHost).await;
    }
    assert_eq!(other.num_connections(), 0);
}

/// A download from a store that ignores ranges is aborted before it has sent much of a large
/// object.
#[tokio::test]
async fn a_whole_object_is_never_downloaded_for_a_range() {
    let large = Bytes::from(vec![7; 64 << 20]);
    let objects = BTreeMap::from([("bucket/index/large".to_owned(), large)]);
    let server = WebServer::start(objects, &[Quirk::RangeIgnored]).unwrap();
    for (name, fetcher) in fetchers(&server) {
        let error = fetcher
            .fetch("large", ByteRange::new(5, 5))
            .await
            .unwrap_err();
        assert_eq!(error.fault, Some(StoreFault::RangeIgnored), "{name}");
    }
    // Capacity of the system's buffers for two connections.
    assert!(
        server.num_body_bytes() < 32 << 20,
        "{}",
        server.num_body_bytes()
    );
}

#[tokio::test]
async fn a_whole_object_of_unknown_length_has_a_cap() {
    let large = Bytes::from(vec![7; 5000]);
    let objects = BTreeMap::from([("bucket/index/large".to_owned(), large)]);
    for quirks in [&[Quirk::NoContentLength][..], &[]] {
        let server = WebServer::start(objects.clone(), quirks).unwrap();
        let mut options = OpenOptions {
            settings: settings(&server),
            ..OpenOptions::default()
        };
        options.http.max_whole_object_bytes = 4999;
        for uri in [
            "s3://bucket/index",
            &format!("{}/bucket/index", server.origin()),
        ] {
            let fetcher = open_uri(uri, &options).unwrap();
            let answer = fetcher.fetch("large", ByteRange::from(0)).await;
            let error = answer.map(|fetched| fetched.bytes.len()).unwrap_err();
            assert_eq!(error.kind, FetchErrorKind::Budget, "{uri}: {error}");
            assert!(error.message.contains("4999 bytes"), "{error}");
        }
    }
}

#[tokio::test]
async fn a_known_version_is_not_sent_again() {
    let known = format!("\"v{}\"", body().len());
    for quirks in [
        &[][..],
        &[Quirk::NoContentLength],
        &[Quirk::IgnoresIfNoneMatch],
    ] {
        let server = serve(quirks);
        for (name, fetcher) in fetchers(&server) {
            let whole = ByteRange::from(0);
            let ask =
                async |etag: &str| fetcher.fetch_if_changed(OBJECT, whole, etag).await.unwrap();
            assert!(ask(&known).await.is_unchanged, "{name} {quirks:?}");
            let fetched = ask("\"other\"").await;
            assert!(
                fetched.bytes == body() && fetched.etag.as_deref() == Some(&*known),
                "{name}"
            );
            // Values that are invalid in headers are not sent.
            assert!(!ask("\"line\nbreak\"").await.is_unchanged, "{name}");
        }
        let requests = server.requests();
        let conditions = requests
            .iter()
            .map(|request| request.headers.get("if-none-match"));
        let conditions: Vec<Option<&str>> =
            conditions.map(|value| value.map(String::as_str)).collect();
        let each = [Some(&*known), Some("\"other\""), None];
        assert_eq!(conditions, [each, each].concat());
        if !quirks.contains(&Quirk::IgnoresIfNoneMatch) {
            let num_whole_bodies = 4;
            assert_eq!(server.num_body_bytes(), num_whole_bodies * body().len());
        }
    }
}

static INDEX: LazyLock<TestIndex> = LazyLock::new(|| {
    let lines = hdfs_lines(6_000, 5).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, 2_000).unwrap()
});

fn requests() -> [Value; 3] {
    [
        json!({"query": "body:block", "max_hits": 50, "sort_by": "tenant_id"}),
        json!({"query": "severity_text:WARN", "max_hits": 10}),
        json!({"query": "*", "max_hits": 0, "aggs": {"t": {"terms": {"field": "tenant_id", "size": 100}}}}),
    ]
}

/// Returns the parts of an answer that must always be the same.
fn essence(answer: &Value) -> [&Value; 3] {
    ["hits", "num_hits", "aggregations"].map(|key| &answer[key])
}

/// If a server begins to misbehave after any number of requests, the answer is correct or names the
/// fault.
#[test]
fn a_search_is_right_or_says_what_the_store_did() {
    let objects = INDEX.objects.iter();
    let objects = objects.map(|(name, bytes)| (format!("bucket/index/{name}"), bytes.clone()));
    let server = WebServer::start(objects.collect(), &[]).unwrap();
    let elsewhere = serve(&[]);
    let quirks = [
        (Quirk::RangeIgnored, "range_ignored"),
        (Quirk::ShiftedRange, "wrong_content_range"),
        (Quirk::NoContentRange, "wrong_content_range"),
        (Quirk::CutBody, "short_body"),
        (Quirk::ShortChunks, ""),
        (Quirk::LongBody, ""),
        (Quirk::WrongBytes, ""),
        (Quirk::Compressed, "content_encoded"),
        (Quirk::EtagChanges, "etag_changed"),
        (
            Quirk::RedirectsTo(elsewhere.origin()),
            "redirected_to_other_host",
        ),
        (Quirk::RedirectsForever, "too_many_redirects"),
        (Quirk::Busy, "503"),
    ];
    let mut num_named = BTreeMap::new();
    for request in requests() {
        let right = INDEX.search(&request).unwrap().json;
        for (quirk, name) in &quirks {
            for after in 0..4 {
                server.set_quirks(std::slice::from_ref(quirk), after);
                let outcome = search(&server, &request);
                let text = match &outcome {
                    Ok(answer) if answer["failed_splits"] == json!([]) => {
                        assert_eq!(essence(answer), essence(&right), "{quirk:?} {after}");
                        continue;
                    }
                    Ok(answer) => answer["failed_splits"].to_string(),
                    Err(error) => error.clone(),
                };
                assert!(text.contains(name), "{quirk:?} after {after}: {text}");
                *num_named.entry(format!("{quirk:?}")).or_insert(0) += 1;
            }
        }
    }
    assert_eq!(num_named.len(), quirks.len(), "each was met: {num_named:?}");
    assert_eq!(elsewhere.num_connections(), 0);
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.method == "GET")
    );
}

fn search(server: &WebServer, request: &Value) -> Result<Value, String> {
    let retry = |max_retries| RetryOptions {
        max_retries,
        initial_backoff: Duration::from_millis(1),
        ..RetryOptions::default()
    };
    let options = OpenOptions {
        retry: retry(0),
        settings: settings(server),
        ..OpenOptions::default()
    };
    let fetcher = open_uri("s3://bucket/index", &options).unwrap();
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .fetcher(fetcher)
        .retry(retry(1))
        .max_parallel_leaves(1)
        .build()
        .unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime
        .block_on(searcher.search(request, &Limits::default()))
        .map(|response| response.json)
        .map_err(|error| error.to_string())
}
