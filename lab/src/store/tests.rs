//! The simulated store on a virtual clock: every time is computed by hand or by the model itself.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{join, join_all};

use super::super::model::FailureRates;
use super::*;
use canter_runtime::clock::{CpuTime, VirtualClock, timeout_at};
use canter_runtime::fetch::MemoryFetcher;

const MS: Duration = Duration::from_millis(1);

/// Returns a model with 20 ms to the first byte, and 1,000 bytes per second.
fn constant() -> LatencyModel {
    "latency=20ms,bandwidth=1KB".parse().unwrap()
}

fn objects() -> MemoryFetcher {
    MemoryFetcher::from_iter([("a", Bytes::from(vec![7; 1000])), ("b", Bytes::new())])
}

struct Lab {
    store: SimulatedStore,
    clock: Arc<VirtualClock>,
}

impl Lab {
    fn new(model: LatencyModel) -> Self {
        Self::over(Arc::new(objects()), model)
    }

    fn over(inner: Arc<dyn RangeFetcher>, model: LatencyModel) -> Self {
        let clock = Arc::new(VirtualClock::new(CpuTime::Ignored));
        Self {
            store: SimulatedStore::recording(inner, model, clock.clone()),
            clock,
        }
    }

    fn run<T>(&self, future: impl Future<Output = T>) -> (T, Duration) {
        let before = self.clock.now();
        let output = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(self.clock.run(future));
        (output, self.clock.now() - before)
    }

    fn fetch(&self, range: ByteRange) -> (Result<FetchedRange, FetchError>, Duration) {
        self.run(self.store.fetch("a", range))
    }
}

#[test]
fn a_request_takes_its_latency_and_its_transfer() {
    let lab = Lab::new(constant());
    let (fetched, took) = lab.fetch(ByteRange::new(10, 100));
    assert_eq!(fetched.unwrap().bytes.len(), 100);
    assert_eq!(took, MS * 120);
    // Only existing bytes are transferred: an open range is as long as the object.
    assert_eq!(lab.fetch(ByteRange::from(400)).1, MS * 620);
    let traffic = lab.store.traffic();
    assert_eq!((traffic.num_requests, traffic.num_bytes), (2, 700));
    assert_eq!((traffic.num_failures, traffic.num_dropped), (0, 0));
}

#[test]
fn requests_share_the_link_but_not_their_latency() {
    let lab = Lab::new(constant());
    let range = ByteRange::new(0, 100);
    let both = join(lab.store.fetch("a", range), lab.store.fetch("a", range));
    assert_eq!(lab.run(both).1, MS * 220);
}

#[test]
fn requests_beyond_the_connections_wait_in_line() {
    let model = LatencyModel {
        max_connections: 2,
        ..constant()
    };
    let lab = Lab::new(model);
    let requests = (0..6).map(|n| lab.store.fetch("a", ByteRange::new(n, 0)));
    let (answers, took) = lab.run(join_all(requests));
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(took, MS * 60);
    let sent_at = lab
        .store
        .take_attempts()
        .into_iter()
        .map(|attempt| attempt.sent_at);
    let expect = [0, 0, 20, 20, 40, 40].map(|ms| Some(MS * ms));
    assert!(sent_at.eq(expect));
}

#[test]
fn the_same_seed_takes_the_same_time_to_the_nanosecond() {
    let times = |seed: u64| {
        let lab = Lab::new(LatencyModel::s3().with_seed(seed));
        let requests = (0..20).map(|n| lab.store.fetch("a", ByteRange::new(n * 10, 50)));
        lab.run(join_all(requests));
        let mut attempts = lab.store.take_attempts();
        attempts.sort_by_key(|attempt| attempt.range.offset);
        attempts
            .into_iter()
            .map(|attempt| attempt.ended_at)
            .collect::<Vec<_>>()
    };
    assert_eq!(times(1), times(1));
    assert_ne!(times(1), times(2));
}

#[test]
fn the_order_of_polling_changes_no_latency() {
    let first_bytes = |offsets: Vec<u64>| {
        let lab = Lab::new(LatencyModel::s3());
        let requests = offsets
            .iter()
            .map(|n| lab.store.fetch("a", ByteRange::new(*n, 10)));
        lab.run(join_all(requests));
        let mut attempts = lab.store.take_attempts();
        attempts.sort_by_key(|attempt| attempt.range.offset);
        attempts
            .into_iter()
            .map(|attempt| attempt.first_byte_at)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        first_bytes((0..20).collect()),
        first_bytes((0..20).rev().collect())
    );
}

#[test]
fn asking_again_draws_anew_until_the_store_is_reseeded() {
    let lab = Lab::new(LatencyModel::s3());
    let took = || lab.fetch(ByteRange::new(0, 0)).1;
    let (first, second) = (took(), took());
    assert_ne!(first, second);
    lab.store.reseed(1);
    assert_eq!((took(), took()), (first, second));
    lab.store.reseed(2);
    assert_ne!(took(), first);
}

#[test]
fn a_dropped_request_frees_its_connection_and_the_link() {
    let model = LatencyModel {
        max_connections: 1,
        ..constant()
    };
    let lab = Lab::new(model);
    let loser = timeout_at(
        &*lab.clock,
        Some(MS * 70),
        lab.store.fetch("a", ByteRange::from(0)),
    );
    let next = lab.store.fetch("a", ByteRange::new(0, 100));
    let ((loser, next), took) = lab.run(join(loser, next));
    assert!(loser.is_err() && next.is_ok());
    // Abandoned at 70 ms; then a latency and a transfer alone.
    assert_eq!(took, MS * (70 + 20 + 100));
    let traffic = lab.store.traffic();
    assert_eq!((traffic.num_requests, traffic.num_dropped), (2, 1));
    // 50 bytes of the loser had been transferred.
    assert_eq!(traffic.num_bytes, 150);
    let ends: Vec<AttemptEnd> = lab.store.take_attempts().iter().map(|a| a.end).collect();
    assert_eq!(ends, [AttemptEnd::Dropped, AttemptEnd::Whole]);
}

#[test]
fn each_failure_is_what_a_store_would_do() {
    let check = |failures: FailureRates, kind: FetchErrorKind, says: &str, has_body: bool| {
        let lab = Lab::new(LatencyModel {
            failures,
            ..constant()
        });
        let (answer, took) = lab.fetch(ByteRange::new(0, 1000));
        let error = answer.unwrap_err();
        assert_eq!((error.kind, error.is_transient), (kind, true), "{error}");
        assert!(error.message.contains(says), "{error}");
        assert!(error.message.contains("bytes 0-999"), "{error}");
        assert_eq!(took > MS * 20, has_body, "{took:?}");
        let traffic = lab.store.traffic();
        assert_eq!(traffic.num_failures, 1);
        assert_eq!(took, MS * 20 + MS * traffic.num_bytes as u32);
        assert!(traffic.num_bytes < 1000);
    };
    let none = FailureRates::default();
    let unavailable = FetchErrorKind::Unavailable;
    check(
        FailureRates { error: 1.0, ..none },
        unavailable,
        "500",
        false,
    );
    check(
        FailureRates {
            slow_down: 1.0,
            ..none
        },
        unavailable,
        "503 Slow Down",
        false,
    );
    check(
        FailureRates { reset: 1.0, ..none },
        unavailable,
        "reset",
        true,
    );
    let truncation = FailureRates {
        truncation: 1.0,
        ..none
    };
    check(truncation, FetchErrorKind::Truncated, "of 1000 bytes", true);
}

#[test]
fn what_the_store_below_refuses_takes_a_latency() {
    let lab = Lab::new(constant());
    let (answer, took) = lab.run(lab.store.fetch("no such object", ByteRange::from(0)));
    assert_eq!(answer.unwrap_err().kind, FetchErrorKind::NotFound);
    assert_eq!(took, MS * 20);
}

/// One object with a version, as a store keeps it.
struct Versioned;

impl RangeFetcher for Versioned {
    fn fetch<'a>(
        &'a self,
        _object: &'a str,
        _range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let fetched = FetchedRange {
            etag: Some("\"v1\"".to_owned()),
            ..FetchedRange::new(Bytes::from_static(&[1; 500]))
        };
        std::future::ready(Ok(fetched)).boxed()
    }
}

#[test]
fn what_has_not_changed_is_not_transferred() {
    let lab = Lab::over(Arc::new(Versioned), constant());
    let ask =
        |etag: &'static str| lab.run(lab.store.fetch_if_changed("a", ByteRange::from(0), etag));
    let (answer, took) = ask("\"v1\"");
    assert_eq!((answer, took), (Ok(FetchedRange::unchanged()), MS * 20));
    let (answer, took) = ask("\"v0\"");
    assert_eq!(answer.unwrap().bytes.len(), 500);
    assert_eq!(took, MS * 520);
    let ends: Vec<AttemptEnd> = lab.store.take_attempts().iter().map(|a| a.end).collect();
    assert_eq!(ends, [AttemptEnd::NotChanged, AttemptEnd::Whole]);
}

#[test]
fn many_requests_outlast_the_budget_of_a_tokio_task() {
    let lab = Lab::new(constant());
    let (num, took) = lab.run(async {
        let mut num = 0;
        for n in 0..2000 {
            num += u32::from(
                lab.store
                    .fetch("a", ByteRange::new(n % 10, 0))
                    .await
                    .is_ok(),
            );
        }
        num
    });
    assert_eq!((num, took), (2000, MS * 20 * 2000));
}
