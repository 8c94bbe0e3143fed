//! Hedging: sends a second request if the first one is late, and uses the answer that arrives
//! first.
//!
//! Hedging reduces tail latency, but costs requests. It is therefore limited: extra requests stay
//! within a share of all requests, and are spent where they gain most, on searches that would
//! otherwise be late. A search has time for its waves, each as long as requests usually take, plus
//! an allowance of about one slow request. A request that would exceed this time if it were slow is
//! hedged after half of the remaining time; the second request has the other half.
//!
//! ```text
//!   wave 1, time for a slow request: no hedge     |── usual ──|──────── slack ────────|
//!   wave 2, after a slow wave 1                   |─────────────|── left ──h··········|
//!                                                                       half of it
//! ```
//!
//! The fewer extra requests are saved, the more time a search may lose before it counts as late.
//!
//! There is no hedge in the following cases: the slowest observed requests are hardly slower than
//! the time at which the hedge would be sent; the time is over anyway; the store slows down as a
//! whole (a second request would add to its load); the answer is so large that its transfer takes
//! most of the time.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, FutureExt, select};
use prometheus_client::metrics::counter::Counter;

use super::allowance::Allowance;
use super::latencies::{Latencies, Quantiles};
use crate::clock::Clock;
use crate::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange, Hedged, RangeFetcher};

/// Maximum number of saved extra requests. Slow requests come in bursts, and a burst without saved
/// requests determines the p99. More than 30 have little effect: in a Monte Carlo simulation, 60
/// reduce the p99 of three successive requests by 28.2 % instead of 28.1 %.
const MAX_SAVED: f64 = 30.0;

/// Number of saved requests at the start: enough for the only search of a short-lived process.
const SAVED_AT_FIRST: f64 = 3.0;

/// Time that a search may lose before it is late, in slow requests, with the maximum number of
/// saved extra requests. It is less than one, so that first waves are hedged if there are more
/// extra requests than late searches need.
const MIN_LOSS: f64 = 0.9;

/// Factor for the additional time with fewer saved requests: it is multiplied by the missing share
/// and divided by the saved share. This stabilizes where no more requests are spent than earned,
/// for any store and searches: at one slow request for the S3 model and three successive requests,
/// and at two and a half for eight concurrent requests between two others.
const LOSS_IF_SCARCE: f64 = 0.15;

/// Minimum of the saved share in this formula, which limits the additional time.
const MIN_FILL: f64 = 0.01;

/// Assumed length of a read to the end of an object, which is the manifest.
const ASSUMED_LEN: u64 = 256 << 10;

/// Conditions for second requests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HedgeOptions {
    /// Extra requests in percent of all; 0 turns hedging off.
    pub max_extra_percent: f64,
    /// Requests that are slower than this share of requests count as slow.
    pub slow_quantile: f64,
    /// Maximum slowdown of the store, relative to usual times, with which requests are hedged.
    pub max_slowdown: f64,
}

impl Default for HedgeOptions {
    /// Defaults to at most 5 % extra requests, slow ones beyond the 97th percentile, and a slowdown
    /// of at most 3.
    fn default() -> Self {
        Self {
            max_extra_percent: 5.0,
            slow_quantile: 0.97,
            max_slowdown: 3.0,
        }
    }
}

impl HedgeOptions {
    /// Turns hedging off.
    pub fn off() -> Self {
        Self {
            max_extra_percent: 0.0,
            ..Self::default()
        }
    }
}

/// Knowledge about the store that all searches of one searcher share.
#[derive(Debug)]
pub(crate) struct HedgeState {
    options: HedgeOptions,
    latencies: Latencies,
    allowance: Allowance,
    num_hedges: Counter,
    num_won: Counter,
}

impl HedgeState {
    pub(crate) fn new(options: HedgeOptions) -> Self {
        let allowance = Allowance::new(options.max_extra_percent, MAX_SAVED, SAVED_AT_FIRST);
        Self {
            options,
            latencies: Latencies::default(),
            allowance,
            num_hedges: Counter::default(),
            num_won: Counter::default(),
        }
    }

    pub(crate) fn counted_by(self, num_hedges: &Counter, num_won: &Counter) -> Self {
        Self {
            num_hedges: num_hedges.clone(),
            num_won: num_won.clone(),
            ..self
        }
    }

    /// Records the latency of a request, for tests.
    #[cfg(test)]
    pub(crate) fn note_latency(&self, num_bytes: u64, took: Duration) {
        self.latencies.record(num_bytes, took);
    }

    /// Returns whether hedging is paused for requests of some size because the store slows down.
    pub(crate) fn is_paused(&self) -> bool {
        let is_slow = |quantiles: Quantiles| quantiles.slowdown() > self.options.max_slowdown;
        self.options.max_extra_percent > 0.0 && self.latencies.of_each().into_iter().any(is_slow)
    }

    /// Returns the time after which a second request is sent, or `None` if it is not worthwhile.
    fn delay(&self, num_bytes: u64, pace: &Pace) -> Option<Duration> {
        let options = &self.options;
        if options.max_extra_percent <= 0.0 {
            return None;
        }
        let quantiles = self.latencies.of(num_bytes)?;
        if quantiles.slowdown() > options.max_slowdown {
            return None;
        }
        let fill = self.allowance.fill().max(MIN_FILL);
        let loss = MIN_LOSS + LOSS_IF_SCARCE * (1.0 - fill) / fill;
        let usual = quantiles.at(0.5);
        let left = pace.left(usual, quantiles.at(options.slow_quantile).mul_f64(loss))?;
        let slowest = quantiles.at(1.0);
        let delay = (left / 2).max(quantiles.at(0.0));
        (left < slowest && delay + 2 * usual <= slowest).then_some(delay)
    }
}

/// Progress of one search's waves.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    num_waves: AtomicU64,
    waited_ns: AtomicU64,
}

impl Pace {
    /// Records the duration of a wave.
    pub(crate) fn note_wave(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.num_waves.fetch_add(1, Ordering::Relaxed);
        self.waited_ns.fetch_add(took, Ordering::Relaxed);
    }

    /// Returns the remaining time of a request that is sent now, if each wave including this one
    /// may take the `usual` time, and the search may also lose the time `loss`. Returns `None` if
    /// the search is already late.
    fn left(&self, usual: Duration, loss: Duration) -> Option<Duration> {
        let num_waves = u32::try_from(self.num_waves.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let waited = Duration::from_nanos(self.waited_ns.load(Ordering::Relaxed));
        usual
            .saturating_mul(num_waves.saturating_add(1))
            .saturating_add(loss)
            .checked_sub(waited)
    }
}

/// Fetcher that hedges the requests of one search.
pub(crate) struct Hedge {
    pub(crate) inner: Arc<dyn RangeFetcher>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) state: Arc<HedgeState>,
    pub(crate) pace: Arc<Pace>,
}

impl Hedge {
    /// Runs `fetch` once or twice.
    async fn run<'a>(
        &'a self,
        num_bytes: u64,
        fetch: impl Fn() -> BoxFuture<'a, Result<FetchedRange, FetchError>>,
    ) -> Result<FetchedRange, FetchError> {
        let started = self.clock.now();
        self.state.allowance.earn();
        let first = fetch();
        let Some(delay) = self.state.delay(num_bytes, &self.pace) else {
            return self.note(num_bytes, started, first.await);
        };
        let timer = self.clock.sleep_until(started + delay);
        let first = match select(first, timer).await {
            Either::Left((result, _)) => return self.note(num_bytes, started, result),
            Either::Right(((), first)) => first,
        };
        if !self.state.allowance.spend() {
            return self.note(num_bytes, started, first.await);
        }
        let at = self.clock.now();
        let (result, has_won) = match select(first, pin!(fetch())).await {
            Either::Left((Err(error), second)) if error.is_transient => (second.await, true),
            Either::Left((result, _)) => (result, false),
            // A failed second request must not affect the first one.
            Either::Right((Err(error), first)) if error.kind == FetchErrorKind::Budget => {
                return self.note(num_bytes, started, first.await);
            }
            Either::Right((Err(_), first)) => (first.await, false),
            Either::Right((result, _)) => (result, true),
        };
        self.state.num_hedges.inc();
        self.state.num_won.inc_by(u64::from(has_won));
        let hedge = Hedged { at, has_won };
        if has_won && result.is_ok() {
            let waited = self.clock.now().saturating_sub(started);
            self.state.latencies.record_longer(num_bytes, waited);
        }
        match has_won {
            true => result,
            false => self.note(num_bytes, started, result),
        }
        .map(|fetched| FetchedRange {
            hedge: Some(hedge),
            ..fetched
        })
        .map_err(|error| FetchError {
            hedge: Some(hedge),
            ..error
        })
    }

    /// Records the duration of a request.
    fn note(
        &self,
        num_bytes: u64,
        started: Duration,
        result: Result<FetchedRange, FetchError>,
    ) -> Result<FetchedRange, FetchError> {
        if result.is_ok() {
            let took = self.clock.now().saturating_sub(started);
            self.state.latencies.record(num_bytes, took);
        }
        result
    }
}

impl RangeFetcher for Hedge {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let num_bytes = range.len.unwrap_or(ASSUMED_LEN);
        self.run(num_bytes, move || self.inner.fetch(object, range))
            .boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let num_bytes = range.len.unwrap_or(ASSUMED_LEN);
        self.run(num_bytes, move || {
            self.inner.fetch_if_changed(object, range, etag)
        })
        .boxed()
    }
}

#[cfg(test)]
mod tests;
