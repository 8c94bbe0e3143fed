//! Spans of a search, with one constructor each. The module's README lists their fields.
//!
//! ```text
//!   query ─ session ─┬─ guest            one step of the guest
//!                     └─ wave ─ request   one fetched range, including retries and hedges
//! ```
//!
//! Futures are instrumented and guards are never held across an await, so spans follow a search
//! from thread to thread. Fields are only computed if there is a subscriber.

use std::time::Duration;

use tracing::field::Empty;
use tracing::{Span, debug_span, info_span};

use super::redact;
use crate::fetch::{FetchError, FetchedRange};
use crate::observe::profile::{Profile, Wave};
use crate::session::{ByteClass, Demand, SessionRequest};

/// Returns the span of a query. `index` is the namespace, which may be a URI with a signature in
/// it.
pub(crate) fn query(index: &str, kind: &'static str) -> Span {
    info_span!(
        target: "canter::query",
        "query",
        index = %redact(index),
        kind,
        outcome = Empty,
        elapsed_us = Empty,
        num_waves = Empty,
        num_requests = Empty,
        num_bytes = Empty,
        num_cache_hits = Empty,
        num_cache_misses = Empty,
    )
}

/// Records the outcome of a query.
pub(super) fn end_query(
    span: &Span,
    outcome: &'static str,
    took: Duration,
    profile: Option<&Profile>,
) {
    span.record("outcome", outcome);
    span.record("elapsed_us", micros(took));
    if let Some(profile) = profile {
        span.record("num_waves", profile.num_waves);
        span.record("num_requests", profile.num_requests);
        span.record("num_bytes", profile.num_bytes);
        span.record("num_cache_hits", profile.num_cache_hits.total());
        span.record("num_cache_misses", profile.num_cache_misses.total());
    }
}

/// Returns the span of one session of a query.
pub(crate) fn session(request: &SessionRequest) -> Span {
    let kind = match request {
        SessionRequest::Http { .. } => "http",
        SessionRequest::Leaf(_) => "leaf",
        SessionRequest::Root { .. } => "root",
    };
    debug_span!(target: "canter::session", "session", kind)
}

/// Returns the span of one step of the guest, numbered from 0 within its session.
pub(crate) fn guest(step: u64) -> Span {
    debug_span!(target: "canter::guest", "guest", step)
}

/// Returns the span of one demand; `wave_ord` counts from 0 within its query. A demand that the
/// cache answers has the number of the next wave that goes to the store.
pub(crate) fn wave(wave_ord: u64, demand: &Demand) -> Span {
    debug_span!(
        target: "canter::wave",
        "wave",
        wave_ord,
        num_reads = demand.reads.len() as u64,
        num_lookups = demand.lookups.len() as u64,
        num_requests = Empty,
        num_bytes = Empty,
    )
}

/// Ends the span of a wave with its requests and their results, if it had any.
pub(crate) fn end_wave(span: Span, sent: Option<&Wave>) {
    if span.is_disabled() {
        return;
    }
    let requests = sent.map_or(&[][..], |wave| &wave.requests);
    let came = requests.iter().filter(|request| request.error.is_none());
    span.record("num_requests", requests.len() as u64);
    span.record("num_bytes", came.map(|request| request.length).sum::<u64>());
}

/// Returns the span of one range. `length` is absent if the range extends to the end of the object.
pub(crate) fn request(object: &str, offset: u64, length: Option<u64>, class: ByteClass) -> Span {
    debug_span!(
        target: "canter::request",
        "request",
        object,
        offset,
        length,
        class = class.as_str(),
        attempts = Empty,
        hedged = Empty,
        num_bytes = Empty,
        outcome = Empty,
    )
}

/// Records the result of a range.
pub(crate) fn end_request(
    span: &Span,
    result: &Result<FetchedRange, FetchError>,
    was_sent: bool,
    num_bytes: u64,
) {
    if span.is_disabled() {
        return;
    }
    let (num_retries, hedge) = match result {
        Ok(fetched) => (fetched.num_retries, fetched.hedge),
        Err(error) => (error.num_retries, error.hedge),
    };
    let outcome = match result {
        Ok(_) if !was_sent => "cached",
        Ok(_) => "ok",
        Err(error) => super::metrics::name_of(error.kind),
    };
    let attempts = match was_sent {
        true => 1 + u64::from(num_retries) + u64::from(hedge.is_some()),
        false => 0,
    };
    span.record("attempts", attempts);
    if let Some(hedge) = hedge {
        span.record("hedged", if hedge.has_won { "won" } else { "lost" });
    }
    span.record("num_bytes", num_bytes);
    span.record("outcome", outcome);
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
