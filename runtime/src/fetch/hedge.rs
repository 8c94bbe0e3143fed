//! Sends a second request where the first is late, and takes whichever answers first.
//!
//! Hedging cuts the tail, and costs requests. So it is rationed: extra requests stay within a share of
//! all requests, and are spent where they win most: in searches that would be late without. A search has
//! time for its waves, each as long as requests usually take, and for a slow request or so besides. A
//! request whose answer would be late for that if it were slow is hedged when half of the time that is
//! left is gone; the second request has the other half.
//!
//! ```text
//!   wave 1, time for a slow request: no hedge     |── usual ──|──────── slack ────────|
//!   wave 2, after a slow wave 1                   |─────────────|── left ──h··········|
//!                                                                       half of it
//! ```
//!
//! The fewer extra requests are saved up, the more may a search lose before it is late.
//!
//! There is no hedge when the slowest requests that were seen are hardly slower than the moment at
//! which it would be sent, when the time is over anyway, when the store slows down as a whole (a second
//! request would add to what slows it), and for answers so large that their transfer is what takes long.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, FutureExt, select};
use prometheus_client::metrics::counter::Counter;

use super::allowance::Allowance;
use super::latencies::{Latencies, Quantiles};
use super::{ByteRange, FetchError, FetchErrorKind, FetchedRange, Hedged, RangeFetcher};
use crate::Metrics;
use crate::clock::Clock;

/// Extra requests that may be saved up. Slow requests come in runs, and a run that finds nothing saved
/// is what p99 is made of. More than 30 gain next to nothing: by Monte Carlo, 60 take 28.2 % instead of
/// 28.1 % off p99 of three requests in a row.
const MAX_SAVED: f64 = 30.0;

/// What a searcher begins with: enough for the one search of a process that lives no longer.
const SAVED_AT_FIRST: f64 = 3.0;

/// What a search may lose before it is late, in slow requests, if as many extra requests are saved up as
/// can be. Less than one, so that first waves are hedged where there is more to spend than late searches
/// need.
const MIN_LOSS: f64 = 0.9;

/// How much more it may lose if fewer are saved up: this, times what is missing, over what is there. So
/// it settles where no more is spent than is earned, whatever store and searches are like: at one slow
/// request for the S3 model and three requests in a row, at two and a half with eight at once between two others.
const LOSS_IF_SCARCE: f64 = 0.15;

/// Less than this is taken as this: the less is saved up, the more may be lost, but not without end.
const MIN_FILL: f64 = 0.01;

/// What a read to the end of an object is counted as: the manifest.
const ASSUMED_LEN: u64 = 256 << 10;

/// When second requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HedgeOptions {
    /// Extra requests in percent of all; 0 turns hedging off.
    pub max_extra_percent: f64,
    /// A request that is slower than this share of requests is slow.
    pub slow_quantile: f64,
    /// No hedges while requests take so many times longer than usual.
    pub max_slowdown: f64,
}

impl Default for HedgeOptions {
    /// At most 5 % extra, slow past the 97th percentile, unless the store is 3 times slower than usual.
    fn default() -> Self {
        Self {
            max_extra_percent: 5.0,
            slow_quantile: 0.97,
            max_slowdown: 3.0,
        }
    }
}

impl HedgeOptions {
    /// No second requests.
    pub fn off() -> Self {
        Self {
            max_extra_percent: 0.0,
            ..Self::default()
        }
    }
}

/// What all searches of one searcher know of their store.
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

    pub(crate) fn counted_by(mut self, metrics: &Metrics) -> Self {
        self.num_hedges = metrics.hedges.clone();
        self.num_won = metrics.hedges_won.clone();
        self
    }

    /// For tests: as if a request had taken so long.
    #[cfg(test)]
    pub(crate) fn note_latency(&self, num_bytes: u64, took: Duration) {
        self.latencies.record(num_bytes, took);
    }

    /// Whether requests of some size are not hedged, because the store slows down.
    pub(crate) fn is_paused(&self) -> bool {
        let is_slow = |quantiles: Quantiles| quantiles.slowdown() > self.options.max_slowdown;
        self.options.max_extra_percent > 0.0 && self.latencies.of_each().into_iter().any(is_slow)
    }

    /// How long the first request is waited for; `None` if no second is worth it.
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

/// How the waves of one search went so far.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    num_waves: AtomicU64,
    waited_ns: AtomicU64,
}

impl Pace {
    /// Notes a wave that took so long.
    pub(crate) fn note_wave(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.num_waves.fetch_add(1, Ordering::Relaxed);
        self.waited_ns.fetch_add(took, Ordering::Relaxed);
    }

    /// What is left for a request sent now, if each wave may take the `usual` time, this one included,
    /// and the search may lose the time `loss` besides; `None` if the search is late already.
    fn left(&self, usual: Duration, loss: Duration) -> Option<Duration> {
        let num_waves = u32::try_from(self.num_waves.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let waited = Duration::from_nanos(self.waited_ns.load(Ordering::Relaxed));
        usual
            .saturating_mul(num_waves.saturating_add(1))
            .saturating_add(loss)
            .checked_sub(waited)
    }
}

/// A fetcher that hedges the requests of one search.
pub(crate) struct Hedge {
    pub(crate) inner: Arc<dyn RangeFetcher>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) state: Arc<HedgeState>,
    pub(crate) pace: Arc<Pace>,
}

impl Hedge {
    /// Runs `fetch` once, or twice.
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
            // A second that was refused or failed must not cost the first.
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

    /// Remembers how long a request took.
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
