//! Retries of reads with transient failures, with exponential backoff and a budget.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use prometheus_client::metrics::counter::Counter;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::allowance::Allowance;
use crate::Metrics;
use crate::clock::{Clock, SystemClock};
use crate::fetch::{ByteRange, FetchError, FetchedRange, RangeFetcher};

/// Options for retries of reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetryOptions {
    /// Maximum number of retries after the first attempt; 0 turns retries off.
    pub max_retries: u32,
    /// Pause before the first retry, which doubles with each one.
    pub initial_backoff: Duration,
    /// Maximum pause.
    pub max_backoff: Duration,
    /// Retries in percent of all requests, in the long run. This limits the load on a failing
    /// store.
    pub max_extra_percent: f64,
    /// Maximum number of additional retries that are saved in quiet times. A searcher begins with
    /// this number.
    pub max_saved_retries: f64,
}

impl Default for RetryOptions {
    /// Defaults to three retries after about 50, 100 and 200 ms, and in the long run to 10 % of
    /// requests, with 100 saved.
    fn default() -> Self {
        Self {
            max_retries: 3,
            initial_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(2),
            max_extra_percent: 10.0,
            max_saved_retries: 100.0,
        }
    }
}

impl RetryOptions {
    /// Returns the pause before retry `attempt` (from 0): between half of the step and the whole
    /// step. The jitter is derived from the read, so that pauses are deterministic, and different
    /// reads that failed together are not retried together.
    fn backoff(&self, object: &str, range: ByteRange, attempt: u32) -> Duration {
        let doubled = self.initial_backoff.saturating_mul(1 << attempt.min(16));
        let step = doubled.min(self.max_backoff);
        let seed = range.offset.rotate_left(17) ^ u64::from(attempt);
        let jitter = xxh3_64_with_seed(object.as_bytes(), seed) % 1024;
        step / 2 + step.mul_f64(jitter as f64 / 2048.0)
    }
}

/// State of retries that all searches of one searcher share.
#[derive(Debug)]
pub(crate) struct RetryState {
    options: RetryOptions,
    allowance: Allowance,
    num_retries: Counter,
}

impl RetryState {
    pub(crate) fn new(options: RetryOptions) -> Self {
        let max = options.max_saved_retries;
        let allowance = Allowance::new(options.max_extra_percent, max, max);
        Self {
            options,
            allowance,
            num_retries: Counter::default(),
        }
    }

    pub(crate) fn counted_by(mut self, metrics: &Metrics) -> Self {
        self.num_retries = metrics.retries.clone();
        self
    }
}

/// Fetcher that retries transient failures of another one.
pub struct Retry {
    inner: Arc<dyn RangeFetcher>,
    clock: Arc<dyn Clock>,
    state: Arc<RetryState>,
}

impl Retry {
    /// Retries transient failures of `inner`.
    pub fn new(inner: Arc<dyn RangeFetcher>, options: RetryOptions) -> Self {
        let state = Arc::new(RetryState::new(options));
        Self::sharing(inner, Arc::new(SystemClock::new()), state)
    }

    /// Creates a fetcher with a shared clock and a shared allowance for retries.
    pub(crate) fn sharing(
        inner: Arc<dyn RangeFetcher>,
        clock: Arc<dyn Clock>,
        state: Arc<RetryState>,
    ) -> Self {
        Self {
            inner,
            clock,
            state,
        }
    }

    /// Runs `fetch` until it succeeds, fails permanently, or was retried often enough.
    async fn run<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        fetch: impl Fn() -> BoxFuture<'a, Result<FetchedRange, FetchError>>,
    ) -> Result<FetchedRange, FetchError> {
        let mut num_retries = 0;
        self.state.allowance.earn();
        loop {
            let error = match fetch().await {
                Ok(fetched) => {
                    return Ok(FetchedRange {
                        num_retries,
                        ..fetched
                    });
                }
                Err(error) => FetchError {
                    num_retries,
                    ..error
                },
            };
            let options = &self.state.options;
            let may_repeat = error.is_transient && num_retries < options.max_retries;
            if !may_repeat || !self.state.allowance.spend() {
                return Err(error);
            }
            let pause = options.backoff(object, range, num_retries);
            self.clock.sleep_until(self.clock.now() + pause).await;
            num_retries += 1;
            self.state.num_retries.inc();
        }
    }
}

impl RangeFetcher for Retry {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let fetch = move || self.inner.fetch(object, range);
        self.run(object, range, fetch).boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let fetch = move || self.inner.fetch_if_changed(object, range, etag);
        self.run(object, range, fetch).boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use bytes::Bytes;

    use super::*;
    use crate::fetch::FetchErrorKind;

    struct FailsFirst {
        num_failures: u32,
        kind: FetchErrorKind,
        num_calls: AtomicU32,
    }

    impl RangeFetcher for FailsFirst {
        fn fetch<'a>(
            &'a self,
            object: &'a str,
            range: ByteRange,
        ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
            let call = self.num_calls.fetch_add(1, Ordering::Relaxed);
            let answer = if call < self.num_failures {
                Err(FetchError::new(self.kind, object, range, "scripted"))
            } else {
                Ok(FetchedRange::new(Bytes::from_static(b"ok")))
            };
            std::future::ready(answer).boxed()
        }
    }

    async fn run(
        num_failures: u32,
        kind: FetchErrorKind,
    ) -> (Result<FetchedRange, FetchError>, u32) {
        let inner = Arc::new(FailsFirst {
            num_failures,
            kind,
            num_calls: AtomicU32::new(0),
        });
        let options = RetryOptions {
            initial_backoff: Duration::from_millis(1),
            ..RetryOptions::default()
        };
        let answer = Retry::new(inner.clone(), options)
            .fetch("a", ByteRange::new(0, 2))
            .await;
        (answer, inner.num_calls.load(Ordering::Relaxed))
    }

    #[tokio::test]
    async fn a_passing_failure_is_repeated_and_counted() {
        let (answer, num_calls) = run(2, FetchErrorKind::Unavailable).await;
        assert_eq!(answer.unwrap().num_retries, 2);
        assert_eq!(num_calls, 3);
    }

    #[tokio::test]
    async fn repetitions_are_bounded() {
        let (answer, num_calls) = run(99, FetchErrorKind::Unavailable).await;
        assert_eq!(answer.unwrap_err().num_retries, 3);
        assert_eq!(num_calls, 4);
    }

    #[tokio::test]
    async fn a_lasting_failure_is_not_repeated() {
        for kind in [
            FetchErrorKind::NotFound,
            FetchErrorKind::Denied,
            FetchErrorKind::Protocol,
            FetchErrorKind::Truncated,
            FetchErrorKind::Budget,
        ] {
            let (answer, num_calls) = run(99, kind).await;
            assert_eq!(answer.unwrap_err().kind, kind);
            assert_eq!(num_calls, 1);
        }
    }

    #[test]
    fn pauses_double_and_stay_between_half_a_step_and_a_step() {
        let options = RetryOptions::default();
        for attempt in 0..8 {
            let step = Duration::from_millis(50)
                .saturating_mul(1 << attempt)
                .min(options.max_backoff);
            let pause = options.backoff("splits/x.split", ByteRange::new(4096, 10), attempt);
            assert!(pause >= step / 2 && pause <= step, "{pause:?} of {step:?}");
            assert_eq!(
                pause,
                options.backoff("splits/x.split", ByteRange::new(4096, 10), attempt)
            );
        }
    }
}
