//! Searches through a scripted engine: tests of the driver's loop, without a searching guest.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

use super::*;
use crate::ErrorKind;
use crate::RangeCache;
use crate::cache::MemoryCache;
use crate::fetch::{
    ByteRange, CoalesceOptions, FetchError, FetchErrorKind, FetchedRange, MemoryFetcher,
    RangeFetcher, RecordingFetcher,
};
use crate::session::ByteClass;

mod at_once;
mod budgets;
mod flights;
mod manifests;
mod metrics;
mod open_ended;
mod scripted;
mod spans;

use scripted::Scripted;

fn objects() -> MemoryFetcher {
    let digits: String = (0..100).map(|n| char::from(b'0' + n % 10)).collect();
    MemoryFetcher::from_iter([
        ("manifest", Bytes::from_static(b"the manifest")),
        ("a", Bytes::from(digits.clone())),
        ("b", Bytes::from(digits)),
    ])
}

fn tight() -> CoalesceOptions {
    CoalesceOptions {
        max_gap_bytes: 10,
        max_request_bytes: 1000,
    }
}

fn searcher(fetcher: impl RangeFetcher + 'static) -> SearcherBuilder {
    Searcher::builder()
        .engine(Arc::new(Scripted::new()))
        .fetcher(Arc::new(fetcher))
        .max_parallel_leaves(1)
        .coalesce(tight())
}

async fn search(searcher: &Searcher, waves: Value) -> SearchResponse {
    let request = json!({"waves": waves, "profile": true});
    searcher.search(&request, &Limits::default()).await.unwrap()
}

#[tokio::test]
async fn every_read_gets_exactly_its_bytes() {
    let searcher = searcher(objects()).build().unwrap();
    let response = search(
        &searcher,
        json!([
            [["manifest", 0, null, "manifest"]],
            [
                ["a", 3, 4, "postings"],
                ["a", 12, 2, "fast_field"],
                ["b", 90, 10, "doc_store"],
                ["a", 5, 0, "head"]
            ],
        ]),
    )
    .await;
    let arrived = json!([
        [0, "the manifest"],
        [0, "3456"],
        [1, "23"],
        [2, "0123456789"],
        [3, ""]
    ]);
    assert_eq!(response.json["arrived"], arrived);
}

#[tokio::test]
async fn the_profile_counts_what_went_to_the_store() {
    let searcher = searcher(objects()).build().unwrap();
    let waves = json!([
        [["manifest", 0, null, "manifest"]],
        [
            ["a", 3, 4, "postings"],
            ["a", 12, 20, "fast_field"],
            ["a", 60, 1, "doc_store"]
        ],
    ]);
    let response = search(&searcher, waves).await;
    let profile = &response.json["profile"];
    assert_eq!(profile["num_splits"], 1);
    assert_eq!(profile["num_waves"], 2);
    assert_eq!(profile["num_requests"], 3);
    assert_eq!(profile["num_bytes"], 12 + 29 + 1);
    let requests = &profile["waves"][1]["requests"];
    assert_eq!(requests[0]["object"], "a");
    assert_eq!(requests[0]["offset"], 3);
    assert_eq!(requests[0]["length"], 29);
    assert_eq!(requests[0]["class"], "fast_field");
    assert_eq!(requests[0]["num_reads"], 2);
    assert!(requests[0]["start_us"].as_u64() <= requests[0]["end_us"].as_u64());
    assert!(response.json["elapsed_time_micros"].is_u64());
}

#[tokio::test]
async fn a_failed_read_reaches_the_guest_with_its_reason() {
    let searcher = searcher(objects()).build().unwrap();
    let response = search(
        &searcher,
        json!([[["none", 0, 4, "head"], ["a", 0, 1, "head"]]]),
    )
    .await;
    let arrived = &response.json["arrived"];
    assert_eq!(arrived[0][1][0], "NotFound");
    assert!(
        arrived[0][1][1].as_str().unwrap().contains("none"),
        "{arrived}"
    );
    assert_eq!(arrived[1], json!([1, "0"]));
}

#[tokio::test]
async fn a_read_past_the_end_does_not_take_its_neighbours_with_it() {
    let searcher = searcher(objects()).build().unwrap();
    let waves = json!([[["a", 90, 5, "head"], ["a", 96, 50, "head"]]]);
    let arrived = &search(&searcher, waves).await.json["arrived"];
    assert_eq!(arrived[0], json!([0, "01234"]));
    assert_eq!(arrived[1][1][0], "Truncated");
}

#[tokio::test]
async fn a_second_search_reads_only_the_manifest() {
    let fetcher = Arc::new(RecordingFetcher::new(Arc::new(objects())));
    let searcher = Searcher::builder()
        .engine(Arc::new(Scripted::new()))
        .fetcher(fetcher.clone())
        .max_parallel_leaves(1)
        .cache(Arc::new(MemoryCache::new(1 << 20)))
        .build()
        .unwrap();
    let waves = |at: u64| {
        json!([
            [["manifest", 0, null, "manifest"]],
            [["a", at, 20, "postings"], ["a", at + 30, 5, "fast_field"]],
        ])
    };
    search(&searcher, waves(10)).await;
    assert_eq!(fetcher.take().len(), 2);
    // Another range inside the one that the first search fetched.
    let response = search(&searcher, waves(15)).await;
    assert_eq!(
        fetcher.take(),
        [
            ("manifest".to_owned(), ByteRange::from(0)),
            ("a".to_owned(), ByteRange::new(45, 5))
        ]
    );
    let profile = &response.json["profile"];
    assert_eq!(profile["num_cache_hits"], 1);
    assert_eq!(profile["cache_hits"], json!({"postings": 1}));
    assert_eq!(
        response.json["arrived"][1],
        json!([0, "56789012345678901234"])
    );
    search(&searcher, waves(15)).await;
    assert_eq!(fetcher.take().len(), 1);
}

#[tokio::test]
async fn a_partly_cached_read_fetches_the_rest() {
    let fetcher = Arc::new(RecordingFetcher::new(Arc::new(objects())));
    let searcher = Searcher::builder()
        .engine(Arc::new(Scripted::new()))
        .fetcher(fetcher.clone())
        .max_parallel_leaves(1)
        .cache(Arc::new(MemoryCache::new(1 << 20)))
        .build()
        .unwrap();
    search(&searcher, json!([[["a", 10, 20, "head"]]])).await;
    fetcher.take();
    let response = search(
        &searcher,
        json!([[["a", 5, 20, "head"]], [["a", 25, 10, "head"]]]),
    )
    .await;
    assert_eq!(
        response.json["arrived"],
        json!([[0, "56789012345678901234"], [0, "5678901234"]])
    );
    let expect = [
        ("a".to_owned(), ByteRange::new(5, 5)),
        ("a".to_owned(), ByteRange::new(30, 5)),
    ];
    assert_eq!(fetcher.take(), expect);
}

#[tokio::test]
async fn a_range_that_is_asked_for_again_comes_from_the_store() {
    let cache = Arc::new(MemoryCache::new(1 << 20));
    cache
        .put("/a", 0, Bytes::from(vec![b'x'; 100]), ByteClass::Head)
        .await;
    let searcher = searcher(objects()).cache(cache).build().unwrap();
    let waves = json!([[["a", 0, 5, "head"]], [["a", 0, 5, "head"]]]);
    let response = search(&searcher, waves.clone()).await;
    assert_eq!(
        response.json["arrived"],
        json!([[0, "xxxxx"], [0, "01234"]])
    );
    let response = search(&searcher, json!([[["a", 0, 5, "head"]]])).await;
    assert_eq!(response.json["arrived"], json!([[0, "01234"]]));
}

#[tokio::test]
async fn opaque_entries_are_kept_and_looked_up() {
    let searcher = searcher(objects())
        .cache(Arc::new(MemoryCache::new(1 << 20)))
        .build()
        .unwrap();
    let response = search(
        &searcher,
        json!([[["cache:k", null]], [["cache:k", "v"]], [["cache:k", null]]]),
    )
    .await;
    assert_eq!(response.json["arrived"], json!([[0, "miss"], [0, "v"]]));
}

#[tokio::test]
async fn leaves_run_in_parallel_and_partials_keep_the_plans_order() {
    let engine = Scripted {
        num_leaves: 7,
        ..Scripted::new()
    };
    let threads = engine.threads.clone();
    let searcher = Searcher::builder()
        .engine(Arc::new(engine))
        .fetcher(Arc::new(objects()))
        .max_parallel_leaves(7)
        .build()
        .unwrap();
    let response = search(
        &searcher,
        json!([[["a", 0, 1, "head"]], [["b", 0, 1, "head"]]]),
    )
    .await;
    assert_eq!(
        response.json["partials"],
        json!(["0", "1", "2", "3", "4", "5", "6"])
    );
    // The engine allows four instances: the leaves share them.
    assert_eq!(threads.lock().unwrap().len(), 4);
    assert_eq!(response.profile.num_instances, 4);
    assert_eq!(response.profile.num_requests, 1 + 7 * 2);
}

#[tokio::test]
async fn waves_of_parallel_leaves_count_once() {
    let engine = Scripted {
        num_leaves: 3,
        ..Scripted::new()
    };
    let searcher = Searcher::builder()
        .engine(Arc::new(engine))
        .fetcher(Arc::new(objects()))
        .max_parallel_leaves(3)
        .build()
        .unwrap();
    let response = search(
        &searcher,
        json!([[["a", 0, 1, "head"]], [["b", 0, 1, "head"]]]),
    )
    .await;
    assert_eq!(response.profile.num_waves, 3);
    let lens: Vec<usize> = response
        .profile
        .waves
        .iter()
        .map(|wave| wave.requests.len())
        .collect();
    assert_eq!(lens, [1, 3, 3]);
}

#[tokio::test]
async fn a_search_with_one_leaf_needs_one_instance() {
    let engine = Scripted::new();
    let threads = engine.threads.clone();
    let searcher = Searcher::builder()
        .engine(Arc::new(engine))
        .fetcher(Arc::new(objects()))
        .max_parallel_leaves(4)
        .build()
        .unwrap();
    search(&searcher, json!([[["a", 0, 1, "head"]]])).await;
    assert_eq!(threads.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn many_searches_at_once_never_starve_each_other() {
    let engine = Scripted {
        num_leaves: 3,
        ..Scripted::new()
    };
    let searcher = Searcher::builder()
        .engine(Arc::new(engine))
        .fetcher(Arc::new(objects()))
        .max_parallel_leaves(3)
        .build()
        .unwrap();
    let searches = (0..40).map(|_| search(&searcher, json!([[["a", 0, 1, "head"]]])));
    for response in futures_util::future::join_all(searches).await {
        assert_eq!(response.json["partials"], json!(["0", "1", "2"]));
    }
}

#[tokio::test]
async fn supplies_arrive_in_the_order_of_the_seed() {
    let wave = json!([(0..20)
        .map(|at| json!(["a", at * 5, 1, "head"]))
        .collect::<Vec<_>>()]);
    let ids = async |seed: Option<u64>| {
        let mut builder = searcher(objects());
        if let Some(seed) = seed {
            builder = builder.shuffle_supplies(seed);
        }
        let response = search(&builder.build().unwrap(), wave.clone()).await;
        let arrived = response.json["arrived"].as_array().unwrap().clone();
        arrived
            .iter()
            .map(|item| item[0].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(None).await, (0..20).collect::<Vec<_>>());
    assert_eq!(ids(Some(1)).await, ids(Some(1)).await);
    assert_ne!(ids(Some(1)).await, ids(Some(2)).await);
}

/// Never answers.
struct Silent;

impl RangeFetcher for Silent {
    fn fetch<'a>(
        &'a self,
        _object: &'a str,
        _range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        std::future::pending().boxed()
    }
}

#[tokio::test]
async fn a_store_that_never_answers_is_given_up_before_the_deadline() {
    let searcher = searcher(Silent).build().unwrap();
    // The time left after reads are given up must suffice for two steps on a busy machine.
    let limits = Limits::within_ms(1_000);
    let request = json!({"waves": [[["a", 0, 1, "head"]], [["a", 5, 1, "head"]]]});
    let response = searcher.search(&request, &limits).await.unwrap();
    assert_eq!(response.json["timed_out"], true);
    let arrived = &response.json["arrived"];
    assert_eq!(
        (&arrived[0][1][0], &arrived[1][1][0]),
        (&json!("Budget"), &json!("Budget"))
    );
}

#[tokio::test]
async fn a_guest_that_never_returns_ends_at_the_deadline() {
    let searcher = searcher(objects()).build().unwrap();
    let limits = Limits::within_ms(50);
    let request = json!({"waves": [], "fail": "spin"});
    let error = searcher.search(&request, &limits).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit);
}

#[tokio::test]
async fn a_dropped_search_interrupts_its_guest() {
    let searcher = searcher(objects()).build().unwrap();
    let limits = Limits::within_ms(60_000);
    let request = json!({"waves": [], "fail": "spin"});
    let search = searcher.search(&request, &limits);
    assert!(
        tokio::time::timeout(Duration::from_millis(30), search)
            .await
            .is_err()
    );
    // The instance is released only when its thread has ended.
    let all = searcher.instance_permits.acquire_many(4);
    assert!(
        tokio::time::timeout(Duration::from_secs(20), all)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_panicking_guest_fails_its_search_only() {
    let searcher = searcher(objects()).build().unwrap();
    let request = json!({"waves": [], "fail": "panic"});
    let error = searcher
        .search(&request, &Limits::default())
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
    // The panic's message belongs in the log.
    assert!(!error.message.contains("scripted panic"), "{error}");
    assert!(error.message.contains("please report it"), "{error}");
    search(&searcher, json!([[["a", 0, 1, "head"]]])).await;
}

#[tokio::test]
async fn a_request_that_the_guest_refuses_keeps_its_kind() {
    let searcher = searcher(objects()).build().unwrap();
    let request = json!({"waves": [], "fail": "open"});
    let error = searcher
        .search(&request, &Limits::default())
        .await
        .unwrap_err();
    assert_eq!(error, SearchError::invalid("scripted"));
}

/// Answers each read with a new version of the object.
struct Changing(AtomicUsize);

impl RangeFetcher for Changing {
    fn fetch<'a>(
        &'a self,
        _object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let version = self.0.fetch_add(1, Ordering::Relaxed);
        let len = usize::try_from(range.len.unwrap_or(3)).unwrap();
        let fetched = FetchedRange {
            etag: Some(format!("v{version}")),
            ..FetchedRange::new(vec![b'x'; len].into())
        };
        std::future::ready(Ok(fetched)).boxed()
    }
}

#[tokio::test]
async fn a_split_that_changes_while_it_is_read_is_an_error_and_a_manifest_is_not() {
    let searcher = searcher(Changing(AtomicUsize::new(0))).build().unwrap();
    let waves = json!([
        [["manifest", 0, null, "manifest"]],
        [["manifest", 0, null, "manifest"], ["a", 0, 1, "head"]],
        [["a", 50, 1, "head"]],
    ]);
    let arrived = &search(&searcher, waves).await.json["arrived"];
    assert_eq!(arrived[1], json!([0, "xxx"]));
    assert_eq!(arrived[2], json!([1, "x"]));
    assert_eq!(arrived[3][1][0], "Protocol");
}

/// A fetcher that breaks its contract: it returns one byte too few.
struct Short;

impl RangeFetcher for Short {
    fn fetch<'a>(
        &'a self,
        _object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let len = usize::try_from(range.len.unwrap_or(1) - 1).unwrap();
        let fetched = FetchedRange::new(vec![b'x'; len].into());
        std::future::ready(Ok(fetched)).boxed()
    }
}

#[tokio::test]
async fn a_short_answer_never_reaches_the_guest_as_bytes() {
    let searcher = searcher(Short).build().unwrap();
    let arrived = &search(&searcher, json!([[["a", 0, 5, "head"]]])).await.json["arrived"];
    assert_eq!(arrived[0][1][0], format!("{:?}", FetchErrorKind::Truncated));
}

/// Holds odd runs of an object, as a block cache under pressure may.
struct Holes;

impl RangeCache for Holes {
    fn block_len(&self, _class: ByteClass) -> u64 {
        1
    }

    fn get<'a>(
        &'a self,
        _object: &'a str,
        range: Range<u64>,
        _class: ByteClass,
    ) -> BoxFuture<'a, Vec<crate::cache::CachedPiece>> {
        let pieces = [0..7u64, 7..12, 20..25, 40..60]
            .into_iter()
            .filter_map(|held| {
                let held = held.start.max(range.start)..held.end.min(range.end);
                (!held.is_empty()).then(|| crate::cache::CachedPiece {
                    offset: held.start,
                    bytes: held.map(|at| b'0' + (at % 10) as u8).collect(),
                })
            })
            .collect();
        std::future::ready(pieces).boxed()
    }

    fn put<'a>(&'a self, _: &'a str, _: u64, _: Bytes, _: ByteClass) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }

    fn get_entry<'a>(&'a self, _: &'a str, _: ByteClass) -> BoxFuture<'a, Option<Bytes>> {
        std::future::ready(None).boxed()
    }

    fn put_entry<'a>(&'a self, _: &'a str, _: Bytes, _: ByteClass) -> BoxFuture<'a, ()> {
        std::future::ready(()).boxed()
    }
}

#[tokio::test]
async fn any_mix_of_cached_and_fetched_bytes_gives_the_objects_bytes() {
    let searcher = searcher(objects()).cache(Arc::new(Holes)).build().unwrap();
    let ranges: Vec<(u64, u64)> = (0..60)
        .flat_map(|start| (1..40).map(move |len| (start, len)))
        .collect();
    for some in ranges.chunks(100) {
        let wave: Vec<Value> = some
            .iter()
            .map(|(start, len)| json!(["a", start, len, "head"]))
            .collect();
        let response = search(&searcher, json!([wave])).await;
        for ((start, len), arrived) in some
            .iter()
            .zip(response.json["arrived"].as_array().unwrap())
        {
            let expect: String = (*start..start + len)
                .map(|at| char::from(b'0' + (at % 10) as u8))
                .collect();
            assert_eq!(arrived[1], expect, "{start} {len}");
        }
    }
}
