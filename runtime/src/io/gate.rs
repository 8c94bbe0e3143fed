//! The budget of one search: counts what it sends, and refuses what would be too much.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, FutureExt};

use crate::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher};
use crate::limits::Budget;

/// What one search has used of its budget. Shared by its sessions.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    budget: Budget,
    num_requests: AtomicU64,
    num_bytes: AtomicU64,
    is_timed_out: AtomicBool,
    /// The first limit that refused a request. It may have been a second one beside a slow first,
    /// which nothing is missing without.
    refused: Mutex<Option<String>>,
    /// The first limit that a read went without its bytes for.
    exhausted: Mutex<Option<String>>,
}

impl Gate {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// Counts one request, or refuses it. `object` and `range` are for the message.
    fn admit(&self, object: &str, range: ByteRange) -> Result<(), FetchError> {
        let refuse = |limit: &str, max: u64| {
            lock(&self.refused).get_or_insert_with(|| limit.to_owned());
            let what = used_up(limit, max);
            Err(FetchError::new(FetchErrorKind::Budget, object, range, what))
        };
        if let Some(max) = self.budget.max_bytes {
            let len = range.len.unwrap_or(0);
            let before = self.num_bytes.fetch_add(len, Ordering::Relaxed);
            if before.saturating_add(len) > max || before >= max {
                self.num_bytes.fetch_sub(len, Ordering::Relaxed);
                return refuse("max_bytes", max);
            }
        }
        let before = self.num_requests.fetch_add(1, Ordering::Relaxed);
        match self.budget.max_requests {
            Some(max) if before >= max => {
                self.num_requests.fetch_sub(1, Ordering::Relaxed);
                refuse("max_requests", max)
            }
            _ => Ok(()),
        }
    }

    /// Notes that a read did not get its bytes because a request was refused.
    pub(crate) fn note_exhausted(&self) {
        if let Some(limit) = lock(&self.refused).clone() {
            lock(&self.exhausted).get_or_insert(limit);
        }
    }

    /// An error if wave number `wave_ord` (from 0) is one too many.
    pub(crate) fn admit_wave(&self, wave_ord: u64) -> Result<(), String> {
        match self.budget.max_waves {
            Some(max) if wave_ord >= max => {
                lock(&self.exhausted).get_or_insert_with(|| "max_waves".to_owned());
                Err(used_up("max_waves", max))
            }
            _ => Ok(()),
        }
    }

    /// Counts the bytes of an answer whose length was not known when it was asked for.
    fn count_open_ended(&self, range: ByteRange, num_bytes: usize) {
        if range.len.is_none() {
            self.num_bytes
                .fetch_add(num_bytes as u64, Ordering::Relaxed);
        }
    }

    /// Notes that reads were given up because the time was up.
    pub(crate) fn note_timed_out(&self) {
        self.is_timed_out.store(true, Ordering::Relaxed);
    }

    /// Whether reads were given up because the time was up.
    pub(crate) fn is_timed_out(&self) -> bool {
        self.is_timed_out.load(Ordering::Relaxed)
    }

    /// The limit that was reached first, by name.
    pub(crate) fn exhausted(&self) -> Option<String> {
        lock(&self.exhausted).clone()
    }
}

fn lock(limit: &Mutex<Option<String>>) -> MutexGuard<'_, Option<String>> {
    limit.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What to say about a limit that was reached.
fn used_up(limit: &str, max: u64) -> String {
    format!("the search has used up its {limit} of {max}; raise it or narrow the query")
}

/// A fetcher that asks the gate before each request.
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
            self.gate.count_open_ended(range, fetched.bytes.len());
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
            self.gate.count_open_ended(range, fetched.bytes.len());
            Ok(fetched)
        }
        .boxed()
    }
}
