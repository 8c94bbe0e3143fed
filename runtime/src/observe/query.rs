//! Observation of a query from its call to its end.

use std::sync::Arc;
use std::time::Duration;

use tracing::{Instrument, Span};

use super::Metrics;
use super::metrics::CANCELLED;
use super::spans;
use crate::clock::Clock;
use crate::io::SharedIo;
use crate::{Profile, SearchError};

/// Answer with a known outcome and profile.
pub(crate) trait Answered {
    /// Returns one of [`super::metrics::QUERY_OUTCOMES`].
    fn outcome(&self) -> &'static str;
    fn profile(&self) -> &Profile;
}

/// Runs a query in its own span and counts it. `kind` is one of [`super::metrics::QUERY_KINDS`].
pub(crate) async fn observe_query<T: Answered>(
    shared: &SharedIo,
    kind: &'static str,
    query: impl Future<Output = Result<T, SearchError>>,
) -> Result<T, SearchError> {
    let mut underway = Underway::begin(shared, kind);
    let span = underway.span.clone();
    let result = query.instrument(span).await;
    match &result {
        Ok(answer) => underway.end(answer.outcome(), Some(answer.profile())),
        // The message may contain the query, so it is only returned to the caller.
        Err(error) => underway.end(error.kind.as_str(), None),
    }
    result
}

/// Running query. If it is dropped before its end, it was cancelled.
struct Underway {
    metrics: Arc<Metrics>,
    clock: Arc<dyn Clock>,
    span: Span,
    kind: &'static str,
    started: Duration,
    has_ended: bool,
}

impl Underway {
    fn begin(shared: &SharedIo, kind: &'static str) -> Self {
        let metrics = Arc::clone(&shared.metrics);
        metrics.queries_in_flight.inc();
        Self {
            metrics,
            clock: Arc::clone(&shared.clock),
            span: spans::query(&shared.namespaces.label(), kind),
            kind,
            started: shared.clock.now(),
            has_ended: false,
        }
    }

    fn end(&mut self, outcome: &'static str, profile: Option<&Profile>) {
        self.has_ended = true;
        let took = self.clock.now().saturating_sub(self.started);
        self.metrics.queries_in_flight.dec();
        self.metrics.query(self.kind, outcome).inc();
        self.metrics.query_seconds.observe(took.as_secs_f64());
        spans::end_query(&self.span, outcome, took, profile);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end(CANCELLED, None);
        }
    }
}
