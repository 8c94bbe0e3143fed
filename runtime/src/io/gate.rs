//! The budget of one search, shared by its sessions and by the requests of its fetcher.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use canter_protocol::Budget;
use futures_util::future::{BoxFuture, FutureExt};

use crate::fetch::{ByteRange, FetchError, FetchedRange, RangeFetcher};

/// The gate of one search.
#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<canter_waves::Gate>);

impl Gate {
    pub(crate) fn new(budget: Budget) -> Self {
        Self(Mutex::new(canter_waves::Gate::new(budget)))
    }

    /// Returns whether reads were given up because the time was up.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.lock().is_timed_out()
    }

    /// Returns the limit that was reached first, by name.
    pub(crate) fn exhausted(&self) -> Option<String> {
        self.lock().exhausted().map(str::to_owned)
    }

    /// Locks the budget used so far, for one call in a statement of its own.
    pub(crate) fn lock(&self) -> MutexGuard<'_, canter_waves::Gate> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one request, or refuses it.
    fn admit(&self, object: &str, range: ByteRange) -> Result<(), FetchError> {
        let admitted = self.lock().admit(range.len);
        admitted.map_err(|what| FetchError::refused(object, range, what))
    }

    fn count_open_ended(&self, range: ByteRange, fetched: &FetchedRange) {
        if range.len.is_none() {
            self.lock().count_open_ended(fetched.bytes.len() as u64);
        }
    }
}

/// A fetcher that passes the gate before each request.
pub(crate) struct Gated {
    pub(crate) inner: Arc<dyn RangeFetcher>,
    pub(crate) gate: Arc<Gate>,
}

impl RangeFetcher for Gated {
    fn fetch<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            self.gate.admit(object, range)?;
            let fetched = self.inner.fetch(object, range).await?;
            self.gate.count_open_ended(range, &fetched);
            Ok(fetched)
        }
        .boxed()
    }

    fn fetch_if_changed<'a>(
        &'a self,
        object: &'a str,
        range: ByteRange,
        etag: &'a str,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        async move {
            self.gate.admit(object, range)?;
            let fetched = self.inner.fetch_if_changed(object, range, etag).await?;
            self.gate.count_open_ended(range, &fetched);
            Ok(fetched)
        }
        .boxed()
    }
}
