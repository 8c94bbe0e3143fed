//! Ranges that are on their way: searches that need one wait for it instead of requesting it again.
//!
//! ```text
//!   flights of an object      [=====A=====]        [==B==]
//!   a search needs                  [..................]
//!   it joins A and B, and asks for  .     [========]        what neither brings
//! ```
//!
//! All searches that wait for a flight drive it: it continues if the search that began it is
//! cancelled, and ends if no search waits any more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use canter_stores::Extent;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};

use crate::fetch::{FetchError, FetchedRange};

/// Result of a flight.
#[derive(Debug)]
pub(super) struct Landed {
    pub(super) result: Result<FetchedRange, FetchError>,
    /// Position of the bytes in the object.
    pub(super) offset: u64,
    /// Times at which the request was sent and its last byte arrived; equal if none was sent.
    pub(super) start: Duration,
    pub(super) end: Duration,
    /// True if a request was sent: another flight may have filled the cache in the meantime.
    pub(super) was_sent: bool,
    /// Number of transferred bytes; smaller than the result if the store answered "not modified".
    pub(super) num_bytes: u64,
}

type FlightFuture = BoxFuture<'static, Arc<Landed>>;

/// A flight that several searches can wait for.
pub(super) type Flight = Shared<FlightFuture>;

/// Number of launches between two sweeps of the table.
const LAUNCHES_PER_SWEEP: u64 = 1024;

/// The flights of one searcher.
#[derive(Default)]
pub(crate) struct Flights {
    by_object: Mutex<Table>,
    num_landed: AtomicU64,
}

/// The flights under way, by object.
#[derive(Default)]
pub(super) struct Table {
    by_object: HashMap<String, Vec<Underway>>,
    num_launched: u64,
}

struct Underway {
    id: u64,
    bytes: Extent,
    flight: WeakShared<FlightFuture>,
}

impl Flights {
    /// Returns the number of flights that have landed: after a landing, the cache may have bytes that it lacked before.
    pub(super) fn num_landed(&self) -> u64 {
        self.num_landed.load(Ordering::Acquire)
    }

    /// Locks the table, to claim and launch in one step.
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        self.by_object
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a flight to the table. It begins when it is first waited for.
    pub(super) fn launch(
        self: &Arc<Self>,
        table: &mut Table,
        object: &str,
        bytes: Extent,
        landing: impl Future<Output = Landed> + Send + 'static,
    ) -> Flight {
        table.num_launched += 1;
        let id = table.num_launched;
        if id.is_multiple_of(LAUNCHES_PER_SWEEP) {
            table.sweep();
        }
        let flights = Arc::clone(self);
        let name = object.to_owned();
        let flight = async move {
            let landed = Arc::new(landing.await);
            flights.num_landed.fetch_add(1, Ordering::Release);
            flights.lock().remove(&name, id);
            landed
        }
        .boxed()
        .shared();
        if let Some(weak) = flight.downgrade() {
            let underway = table.by_object.entry(object.to_owned()).or_default();
            underway.retain(|other| other.flight.upgrade().is_some());
            underway.push(Underway {
                id,
                bytes,
                flight: weak,
            });
        }
        flight
    }
}

impl Table {
    /// Removes abandoned flights, which no search is left to remove.
    fn sweep(&mut self) {
        self.by_object.retain(|_, underway| {
            underway.retain(|flight| flight.flight.upgrade().is_some());
            !underway.is_empty()
        });
    }

    /// Returns the flights that bring a part of `bytes`, and the parts that none brings.
    pub(super) fn claim(&self, object: &str, bytes: &Extent) -> (Vec<Flight>, Vec<Extent>) {
        let mut joined = Vec::new();
        let mut free = vec![bytes.clone()];
        for underway in self.by_object.get(object).into_iter().flatten() {
            let rest: Vec<Extent> = free
                .iter()
                .flat_map(|part| part.without(&underway.bytes))
                .collect();
            if rest != free
                && let Some(flight) = underway.flight.upgrade()
            {
                free = rest;
                joined.push(flight);
            }
        }
        (joined, free)
    }

    fn remove(&mut self, object: &str, id: u64) {
        if let Some(underway) = self.by_object.get_mut(object) {
            underway.retain(|flight| flight.id != id);
            if underway.is_empty() {
                self.by_object.remove(object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> BoxFuture<'static, Landed> {
        std::future::pending().boxed()
    }

    #[test]
    fn a_range_joins_what_is_on_its_way_and_asks_for_the_rest() {
        let flights = Arc::new(Flights::default());
        let mut table = flights.lock();
        let _a = flights.launch(&mut table, "x", (10..20).into(), never());
        let _b = flights.launch(&mut table, "x", (30..40).into(), never());
        let _other = flights.launch(&mut table, "y", (0..100).into(), never());
        let (joined, free) = table.claim("x", &(15..35).into());
        assert_eq!((joined.len(), &*free), (2, &[(20..30).into()][..]));
        let (joined, free) = table.claim("x", &(0..50).into());
        assert_eq!(
            (joined.len(), free),
            (2, vec![(0..10).into(), (20..30).into(), (40..50).into()])
        );
        let (joined, free) = table.claim("x", &(20..30).into());
        assert_eq!((joined.len(), &*free), (0, &[(20..30).into()][..]));
    }

    #[test]
    fn a_flight_that_nobody_waits_for_is_not_joined() {
        let flights = Arc::new(Flights::default());
        let mut table = flights.lock();
        drop(flights.launch(&mut table, "x", (10..20).into(), never()));
        let (joined, free) = table.claim("x", &(10..20).into());
        assert_eq!((joined.len(), &*free), (0, &[(10..20).into()][..]));
    }

    #[test]
    fn what_reaches_to_the_end_joins_only_what_does_too() {
        let flights = Arc::new(Flights::default());
        let mut table = flights.lock();
        let _part = flights.launch(&mut table, "x", (0..20).into(), never());
        let (joined, free) = table.claim("x", &Extent::WHOLE);
        assert_eq!((joined.len(), free), (0, vec![Extent::WHOLE]));
        let _whole = flights.launch(&mut table, "x", Extent::WHOLE, never());
        let (joined, free) = table.claim("x", &Extent::WHOLE);
        assert_eq!((joined.len(), free), (1, vec![]));
        let (joined, free) = table.claim("x", &Extent::ToEnd(5));
        assert_eq!((joined.len(), free), (1, vec![]));
        let (joined, free) = table.claim("x", &(30..40).into());
        assert_eq!((joined.len(), free), (1, vec![]));
    }
}
