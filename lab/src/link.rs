//! A link that all transfers share: processor sharing, exact and work-conserving.
//!
//! While n transfers are under way, each gets one n-th of the bandwidth; when one begins or ends, the
//! others slow down or speed up at that moment. The link is never idle while a transfer waits.
//!
//! Computation: let the *service* be the number of bytes that a permanent transfer would have received.
//! It grows by bandwidth / n. A transfer of L bytes that begins at service S ends when the service
//! reaches S + L, whatever begins and ends meanwhile, so transfers end in the order of S + L. Only the
//! first of them needs a timer. Service is kept in 2⁻³² bytes, and a transfer ends at the first
//! nanosecond at which its last byte has arrived.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::future::BoxFuture;

use canter_runtime::clock::Clock;

const NANOS_PER_SECOND: u128 = 1_000_000_000;
/// Units of service in a byte.
const UNITS_PER_BYTE: u128 = 1 << 32;

/// A link with a given bandwidth. Clones are the same link.
#[derive(Clone)]
pub(super) struct Link {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

/// By the service at which a transfer ends, then by its start.
type Key = (u128, u64);

struct State {
    /// In units per second.
    bandwidth: u128,
    /// Time of the last update of `service`.
    moment: Duration,
    service: u128,
    /// The transfers under way, each with its waker.
    transfers: BTreeMap<Key, Option<Waker>>,
    num_begun: u64,
}

impl State {
    /// Updates the service to `now`, and removes the transfers that have ended by then, each at its
    /// own moment: a late update makes no difference. Returns whether any have ended.
    fn advance(&mut self, now: Duration, to_wake: &mut Vec<Waker>) -> bool {
        let mut has_ended = false;
        while let Some(end) = self.first_end()
            && end <= now
        {
            self.serve_until(end);
            while let Some(first) = self.transfers.first_entry()
                && first.key().0 <= self.service
            {
                // One that was woken before and has not been polled yet has no waker.
                to_wake.extend(first.remove());
                has_ended = true;
            }
        }
        self.serve_until(now);
        if self.transfers.is_empty() {
            self.service = 0;
        }
        has_ended
    }

    fn serve_until(&mut self, now: Duration) {
        let Some(elapsed) = now.checked_sub(self.moment) else {
            return;
        };
        self.moment = now;
        let num = self.transfers.len() as u128;
        if num > 0 {
            let units = elapsed.as_nanos().saturating_mul(self.bandwidth);
            self.service += units / (num * NANOS_PER_SECOND);
        }
    }

    /// Returns the end of the first transfer, if none begins or ends before.
    fn first_end(&self) -> Option<Duration> {
        let (&(end, _), _) = self.transfers.first_key_value()?;
        let num = self.transfers.len() as u128;
        let units = end.saturating_sub(self.service).saturating_mul(num);
        let nanos = units
            .saturating_mul(NANOS_PER_SECOND)
            .div_ceil(self.bandwidth);
        let wait = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Some(self.moment.saturating_add(wait))
    }

    fn is_first(&self, key: Key) -> bool {
        self.transfers
            .first_key_value()
            .is_some_and(|(first, _)| *first == key)
    }

    /// Takes the waker of the task with the timer, which must set it again.
    fn take_first_waker(&mut self) -> Option<Waker> {
        self.transfers.first_entry()?.get_mut().take()
    }
}

impl Link {
    pub(super) fn new(clock: Arc<dyn Clock>, bytes_per_second: u64) -> Self {
        let state = State {
            bandwidth: u128::from(bytes_per_second.max(1)) * UNITS_PER_BYTE,
            moment: clock.now(),
            service: 0,
            transfers: BTreeMap::new(),
            num_begun: 0,
        };
        Self {
            clock,
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Transfers `num_bytes`, from the first poll on. When dropped, it leaves the link to the others.
    pub(super) fn transfer(&self, num_bytes: u64) -> Transfer {
        Transfer {
            link: self.clone(),
            num_bytes,
            key: None,
            timer: None,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state as of now; wakes the affected tasks outside of the lock.
    fn update<T>(&self, change: impl FnOnce(&mut State, &mut Vec<Waker>) -> T) -> T {
        let mut to_wake = Vec::new();
        let result = {
            let mut state = self.lock();
            if state.advance(self.clock.now(), &mut to_wake) {
                to_wake.extend(state.take_first_waker());
            }
            change(&mut state, &mut to_wake)
        };
        to_wake.into_iter().for_each(Waker::wake);
        result
    }
}

/// A transfer; resolves when its last byte has arrived.
pub(super) struct Transfer {
    link: Link,
    num_bytes: u64,
    /// Present from the first poll on.
    key: Option<Key>,
    timer: Option<(Duration, BoxFuture<'static, ()>)>,
}

impl Transfer {
    /// Returns the number of transferred bytes, rounded down.
    pub(super) fn num_sent(&self) -> u64 {
        let Some((end, _)) = self.key else {
            return 0;
        };
        let missing = self.link.update(|state, _| {
            let is_present = self
                .key
                .is_some_and(|key| state.transfers.contains_key(&key));
            if is_present { end - state.service } else { 0 }
        });
        let missing = u64::try_from(missing.div_ceil(UNITS_PER_BYTE)).unwrap_or(u64::MAX);
        self.num_bytes.saturating_sub(missing)
    }
}

impl Future for Transfer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.num_bytes == 0 {
            return Poll::Ready(());
        }
        let link = this.link.clone();
        loop {
            let waker = context.waker().clone();
            let end = link.update(|state, to_wake| {
                let key = match this.key {
                    Some(key) => key,
                    None => {
                        // All transfers are slower from now on, so the current timer is too early.
                        to_wake.extend(state.take_first_waker());
                        state.num_begun += 1;
                        let units = u128::from(this.num_bytes) * UNITS_PER_BYTE;
                        let key = (state.service + units, state.num_begun);
                        state.transfers.insert(key, None);
                        *this.key.insert(key)
                    }
                };
                let slot = state.transfers.get_mut(&key)?;
                *slot = Some(waker);
                Some(state.is_first(key).then(|| state.first_end()).flatten())
            });
            match end {
                None => return Poll::Ready(()),
                // Another task has the timer, and wakes this one when it ends.
                Some(None) => {
                    this.timer = None;
                    return Poll::Pending;
                }
                Some(Some(end)) => {
                    let mut timer = match this.timer.take() {
                        Some((moment, timer)) if moment == end => timer,
                        _ => link.clock.sleep_until(end),
                    };
                    if timer.as_mut().poll(context).is_pending() {
                        this.timer = Some((end, timer));
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let Some(key) = self.key else {
            return;
        };
        self.link.update(|state, to_wake| {
            if state.transfers.remove(&key).is_some() {
                // All transfers are faster from now on.
                to_wake.extend(state.take_first_waker());
            }
        });
    }
}

#[cfg(test)]
mod tests;
