//! Sends a second request where the first is late, and takes whichever answers first.
//!
//! Hedging cuts the tail, and costs requests. So it is rationed: extra requests stay within a share of
//! all requests, and are spent where they win most. A request is late when its search is: what earlier
//! waves of the search lost is added to what this request has waited.
//!
//! ```text
//!   wave 1 usual: hedged only past the high quantile       |──────────────h·······|
//!   wave 1 was slow: wave 2 is hedged the sooner           |──h·······|
//! ```
//!
//! There is no hedge when the slowest requests that were seen are hardly slower than the moment at
//! which it would be sent, when the store slows down as a whole (a second request would add to what
//! slows it), and for answers so large that their transfer is what takes long.

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

/// Extra requests that may be saved up for. Slow requests come in runs, and a run that finds nothing
/// saved is what p99 is made of: by Monte Carlo, over searches of three requests one after the other,
/// 3 take 11 % off p99, 10 take 19 % off, and 30 take 25 % off.
const MAX_SAVED: f64 = 30.0;

/// What a searcher begins with: enough for the one search of a process that lives no longer, and too
/// little for hedging where a search is not late yet.
const SAVED_AT_FIRST: f64 = 3.0;

/// How much of what earlier waves lost makes up for waiting now. With all of it, early waves leave
/// nothing to spend on a wave of many requests: by Monte Carlo, 0.8 instead of 1 takes 28 % instead of
/// 25 % off p99 of three requests one after the other, and 19 % instead of 5 % where eight at once
/// stand in the middle; two requests in a row lose one percent of theirs.
const LATENESS_SHARE: f64 = 0.8;

/// What a read to the end of an object is counted as: the manifest.
const ASSUMED_LEN: u64 = 256 << 10;

/// When second requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HedgeOptions {
    /// Extra requests in percent of all; 0 turns hedging off.
    pub max_extra_percent: f64,
    /// A request that is slower than this share of requests is late. While extra requests are saved
    /// up, a little less is enough: down to [`HedgeOptions::eager_quantile`].
    pub quantile: f64,
    /// The share that is enough when as many extra requests are saved up as can be.
    pub eager_quantile: f64,
    /// No hedges while requests take so many times longer than usual.
    pub max_slowdown: f64,
}

impl Default for HedgeOptions {
    /// At most 5 % extra, past the 95th percentile (down to the 92nd while requests are saved up),
    /// unless the store is 3 times slower than usual.
    fn default() -> Self {
        Self {
            max_extra_percent: 5.0,
            quantile: 0.95,
            eager_quantile: 0.92,
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
        let eagerness = self.allowance.fill() * (options.quantile - options.eager_quantile);
        let usual = quantiles.at(0.5);
        let late = quantiles.at(options.quantile - eagerness);
        let delay = late
            .saturating_sub(pace.lateness(usual).mul_f64(LATENESS_SHARE))
            .max(quantiles.at(0.0));
        (delay + 2 * usual <= quantiles.at(1.0)).then_some(delay)
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

    /// How much longer the waves took than `usual` each.
    fn lateness(&self, usual: Duration) -> Duration {
        let num_waves = u32::try_from(self.num_waves.load(Ordering::Relaxed)).unwrap_or(u32::MAX);
        let waited = Duration::from_nanos(self.waited_ns.load(Ordering::Relaxed));
        waited.saturating_sub(usual.saturating_mul(num_waves))
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
