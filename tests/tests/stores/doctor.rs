//! The doctor with servers that have known faults: each fault shows in its own row, and in no
//! other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canter_runtime::doctor::{
    Check, CheckStatus, DoctorOptions, Report, examine_bucket, examine_web,
};
use canter_runtime::fetch::{OpenOptions, RangeFetcher, RetryOptions, Settings, open_uri};
use canter_tests::{Quirk, WebServer};

const ROWS: [&str; 22] = [
    "reachable",
    "redirect",
    "range_first",
    "range_middle",
    "range_bytes",
    "range_open_ended",
    "range_suffix",
    "range_past_end",
    "content_range",
    "content_length",
    "content_encoding",
    "etag",
    "if_none_match",
    "cache_control",
    "etag_stable",
    "cors_allow_origin",
    "cors_preflight",
    "cors_expose_headers",
    "http_version",
    "keep_alive",
    "latency",
    "throughput",
];

fn serve(quirks: &[Quirk]) -> WebServer {
    let body: Bytes = (0..200_000u32).map(|n| (n % 251) as u8).collect();
    let names = ["bucket/index/manifest.canter", "bucket/index/a.split"];
    let objects = names.map(|name| (name.to_owned(), body.clone()));
    WebServer::start(BTreeMap::from(objects), quirks).unwrap()
}

fn options() -> DoctorOptions {
    DoctorOptions {
        // A busy machine is slow.
        timeout: Duration::from_secs(120),
        mutable_object: Some("manifest.canter".to_owned()),
        ..DoctorOptions::default()
    }
}

async fn examine(server: &WebServer, object: &str, options: &DoctorOptions) -> Report {
    let url = format!("{}/bucket/index/{object}", server.origin());
    let report = examine_web(&[url.parse().unwrap()], options).await.unwrap();
    // A followed redirect is one request of the doctor but two requests to the server.
    assert!(report.num_requests <= server.requests().len());
    assert!(report.num_requests <= options.max_requests);
    assert!(report.num_bytes <= options.max_bytes + 64 * 1024);
    report
}

fn find<'a>(report: &'a Report, name: &str) -> &'a Check {
    let mut checks = report.checks.iter();
    let found = checks.find(|check| check.name == name);
    found.unwrap_or_else(|| panic!("no row {name}: {report:#?}"))
}

/// Returns the rows with problems, marked by severity.
fn ailments(report: &Report) -> Vec<String> {
    let checks = report.checks.iter();
    checks
        .filter_map(|check| match check.status {
            CheckStatus::Ok | CheckStatus::Skipped => None,
            CheckStatus::Warning => Some(format!("! {}", check.name)),
            CheckStatus::Failed => Some(format!("x {}", check.name)),
        })
        .collect()
}

#[tokio::test]
async fn a_sound_server_has_no_ailment() {
    let server = serve(&[]);
    let report = examine(&server, "a.split", &options()).await;
    assert_eq!(ailments(&report), [""; 0], "{report:#?}");
    let rows: Vec<&str> = report.checks.iter().map(|check| check.name).collect();
    assert_eq!(rows, ROWS);
    assert!(report.is_fit());
    assert_eq!(report.object_len, Some(200_000));
    let timing = report.timing.unwrap();
    assert_eq!((timing.num_ranges, timing.num_range_bytes), (20, 4096));
    assert!(timing.p50_ms > 0.0 && timing.p95_ms >= timing.p50_ms);
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.method != "HEAD")
    );
}

async fn check_object(object: &str, quirks: &[Quirk], expect: &[&str]) {
    let server = serve(quirks);
    let report = examine(&server, object, &options()).await;
    assert_eq!(ailments(&report), expect, "{quirks:?}: {report:#?}");
    let is_fit = !expect.iter().any(|ailment| ailment.starts_with('x'));
    assert_eq!(report.is_fit(), is_fit);
    for check in &report.checks {
        let is_ailing = matches!(check.status, CheckStatus::Warning | CheckStatus::Failed);
        assert_eq!(check.change.is_some(), is_ailing, "{check:?}");
    }
}

async fn check(quirk: Quirk, expect: &[&str]) {
    check_object("a.split", &[quirk], expect).await;
}

#[tokio::test]
async fn every_ailment_shows_in_its_row() {
    let ranges = [
        "x range_first",
        "x range_middle",
        "x range_open_ended",
        "! range_suffix",
    ];
    let all_ranges = |more: &[&'static str]| [&ranges[..], more].concat();
    check(
        Quirk::RangeIgnored,
        &all_ranges(&["! range_past_end", "x content_range"]),
    )
    .await;
    check(Quirk::NoContentRange, &["x range_first", "x content_range"]).await;
    check(Quirk::ShiftedRange, &ranges).await;
    check(Quirk::CutBody, &ranges).await;
    check(Quirk::ShortChunks, &all_ranges(&["! content_length"])).await;
    check(Quirk::LongBody, &all_ranges(&["! content_length"])).await;
    check(Quirk::Compressed, &all_ranges(&["x content_encoding"])).await;
    check(Quirk::WrongBytes, &["x range_bytes"]).await;
    check(Quirk::NoContentLength, &["! content_length"]).await;
    check(Quirk::UnknownSize, &["! content_range"]).await;
    check(Quirk::WholeBeyondTheEnd, &["! range_past_end"]).await;
    check(Quirk::NoEtag, &["! etag"]).await;
    check(Quirk::EtagChanges, &["! if_none_match", "x etag_stable"]).await;
    check(Quirk::IgnoresIfNoneMatch, &["! if_none_match"]).await;
    let cors = [
        "! cors_allow_origin",
        "! cors_preflight",
        "! cors_expose_headers",
    ];
    check(Quirk::NoCors, &cors).await;
    check(Quirk::NoPreflight, &cors[1..2]).await;
    check(Quirk::ExposesNothing, &cors[2..]).await;
    check(Quirk::ClosesConnections, &["! keep_alive"]).await;
    check(Quirk::RedirectsOnce, &["! redirect"]).await;
    check(Quirk::RedirectsForever, &["x redirect"]).await;
    check(Quirk::Busy, &["x reachable"]).await;
}

#[tokio::test]
async fn nothing_is_sent_to_another_host() {
    let other = serve(&[]);
    check(Quirk::RedirectsTo(other.origin()), &["x redirect"]).await;
    assert_eq!(other.num_connections(), 0);
}

#[tokio::test]
async fn caches_may_keep_splits_and_not_manifests() {
    let day = Quirk::CachedForADay;
    check_object(
        "manifest.canter",
        std::slice::from_ref(&day),
        &["! cache_control"],
    )
    .await;
    check_object("a.split", &[day], &[]).await;
}

#[tokio::test]
async fn for_browsers_missing_headers_are_failures_with_lines_to_paste() {
    let options = DoctorOptions {
        is_for_browsers: true,
        origin: "https://logs.example".to_owned(),
        ..options()
    };
    let report = examine(&serve(&[Quirk::NoCors]), "a.split", &options).await;
    let failed: Vec<&str> = report.failed().collect();
    assert_eq!(
        failed,
        ["cors_allow_origin", "cors_preflight", "cors_expose_headers"]
    );
    let example = find(&report, "cors_allow_origin").example.as_ref().unwrap();
    for part in [
        "https://logs.example",
        "\"AllowedHeaders\": [\"Range\"",
        "add_header",
    ] {
        assert!(example.contains(part), "{example}");
    }
    let report = examine(&serve(&[Quirk::ExposesNothing]), "a.split", &options).await;
    assert!(find(&report, "cors_expose_headers").example.is_some());
}

#[tokio::test]
async fn the_bounds_are_kept() {
    for max_requests in 0..12 {
        let options = DoctorOptions {
            max_requests,
            ..options()
        };
        let report = examine(&serve(&[]), "a.split", &options).await;
        assert_eq!(report.num_requests, max_requests, "{report:?}");
    }
    let options = DoctorOptions {
        max_bytes: 10_000,
        ..options()
    };
    let report = examine(&serve(&[]), "a.split", &options).await;
    assert!(report.num_bytes <= 10_000, "{report:?}");
}

#[tokio::test]
async fn an_index_or_a_file_will_do_and_secrets_stay_out_of_the_report() {
    let server = serve(&[]);
    let urls = ["nothing", "bucket/index/a.split"];
    let urls = urls.map(|path| {
        format!("{}/{path}?sig=secret", server.origin())
            .parse()
            .unwrap()
    });
    let report = examine_web(&urls, &options()).await.unwrap();
    assert!(
        report.url.ends_with("/bucket/index/a.split"),
        "{}",
        report.url
    );
    assert!(!serde_json::to_string(&report).unwrap().contains("secret"));
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.query == "sig=secret")
    );

    let report = examine_web(&urls[..1], &options()).await.unwrap();
    assert_eq!(ailments(&report), ["x reachable"]);
    assert!(examine_web(&[], &options()).await.is_err());
}

fn bucket(server: &WebServer) -> Arc<dyn RangeFetcher> {
    let pairs = [
        ("AWS_ENDPOINT_URL", server.origin()),
        ("AWS_SKIP_SIGNATURE", "true".to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
    ];
    let options = OpenOptions {
        retry: RetryOptions {
            max_retries: 0,
            ..RetryOptions::default()
        },
        settings: Settings(pairs.map(|(name, value)| (name.to_owned(), value)).into()),
        ..OpenOptions::default()
    };
    open_uri("s3://bucket/index", &options).unwrap()
}

async fn check_bucket(quirks: &[Quirk], expect: &[&str]) {
    let server = serve(quirks);
    let fetcher = bucket(&server);
    let report = examine_bucket(
        &*fetcher,
        "a.split",
        "s3://bucket/index/a.split",
        &options(),
    )
    .await;
    assert_eq!(ailments(&report), expect, "{quirks:?}: {report:#?}");
    assert!(report.timing.is_some());
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.method == "GET")
    );
}

#[tokio::test]
async fn a_bucket_is_examined_as_searches_read_it() {
    check_bucket(&[], &[]).await;
    check_bucket(&[Quirk::NoContentLength], &[]).await;
    check_bucket(&[Quirk::IgnoresIfNoneMatch], &[]).await;
    check_bucket(&[Quirk::NoEtag], &["! etag"]).await;
    for (quirk, name) in [
        (Quirk::RangeIgnored, "range_ignored"),
        (Quirk::NoContentRange, "wrong_content_range"),
        (Quirk::Compressed, "content_encoded"),
        (Quirk::RedirectsForever, "too_many_redirects"),
        (Quirk::Busy, "503"),
    ] {
        let server = serve(&[quirk]);
        let report = examine_bucket(&*bucket(&server), "a.split", "s3", &options()).await;
        let reached = find(&report, "reachable");
        assert_eq!(reached.status, CheckStatus::Failed);
        assert!(reached.seen.contains(name), "{reached:?}");
    }
}
