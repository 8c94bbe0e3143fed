//! A fetcher that answers like a remote store, with the bytes of another fetcher.

use std::sync::Arc;

use futures_util::future::{BoxFuture, FutureExt};

use super::draw::Fate;
use super::model::LatencyModel;
use super::network::{Attempt, AttemptEnd, Network, Traffic};
use canter_runtime::clock::Clock;
use canter_runtime::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher};

/// Another fetcher behind a simulated network.
///
/// A request waits for one of [`LatencyModel::max_connections`], first come, first served; then for
/// its first byte; then its body is transferred over the link, which all transfers share evenly (the
/// bandwidth is never idle while a body waits). Reading from the underlying fetcher takes no virtual
/// time. Dropping the future abandons the request, and leaves connection and link to others.
pub struct SimulatedStore {
    inner: Arc<dyn RangeFetcher>,
    network: Network,
}

impl SimulatedStore {
    /// Puts `inner` behind a network that waits on `clock`.
    pub fn new(inner: Arc<dyn RangeFetcher>, model: LatencyModel, clock: Arc<dyn Clock>) -> Self {
        Self {
            inner,
            network: Network::new(model, clock, false),
        }
    }

    /// Creates a store as [`SimulatedStore::new`] does, whose requests
    /// [`SimulatedStore::take_attempts`] returns.
    pub fn recording(
        inner: Arc<dyn RangeFetcher>,
        model: LatencyModel,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            inner,
            network: Network::new(model, clock, true),
        }
    }

    /// Switches to the latencies and failures of another seed, as if there had been no requests
    /// before.
    pub fn reseed(&self, seed: u64) {
        self.network.reseed(seed);
    }

    /// Returns the traffic since the store was created. Running requests count as sent, but not yet
    /// with their bytes.
    pub fn traffic(&self) -> Traffic {
        self.network.traffic()
    }

    /// Takes the requests that have ended since the last call, in the order of their ends. Empty if
    /// the store does not record.
    pub fn take_attempts(&self) -> Vec<Attempt> {
        self.network.take_attempts()
    }

    async fn request(
        &self,
        object: &str,
        range: ByteRange,
        read: impl Future<Output = Result<FetchedRange, FetchError>>,
    ) -> Result<FetchedRange, FetchError> {
        let mut exchange = self.network.exchange(object, range);
        let fate = exchange.first_byte().await;
        if let Some(status) = fate.status() {
            exchange.end(AttemptEnd::Failed);
            let what = format!("the simulated store answered {status}");
            let unavailable = FetchErrorKind::Unavailable;
            return Err(FetchError::new(unavailable, object, range, what));
        }
        let answer = {
            // Reading takes real time, which is not part of the simulation.
            let _busy = self.network.clock().enter_busy();
            read.await
        };
        let fetched = match answer {
            Ok(fetched) if fetched.is_unchanged => {
                exchange.end(AttemptEnd::NotChanged);
                return Ok(fetched);
            }
            Ok(fetched) => fetched,
            Err(error) => {
                exchange.end(AttemptEnd::Failed);
                return Err(error);
            }
        };
        let num_bytes = fetched.bytes.len() as u64;
        let num_sent = fate.num_bytes_of(num_bytes);
        exchange.carry(num_sent).await;
        let error = match fate {
            // An empty body cannot be interrupted.
            _ if num_bytes == 0 => None,
            Fate::Reset(_) => {
                let what = format!(
                    "the simulated store reset the connection after {num_sent} of {num_bytes} bytes"
                );
                let unavailable = FetchErrorKind::Unavailable;
                Some(FetchError::new(unavailable, object, range, what))
            }
            Fate::Truncated(_) => Some(FetchError::short(object, range, num_sent).transient()),
            _ => None,
        };
        exchange.end(match error {
            Some(_) => AttemptEnd::Failed,
            None => AttemptEnd::Whole,
        });
        error.map_or(Ok(fetched), Err)
    }
}

impl Fate {
    /// Returns the end of the status line, if the answer is a failure from the start.
    pub(super) fn status(self) -> Option<&'static str> {
        match self {
            Fate::Error => Some("500 Internal Server Error"),
            Fate::SlowDown => Some("503 Slow Down"),
            _ => None,
        }
    }

    /// Returns the number of bytes of a body that arrive.
    pub(super) fn num_bytes_of(self, num_bytes: u64) -> u64 {
        match self {
            Fate::Whole => num_bytes,
            Fate::Error | Fate::SlowDown => 0,
            // Less than 1, so less than all of them.
            Fate::Reset(share) | Fate::Truncated(share) => (num_bytes as f64 * share) as u64,
        }
    }
}

impl RangeFetcher for SimulatedStore {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let read = self.inner.fetch(object, range);
        self.request(object, range, read).boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        let read = self.inner.fetch_if_changed(object, range, etag);
        self.request(object, range, read).boxed()
    }
}

#[cfg(test)]
mod tests;
