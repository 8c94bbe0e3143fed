//! Counters of one process, and their text form.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use canter_waves::Costs;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use super::buckets;
use super::sources::{SearcherSource, Sources};
use crate::fetch::FetchErrorKind;
use crate::session::ByteClass;

/// Names and values of labels. They do not depend on queries, so their number is limited.
type Labels<const N: usize> = [(&'static str, &'static str); N];

/// Outcome label of a successful request or fetched range.
pub(crate) const OK: &str = "ok";
/// Outcome label of a request that was cancelled before its answer.
pub(super) const CANCELLED: &str = "cancelled";

/// Labels of the kinds of queries.
pub(super) const QUERY_KINDS: [&str; 4] = ["search", "explain", "http", "leaf"];

/// Labels of the outcomes of queries.
pub(super) const QUERY_OUTCOMES: [&str; 11] = [
    OK,
    "partial",
    "timed_out",
    "budget_exhausted",
    CANCELLED,
    "invalid",
    "not_found",
    "data",
    "unavailable",
    "limit",
    "internal",
];

const FETCH_ERRORS: [FetchErrorKind; 6] = [
    FetchErrorKind::NotFound,
    FetchErrorKind::Truncated,
    FetchErrorKind::Denied,
    FetchErrorKind::Protocol,
    FetchErrorKind::Unavailable,
    FetchErrorKind::Budget,
];

/// Returns the label of a kind of failed read.
pub(super) fn name_of(kind: FetchErrorKind) -> &'static str {
    match kind {
        FetchErrorKind::NotFound => "not_found",
        FetchErrorKind::Truncated => "truncated",
        FetchErrorKind::Denied => "denied",
        FetchErrorKind::Protocol => "protocol",
        FetchErrorKind::Unavailable => "unavailable",
        FetchErrorKind::Budget => "budget",
    }
}

/// Metrics of the searchers of a process, for Prometheus and compatible readers.
///
/// One object serves any number of searchers (see [`crate::SearcherBuilder::metrics`]). The
/// module's documentation lists the metrics. Their names and labels are fixed and never contain a
/// query, a URI or the name of an object.
pub struct Metrics {
    registry: Registry,
    sources: Arc<Sources>,
    pub(super) queries: Family<Labels<2>, Counter>,
    pub(super) query_seconds: Histogram,
    pub(super) queries_in_flight: Gauge,
    pub(super) requests: Family<Labels<1>, Counter>,
    pub(super) request_seconds: Histogram,
    pub(super) requests_in_flight: Gauge,
    wave_seconds: Histogram,
    reads: Family<Labels<2>, Counter>,
    fetches: Family<Labels<2>, Counter>,
    fetched_bytes: Family<Labels<1>, Counter>,
    shared_requests: Counter,
    guest_seconds: Counter<f64, AtomicU64>,
    /// Retries of failed requests, counted when they are sent.
    pub(crate) retries: Counter,
    /// Second requests for slow ones, and those whose answer was used.
    pub(crate) hedges: Counter,
    pub(crate) hedges_won: Counter,
    upkeep_failures: Counter,
    upkeep_failing_indexes: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Metrics {
    /// Value of `Content-Type` for the result of [`Metrics::encode`].
    pub const CONTENT_TYPE: &'static str =
        "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// Returns all metrics at zero.
    pub fn new() -> Self {
        let seconds = || Histogram::new(buckets::SECONDS);
        let metrics = Self {
            registry: Registry::default(),
            sources: Arc::default(),
            queries: Family::default(),
            query_seconds: seconds(),
            queries_in_flight: Gauge::default(),
            requests: Family::default(),
            request_seconds: seconds(),
            requests_in_flight: Gauge::default(),
            wave_seconds: seconds(),
            reads: Family::default(),
            fetches: Family::default(),
            fetched_bytes: Family::default(),
            shared_requests: Counter::default(),
            guest_seconds: Counter::default(),
            retries: Counter::default(),
            hedges: Counter::default(),
            hedges_won: Counter::default(),
            upkeep_failures: Counter::default(),
            upkeep_failing_indexes: Gauge::default(),
        };
        metrics.set_to_zero();
        metrics.registered()
    }

    /// Creates every label value, because a rate needs the zero before the first event.
    fn set_to_zero(&self) {
        for kind in QUERY_KINDS {
            for outcome in QUERY_OUTCOMES {
                drop(self.query(kind, outcome));
            }
        }
        let fates = || FETCH_ERRORS.into_iter().map(name_of).chain([OK]);
        for outcome in fates().chain([CANCELLED]) {
            drop(self.requests.get_or_create(&[("outcome", outcome)]));
        }
        for class in ByteClass::ALL {
            drop(
                self.fetched_bytes
                    .get_or_create(&[("class", class.as_str())]),
            );
            for result in ["hit", "miss"] {
                let labels = [("class", class.as_str()), ("result", result)];
                drop(self.reads.get_or_create(&labels));
            }
            for outcome in fates() {
                let labels = [("class", class.as_str()), ("outcome", outcome)];
                drop(self.fetches.get_or_create(&labels));
            }
        }
    }

    fn registered(mut self) -> Self {
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        self.registry
            .register("canter_build", "The version that runs", build);
        self.register_queries();
        self.register_requests();
        self.registry.register(
            "canter_upkeep_failures",
            "Merges and garbage collections of a writable server that failed",
            self.upkeep_failures.clone(),
        );
        self.registry.register(
            "canter_upkeep_failing_indexes",
            "Indexes whose last merge or garbage collection failed",
            self.upkeep_failing_indexes.clone(),
        );
        let sources = Box::new(Arc::clone(&self.sources));
        self.registry.register_collector(sources);
        self
    }

    fn register_queries(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "canter_queries",
            "Queries that ended, by kind and outcome",
            self.queries.clone(),
        );
        registry.register(
            "canter_query_duration_seconds",
            "Time from a query's call to its answer or error",
            self.query_seconds.clone(),
        );
        registry.register(
            "canter_queries_in_flight",
            "Queries that have begun and not ended",
            self.queries_in_flight.clone(),
        );
        registry.register(
            "canter_wave_duration_seconds",
            "Time from a wave's first request to its last answer",
            self.wave_seconds.clone(),
        );
        registry.register(
            "canter_reads",
            "Reads and lookups of the guest, by whether the cache answered in full",
            self.reads.clone(),
        );
        registry.register(
            "canter_guest_seconds",
            "Time that queries waited for the guest to compute",
            self.guest_seconds.clone(),
        );
    }

    fn register_requests(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "canter_fetches",
            "Ranges that were asked of the store until they came or were given up",
            self.fetches.clone(),
        );
        registry.register(
            "canter_fetched_bytes",
            "Bytes of ranges that came from the store",
            self.fetched_bytes.clone(),
        );
        registry.register(
            "canter_requests",
            "Requests sent to the store, repetitions and hedges included",
            self.requests.clone(),
        );
        registry.register(
            "canter_request_duration_seconds",
            "Time from a request to its last byte or its failure",
            self.request_seconds.clone(),
        );
        registry.register(
            "canter_requests_in_flight",
            "Requests that were sent and not answered yet",
            self.requests_in_flight.clone(),
        );
        registry.register(
            "canter_retries",
            "Requests that repeated a failed one",
            self.retries.clone(),
        );
        registry.register(
            "canter_hedges",
            "Requests that were sent beside a slow one",
            self.hedges.clone(),
        );
        registry.register(
            "canter_hedges_won",
            "Hedges whose answer was taken",
            self.hedges_won.clone(),
        );
        registry.register(
            "canter_shared_requests",
            "Requests of other queries that were waited for instead of sending one",
            self.shared_requests.clone(),
        );
    }

    /// Returns all metrics as OpenMetrics text, which Prometheus and its node exporter's textfile
    /// collector can read.
    pub fn encode(&self) -> String {
        let mut out = String::new();
        // Writing to a string only fails if a metric cannot be encoded, which does not happen here.
        let _ = text::encode(&mut out, &self.registry);
        out
    }

    /// Sets the state of upkeep in this process: the number of failures since the start, and the
    /// number of indexes for which it currently fails.
    pub fn set_upkeep(&self, num_failures: u64, num_failing_indexes: usize) {
        self.upkeep_failures
            .inner()
            .fetch_max(num_failures, Ordering::Relaxed);
        let num_failing = i64::try_from(num_failing_indexes).unwrap_or(i64::MAX);
        self.upkeep_failing_indexes.set(num_failing);
    }

    /// Adds the state of a searcher's parts to the metrics as long as they exist.
    pub(crate) fn watch(&self, source: SearcherSource) {
        self.sources.watch(source);
    }

    pub(super) fn query(&self, kind: &'static str, outcome: &'static str) -> Counter {
        let labels = [("kind", kind), ("outcome", outcome)];
        self.queries.get_or_create_owned(&labels)
    }

    /// Counts a wave with fetches.
    pub(crate) fn count_wave(&self, took: Duration) {
        self.wave_seconds.observe(took.as_secs_f64());
    }

    /// Counts a wave's reads and lookups that the cache could have answered, and the requests of other queries that
    /// it waited for.
    pub(crate) fn count_costs(&self, costs: &Costs) {
        for (result, counts) in [
            ("hit", &costs.num_cache_hits),
            ("miss", &costs.num_cache_misses),
        ] {
            for class in ByteClass::ALL {
                let num_reads = counts.get(class);
                if num_reads > 0 {
                    let labels = [("class", class.as_str()), ("result", result)];
                    self.reads.get_or_create(&labels).inc_by(num_reads);
                }
            }
        }
        self.shared_requests.inc_by(costs.num_shared_requests);
    }

    /// Counts a range that was fetched, with its bytes, or that failed.
    pub(crate) fn count_fetch(&self, class: ByteClass, result: Result<u64, FetchErrorKind>) {
        let class = ("class", class.as_str());
        if let Ok(num_bytes) = result {
            self.fetched_bytes.get_or_create(&[class]).inc_by(num_bytes);
        }
        let outcome = result.map_or_else(name_of, |_| OK);
        let labels = [class, ("outcome", outcome)];
        self.fetches.get_or_create(&labels).inc();
    }

    /// Counts time in which the guest computed.
    pub(crate) fn count_guest_time(&self, took: Duration) {
        self.guest_seconds.inc_by(took.as_secs_f64());
    }
}
