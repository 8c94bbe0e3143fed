//! Observation of every single request to the store: below retries, hedges and budget, so that it
//! sees the same requests as the store.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, FutureExt};
use tracing::debug;

use super::Metrics;
use super::metrics::{CANCELLED, OK, name_of};
use super::redact;
use crate::clock::Clock;
use crate::fetch::{ByteRange, FetchError, FetchedRange, RangeFetcher};

/// Fetcher whose requests are counted.
pub(crate) struct Observed {
    pub(crate) inner: Arc<dyn RangeFetcher>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) metrics: Arc<Metrics>,
}

/// Sent request. If it is dropped before its end, it was cancelled.
struct Sent<'a> {
    observed: &'a Observed,
    started: Duration,
    outcome: &'static str,
}

impl Drop for Sent<'_> {
    fn drop(&mut self) {
        let metrics = &self.observed.metrics;
        metrics.requests_in_flight.dec();
        let labels = [("outcome", self.outcome)];
        metrics.requests.get_or_create(&labels).inc();
        if self.outcome != CANCELLED {
            let took = self.observed.clock.now().saturating_sub(self.started);
            metrics.request_seconds.observe(took.as_secs_f64());
        }
    }
}

impl Observed {
    async fn watch<T>(
        &self,
        object: &str,
        range: ByteRange,
        request: impl Future<Output = Result<T, FetchError>>,
    ) -> Result<T, FetchError> {
        self.metrics.requests_in_flight.inc();
        let mut sent = Sent {
            observed: self,
            started: self.clock.now(),
            outcome: CANCELLED,
        };
        let result = request.await;
        sent.outcome = match &result {
            Ok(_) => OK,
            Err(error) => name_of(error.kind),
        };
        if let Err(error) = &result {
            debug!(
                target: "canter::request",
                object,
                %range,
                outcome = sent.outcome,
                is_transient = error.is_transient,
                error = %redact(&error.message),
                "a request failed"
            );
        }
        result
    }
}

impl RangeFetcher for Observed {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        self.watch(object, range, self.inner.fetch(object, range))
            .boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let request = self.inner.fetch_if_changed(object, range, etag);
        self.watch(object, range, request).boxed()
    }
}
