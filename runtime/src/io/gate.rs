//! The budget of one search: counts what it sends, and refuses what would be too much.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use canter_protocol::Budget;
use futures_util::future::{BoxFuture, FutureExt};

use crate::fetch::{ByteRange, FetchError, FetchErrorKind, FetchedRange, RangeFetcher};

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

    /// What each of `num_leaves` leaves may use of what is left.
    pub(crate) fn share_of(&self, num_leaves: u64, waves_before: u64) -> Budget {
        let share = |max: Option<u64>, used: &AtomicU64| {
            let left = max?.saturating_sub(used.load(Ordering::Relaxed));
            Some(left / num_leaves.max(1))
        };
        let max_waves = self.budget.max_waves;
        Budget {
            max_requests: share(self.budget.max_requests, &self.num_requests),
            max_bytes: share(self.budget.max_bytes, &self.num_bytes),
            max_waves: max_waves.map(|max| max.saturating_sub(waves_before)),
            deadline_ms: None,
        }
    }

    /// Counts the share of a leaf that runs elsewhere as used, until it is taken back.
    pub(crate) fn lend(&self, share: Budget) {
        let lend = |used: &AtomicU64, share: Option<u64>| {
            used.fetch_add(share.unwrap_or(0), Ordering::Relaxed);
        };
        lend(&self.num_requests, share.max_requests);
        lend(&self.num_bytes, share.max_bytes);
    }

    /// Takes a share back, of which so many requests and bytes were used.
    pub(crate) fn take_back(&self, share: Budget, (num_requests, num_bytes): (u64, u64)) {
        let take_back = |used: &AtomicU64, share: Option<u64>, really: u64| {
            used.fetch_add(really, Ordering::Relaxed);
            used.fetch_sub(share.unwrap_or(0), Ordering::Relaxed);
        };
        take_back(&self.num_requests, share.max_requests, num_requests);
        take_back(&self.num_bytes, share.max_bytes, num_bytes);
    }

    /// Notes that a leaf elsewhere has reached a limit.
    pub(crate) fn note_exhausted_elsewhere(&self, limit: String) {
        lock(&self.exhausted).get_or_insert(limit);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_elsewhere_may_use_is_used_until_it_comes_back() {
        let gate = Gate::new(Budget {
            max_requests: Some(9),
            max_bytes: None,
            max_waves: Some(5),
            deadline_ms: None,
        });
        let range = ByteRange::new(0, 10);
        let is_admitted = || gate.admit("object", range).is_ok();
        assert!(is_admitted());
        let share = gate.share_of(2, 1);
        let expect = Budget {
            max_requests: Some(4),
            max_bytes: None,
            max_waves: Some(4),
            deadline_ms: None,
        };
        assert_eq!(share, expect);
        gate.lend(share);
        // One before, four lent, four left.
        assert!((0..4).all(|_| is_admitted()));
        assert!(!is_admitted());
        gate.take_back(share, (1, 1000));
        assert!((0..3).all(|_| is_admitted()));
        assert!(!is_admitted());
    }
}
