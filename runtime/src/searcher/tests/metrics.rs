//! Comparison of metrics and profiles: two independent accounts of the same searches.

use futures_util::future::join_all;

use super::*;
use crate::Metrics;
use crate::clock::{Clock, CpuTime, VirtualClock};
use crate::fetch::{HedgeOptions, RetryOptions};
use crate::lab::{FailureRates, LatencyModel, SimulatedStore, SlowTail};
use crate::observe::tests::sum;

/// A searcher on a virtual clock over a simulated store.
struct Run {
    clock: VirtualClock,
    metrics: Arc<Metrics>,
    searcher: Searcher,
}

impl Run {
    fn new((model, hedge): (LatencyModel, HedgeOptions), has_cache: bool) -> Self {
        let clock = VirtualClock::new(CpuTime::Ignored);
        let shared: Arc<dyn Clock> = Arc::new(clock.clone());
        let metrics = Arc::new(Metrics::new());
        let store = SimulatedStore::new(Arc::new(objects()), model, shared.clone());
        let mut builder = searcher(store)
            .clock(shared)
            .metrics(metrics.clone())
            .retry(RetryOptions::default())
            .hedge(hedge);
        if has_cache {
            builder = builder.cache(Arc::new(MemoryCache::new(1 << 20)));
        }
        Self {
            clock,
            metrics,
            searcher: builder.build().unwrap(),
        }
    }

    fn sum(&self, metric: &str, part: &str) -> u64 {
        sum(&self.metrics.encode(), metric, part) as u64
    }
}

/// Returns two waves of reads far apart; `at` determines the bytes.
fn waves(at: u64) -> Value {
    json!([
        [["manifest", 0, null, "manifest"]],
        [
            ["a", at % 40, 3, "postings"],
            ["a", 60 + at % 30, 5, "fast_field"],
            ["b", at % 90, 2, "doc_store"]
        ],
    ])
}

/// Returns a store that fails and truncates answers.
fn failing() -> (LatencyModel, HedgeOptions) {
    let model = LatencyModel {
        failures: FailureRates {
            error: 0.04,
            slow_down: 0.04,
            reset: 0.02,
            truncation: 0.02,
        },
        ..LatencyModel::s3().with_seed(7)
    };
    (model, HedgeOptions::off())
}

/// Returns a store some of whose answers take long.
fn slow() -> (LatencyModel, HedgeOptions) {
    let model = LatencyModel {
        slow_tail: SlowTail {
            probability: 0.04,
            factor: 20.0,
        },
        ..LatencyModel::s3().with_seed(7)
    };
    let hedge = HedgeOptions {
        max_extra_percent: 50.0,
        ..HedgeOptions::default()
    };
    (model, hedge)
}

/// Runs 300 searches and compares both accounts; returns the text of the metrics and the sum of the profiles.
async fn compared(store: (LatencyModel, HedgeOptions), has_cache: bool) -> (String, Profile) {
    let run = Run::new(store, has_cache);
    let mut total = Profile::default();
    for n in 0..300 {
        let searching = search(&run.searcher, waves(n * 7));
        total.append(run.clock.run(searching).await.profile);
        // An instance ends on a thread of its own, in real time, which this clock does not wait for.
        while run.sum("canter_guest_instances", "") > 0 {
            std::thread::yield_now();
        }
    }
    let text = run.metrics.encode();
    let check = |metric: &str, part: &str, expect: u64| {
        assert_eq!(sum(&text, metric, part), expect as f64, "{metric} {part}");
    };
    check("canter_requests_total", "", total.num_requests);
    check("canter_retries_total", "", total.num_retries);
    check("canter_hedges_total", "", total.num_hedges);
    check("canter_fetched_bytes_total", "", total.num_bytes);
    check("canter_wave_duration_seconds_count", "", total.num_waves);
    check(
        "canter_queries_total",
        "kind=\"search\",outcome=\"ok\"",
        300,
    );
    check("canter_query_duration_seconds_count", "", 300);
    check("canter_queries_in_flight", "", 0);
    check("canter_requests_in_flight", "", 0);
    for class in ByteClass::ALL {
        let of = |result: &str| format!("class=\"{}\",result=\"{result}\"", class.as_str());
        let (hits, misses) = (&total.num_cache_hits, &total.num_cache_misses);
        check("canter_reads_total", &of("hit"), hits.get(class));
        check("canter_reads_total", &of("miss"), misses.get(class));
    }
    let requests = total.waves.iter().flat_map(|wave| &wave.requests);
    let (failed, came): (Vec<_>, Vec<_>) = requests.partition(|it| it.error.is_some());
    let num_fetches = (failed.len() + came.len()) as u64;
    check("canter_fetches_total", "", num_fetches);
    check("canter_fetches_total", "outcome=\"ok\"", came.len() as u64);
    check("canter_requests_total", "outcome=\"ok\"", came.len() as u64);
    let cancelled = sum(&text, "canter_requests_total", "\"cancelled\"") as u64;
    let answered = total.num_requests - cancelled;
    check("canter_request_duration_seconds_count", "", answered);
    // The store's time passed on the virtual clock, and is in the histogram.
    assert!(sum(&text, "canter_query_duration_seconds_sum", "") > 1.0);
    (text, total)
}

#[tokio::test]
async fn metrics_count_what_profiles_count_where_requests_fail() {
    for has_cache in [false, true] {
        let (text, total) = compared(failing(), has_cache).await;
        // Each failed attempt is counted, including those that a retry made good.
        let failed = sum(&text, "canter_requests_total", "\"unavailable\"")
            + sum(&text, "canter_requests_total", "\"truncated\"");
        assert!(total.num_retries > 0 && failed >= total.num_retries as f64);
    }
}

#[tokio::test]
async fn metrics_count_what_profiles_count_where_requests_are_hedged() {
    for has_cache in [false, true] {
        let (text, total) = compared(slow(), has_cache).await;
        let won = sum(&text, "canter_hedges_won_total", "") as u64;
        assert!(
            won > 0 && won < total.num_hedges,
            "{won} of {}",
            total.num_hedges
        );
        // One of two requests for the same range is always cancelled.
        let cancelled = sum(&text, "canter_requests_total", "\"cancelled\"");
        assert_eq!(cancelled, total.num_hedges as f64);
    }
}

#[tokio::test]
async fn requests_that_searches_share_are_counted() {
    let run = Run::new((LatencyModel::s3(), HedgeOptions::default()), false);
    let searches = (0..8).map(|_| search(&run.searcher, waves(3)));
    let responses = run.clock.run(join_all(searches)).await;
    let of =
        |count: fn(&Profile) -> u64| -> u64 { responses.iter().map(|it| count(&it.profile)).sum() };
    let shared = of(|profile| profile.num_shared_requests);
    assert!(shared > 7, "{shared}");
    assert_eq!(run.sum("canter_shared_requests_total", ""), shared);
    assert_eq!(
        run.sum("canter_requests_total", ""),
        of(|profile| profile.num_requests)
    );
}

#[tokio::test]
async fn every_end_of_a_query_is_counted() {
    let run = Run::new((LatencyModel::s3(), HedgeOptions::default()), false);
    let search = |request: Value, limits: Limits| {
        let (run, clock) = (&run, run.clock.clone());
        async move { clock.run(run.searcher.search(&request, &limits)).await }
    };
    let late = Limits::within_ms(5);
    let request = json!({"waves": waves(0)});
    let one_request = json!({"waves": waves(0), "budget": {"max_requests": 1}});
    search(request.clone(), Limits::default()).await.unwrap();
    search(request.clone(), late).await.unwrap();
    search(one_request, Limits::default()).await.unwrap();
    let failing = json!({"waves": [], "fail": "open"});
    search(failing, Limits::default()).await.unwrap_err();
    let panicking = json!({"waves": [], "fail": "panic"});
    search(panicking, Limits::default()).await.unwrap_err();
    // Cancelled by its caller, in the middle of a request.
    let limits = Limits::default();
    let mut dropped = Box::pin(run.searcher.search(&request, &limits));
    while run.sum("canter_requests_in_flight", "") == 0 {
        assert!(futures_util::poll!(dropped.as_mut()).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(run.sum("canter_queries_in_flight", ""), 1);
    assert_eq!(run.sum("canter_guest_instances_max", ""), 4);
    assert!(run.sum("canter_guest_instances", "") >= 1);
    drop(dropped);
    for outcome in [
        "ok",
        "timed_out",
        "budget_exhausted",
        "invalid",
        "internal",
        "cancelled",
    ] {
        let part = format!("kind=\"search\",outcome=\"{outcome}\"");
        assert_eq!(run.sum("canter_queries_total", &part), 1, "{outcome}");
    }
    assert_eq!(run.sum("canter_queries_total", ""), 6);
    assert_eq!(run.sum("canter_queries_in_flight", ""), 0);
    assert_eq!(run.sum("canter_requests_in_flight", ""), 0);
}

#[tokio::test]
async fn a_store_that_slows_down_shows_in_the_breaker() {
    let run = Run::new((LatencyModel::s3(), HedgeOptions::default()), false);
    let latencies = |ms: u64, times: usize| {
        (0..times).for_each(|_| {
            run.searcher
                .hedges
                .note_latency(100, Duration::from_millis(ms))
        });
    };
    assert_eq!(run.sum("canter_hedging_paused", ""), 0);
    latencies(10, 200);
    assert_eq!(run.sum("canter_hedging_paused", ""), 0);
    latencies(500, 16);
    assert_eq!(run.sum("canter_hedging_paused", ""), 1);
    latencies(10, 16);
    assert_eq!(run.sum("canter_hedging_paused", ""), 0);
}
