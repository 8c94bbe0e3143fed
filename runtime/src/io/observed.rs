//! Flights in a span of their own, counted when they land.

use std::sync::Arc;

use canter_stores::ranges::planning::Request;
use tracing::Instrument;

use super::flights::Landed;
use super::search_io::{SharedIo, range_of};
use crate::observe::spans;

/// Observes `landing`, the flight of `request`. The span belongs to the wave that launches the
/// flight, whichever search drives it.
pub(super) fn observed<F>(
    shared: &SharedIo,
    request: &Request,
    landing: F,
) -> impl Future<Output = Landed> + Send + use<F>
where
    F: Future<Output = Landed> + Send,
{
    let (metrics, class) = (Arc::clone(&shared.metrics), request.class);
    let range = range_of(&request.bytes);
    let span = spans::request(&request.object, range.offset, range.len, class);
    async move {
        let landed = landing.instrument(span.clone()).await;
        if landed.was_sent {
            let result = landed.result.as_ref();
            metrics.count_fetch(class, result.map(|_| landed.num_bytes).map_err(|e| e.kind));
        }
        spans::end_request(&span, &landed.result, landed.was_sent, landed.num_bytes);
        landed
    }
}
