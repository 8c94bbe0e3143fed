//! The HTTP fetcher with the laboratory's web server: resets, short bodies and slow answers over
//! real sockets.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canter_lab::LatencyModel;
use canter_lab::proxy::Proxy;
use canter_runtime::RangeFetcher;
use canter_runtime::fetch::{
    ByteRange, FetchErrorKind, HttpFetcher, HttpOptions, MemoryFetcher, Retry, RetryOptions,
};
use url::Url;

const OBJECT: &str = "splits/a b.split";

fn body() -> Bytes {
    (0..200_000u32).map(|n| (n % 251) as u8).collect()
}

/// Returns a model without noticeable latency, with additional settings.
fn model(settings: &str) -> LatencyModel {
    let spec = format!("latency=1ms,bandwidth=1GB{settings}");
    spec.parse().unwrap()
}

async fn serve(model: LatencyModel) -> (Proxy, HttpFetcher) {
    let objects = MemoryFetcher::from_iter([(OBJECT, body()), ("empty", Bytes::new())]);
    let proxy = Proxy::start(Arc::new(objects), model).await.unwrap();
    let base = Url::parse(&proxy.url()).unwrap();
    let fetcher = HttpFetcher::new(base, HttpOptions::default()).unwrap();
    (proxy, fetcher)
}

#[tokio::test]
async fn ranges_come_over_the_wire_as_they_are() {
    let (proxy, fetcher) = serve(model("")).await;
    let body = body();
    let check = async |range: ByteRange, expect: &[u8]| {
        let fetched = fetcher.fetch(OBJECT, range).await.unwrap();
        assert!(fetched.bytes == expect, "{range}");
    };
    check(ByteRange::new(0, 1), &body[..1]).await;
    check(ByteRange::new(5, 150_000), &body[5..150_005]).await;
    check(ByteRange::from(199_000), &body[199_000..]).await;
    check(ByteRange::from(0), &body).await;
    assert_eq!(proxy.traffic().num_requests, 4);
    assert_eq!(proxy.traffic().num_bytes, 1 + 150_000 + 1000 + 200_000);
}

#[tokio::test]
async fn what_is_not_there_is_said_as_a_web_server_says_it() {
    let (_proxy, fetcher) = serve(model("")).await;
    let check = async |object: &str, range: ByteRange, kind: FetchErrorKind| {
        let error = fetcher.fetch(object, range).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
    };
    check("none", ByteRange::new(0, 5), FetchErrorKind::NotFound).await;
    check(
        OBJECT,
        ByteRange::new(200_000, 5),
        FetchErrorKind::Truncated,
    )
    .await;
    check(
        OBJECT,
        ByteRange::new(199_998, 5),
        FetchErrorKind::Truncated,
    )
    .await;
    let empty = fetcher.fetch("empty", ByteRange::from(0)).await.unwrap();
    assert!(empty.bytes.is_empty());
}

#[tokio::test]
async fn each_failure_reaches_the_client_as_itself() {
    let check = async |setting: &str, kind: FetchErrorKind, says: &str| {
        let (proxy, fetcher) = serve(model(setting)).await;
        let range = ByteRange::new(0, 100_000);
        let error = fetcher.fetch(OBJECT, range).await.unwrap_err();
        assert_eq!((error.kind, error.is_transient), (kind, true), "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(proxy.traffic().num_failures > 0);
    };
    check(",errors=100%", FetchErrorKind::Unavailable, "500").await;
    check(",slowdowns=100%", FetchErrorKind::Unavailable, "503").await;
    check(",resets=100%", FetchErrorKind::Truncated, "of 100000 bytes").await;
    check(
        ",truncations=100%",
        FetchErrorKind::Truncated,
        "of 100000 bytes",
    )
    .await;
}

#[tokio::test]
async fn repeated_reads_get_through_a_store_that_fails_often() {
    let settings = ",seed=3,errors=10%,slowdowns=10%,resets=10%,truncations=10%";
    let (proxy, fetcher) = serve(model(settings)).await;
    let retry = RetryOptions {
        max_retries: 20,
        initial_backoff: Duration::from_millis(1),
        ..RetryOptions::default()
    };
    let fetcher = Retry::new(Arc::new(fetcher), retry);
    let body = body();
    for n in 0..50u64 {
        let range = ByteRange::new(n * 1000, 20_000);
        let fetched = fetcher.fetch(OBJECT, range).await.unwrap();
        let start = n as usize * 1000;
        assert!(fetched.bytes == body[start..start + 20_000], "{range}");
    }
    let traffic = proxy.traffic();
    assert!(traffic.num_failures > 10, "{traffic:?}");
    assert_eq!(traffic.num_requests, 50 + traffic.num_failures);
}

#[tokio::test]
async fn a_client_that_gives_up_is_noticed() {
    let (proxy, fetcher) = serve("latency=100s".parse().unwrap()).await;
    let fetch = fetcher.fetch(OBJECT, ByteRange::new(0, 5));
    let has_arrived = async {
        while proxy.traffic().num_requests == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = fetch => unreachable!("it takes 100 s"),
        () = has_arrived => {}
    }
    drop(fetcher);
    while proxy.traffic().num_dropped == 0 {
        tokio::task::yield_now().await;
    }
}
