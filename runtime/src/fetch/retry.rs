//! Repeats reads that failed for a reason that passes, with exponential backoff.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{ByteRange, FetchError, FetchedRange, RangeFetcher};

/// How often and how soon a read is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOptions {
    /// Repetitions after the first attempt; 0 turns retrying off.
    pub max_retries: u32,
    /// Pause before the first repetition; it doubles each time.
    pub initial_backoff: Duration,
    /// Longest pause.
    pub max_backoff: Duration,
}

impl Default for RetryOptions {
    /// Three repetitions after about 50, 100 and 200 ms.
    fn default() -> Self {
        Self {
            max_retries: 3,
            initial_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(2),
        }
    }
}

impl RetryOptions {
    /// The pause before repetition `attempt` (from 0): between half of the step and the whole step.
    /// The jitter comes from the read itself, so the same reads give the same pauses, and different
    /// reads that failed together do not come back together.
    fn backoff(&self, object: &str, range: ByteRange, attempt: u32) -> Duration {
        let doubled = self.initial_backoff.saturating_mul(1 << attempt.min(16));
        let step = doubled.min(self.max_backoff);
        let seed = range.offset.rotate_left(17) ^ u64::from(attempt);
        let jitter = xxh3_64_with_seed(object.as_bytes(), seed) % 1024;
        step / 2 + step.mul_f64(jitter as f64 / 2048.0)
    }
}

/// A fetcher that repeats the transient failures of another.
pub struct Retry {
    inner: Arc<dyn RangeFetcher>,
    options: RetryOptions,
}

impl Retry {
    /// Repeats the transient failures of `inner`.
    pub fn new(inner: Arc<dyn RangeFetcher>, options: RetryOptions) -> Self {
        Self { inner, options }
    }
}

impl RangeFetcher for Retry {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            let mut num_retries = 0;
            loop {
                match self.inner.fetch(object, range).await {
                    Ok(fetched) => {
                        return Ok(FetchedRange {
                            num_retries,
                            ..fetched
                        });
                    }
                    Err(error) if error.is_transient && num_retries < self.options.max_retries => {
                        let pause = self.options.backoff(object, range, num_retries);
                        tokio::time::sleep(pause).await;
                        num_retries += 1;
                    }
                    Err(error) => {
                        return Err(FetchError {
                            num_retries,
                            ..error
                        });
                    }
                }
            }
        }
        .boxed()
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
