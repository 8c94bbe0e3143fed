//! Simulated requests: each with a connection, the first byte, the transfer, and its outcome.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::draw::{Draw, Fate};
use super::link::Link;
use super::model::LatencyModel;
use canter_runtime::clock::Clock;
use canter_runtime::fetch::ByteRange;

/// Maximum number of distinct ranges that are counted; beyond it, counting starts again.
const MAX_COUNTED_RANGES: usize = 1 << 20;
/// Maximum number of remembered attempts.
const MAX_ATTEMPTS: usize = 1 << 20;

/// Traffic over a simulated network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Number of sent requests, including each attempt.
    pub num_requests: u64,
    /// Number of transferred bytes of bodies, including abandoned transfers.
    pub num_bytes: u64,
    /// Number of requests that failed according to the model.
    pub num_failures: u64,
    /// Number of requests that their senders abandoned, such as losers of a hedge.
    pub num_dropped: u64,
}

/// One request as the simulated store saw it. Times are those of the store's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Object name.
    pub object: String,
    /// The requested range.
    pub range: ByteRange,
    /// Number of earlier requests for the same range.
    pub num_before: u64,
    /// Time at which it began to wait for a connection.
    pub asked_at: Duration,
    /// Time at which it was sent; `None` if it never was.
    pub sent_at: Option<Duration>,
    /// Time of the first byte; `None` if there was none.
    pub first_byte_at: Option<Duration>,
    /// Time of its end.
    pub ended_at: Duration,
    /// Number of transferred bytes.
    pub num_bytes: u64,
    /// The way it ended.
    pub end: AttemptEnd,
}

/// The way an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttemptEnd {
    /// All bytes arrived.
    Whole,
    /// The object had not changed, so there were no bytes.
    NotChanged,
    /// The model made it fail, or the underlying store did.
    Failed,
    /// Its sender abandoned it.
    Dropped,
}

/// State shared by all requests to one simulated store.
pub(super) struct Network {
    model: LatencyModel,
    seed: AtomicU64,
    clock: Arc<dyn Clock>,
    link: Link,
    connections: Arc<Semaphore>,
    num_asked: Mutex<HashMap<(String, ByteRange), u64>>,
    traffic: Mutex<Traffic>,
    attempts: Option<Mutex<Vec<Attempt>>>,
}

impl Network {
    pub(super) fn new(model: LatencyModel, clock: Arc<dyn Clock>, is_recording: bool) -> Self {
        let max_connections = model.max_connections.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            seed: AtomicU64::new(model.seed),
            link: Link::new(clock.clone(), model.bytes_per_second),
            connections: Arc::new(Semaphore::new(max_connections)),
            num_asked: Mutex::default(),
            traffic: Mutex::default(),
            attempts: is_recording.then(Mutex::default),
            clock,
            model,
        }
    }

    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Switches to the draws of another seed, as if there had been no requests before.
    pub(super) fn reseed(&self, seed: u64) {
        self.seed.store(seed, Ordering::SeqCst);
        lock(&self.num_asked).clear();
    }

    pub(super) fn traffic(&self) -> Traffic {
        *lock(&self.traffic)
    }

    pub(super) fn take_attempts(&self) -> Vec<Attempt> {
        self.attempts
            .as_ref()
            .map(|attempts| std::mem::take(&mut *lock(attempts)))
            .unwrap_or_default()
    }

    /// Returns a request that has not begun.
    pub(super) fn exchange(&self, object: &str, range: ByteRange) -> Exchange<'_> {
        let num_before = self.count(object, range);
        let model = LatencyModel {
            seed: self.seed.load(Ordering::SeqCst),
            ..self.model.clone()
        };
        let now = self.clock.now();
        Exchange {
            network: self,
            draw: Draw::new(&model, object, range, num_before),
            connection: None,
            attempt: Attempt {
                object: object.to_owned(),
                range,
                num_before,
                asked_at: now,
                sent_at: None,
                first_byte_at: None,
                ended_at: now,
                num_bytes: 0,
                end: AttemptEnd::Dropped,
            },
        }
    }

    fn count(&self, object: &str, range: ByteRange) -> u64 {
        let mut num_asked = lock(&self.num_asked);
        if num_asked.len() >= MAX_COUNTED_RANGES {
            num_asked.clear();
        }
        let num = num_asked.entry((object.to_owned(), range)).or_default();
        *num += 1;
        *num - 1
    }
}

/// One request. Dropping it before [`Exchange::end`] abandons it, and frees connection and link.
pub(super) struct Exchange<'a> {
    network: &'a Network,
    draw: Draw,
    connection: Option<OwnedSemaphorePermit>,
    attempt: Attempt,
}

impl Exchange<'_> {
    /// Waits for a connection and then for the first byte.
    pub(super) async fn first_byte(&mut self) -> Fate {
        let network = self.network;
        // Never closed, so a permit eventually becomes available.
        self.connection = network.connections.clone().acquire_owned().await.ok();
        let now = network.clock.now();
        self.attempt.sent_at = Some(now);
        lock(&network.traffic).num_requests += 1;
        network.clock.sleep_until(now + self.draw.latency).await;
        self.attempt.first_byte_at = Some(network.clock.now());
        self.draw.fate
    }

    /// Transfers a part of the body over the link.
    pub(super) async fn carry(&mut self, num_bytes: u64) {
        let mut carried = Carried {
            transfer: self.network.link.transfer(num_bytes),
            num_bytes: &mut self.attempt.num_bytes,
        };
        (&mut carried.transfer).await;
    }

    /// Ends the request.
    pub(super) fn end(mut self, end: AttemptEnd) {
        self.attempt.end = end;
    }
}

/// Counts transferred bytes, also of an abandoned transfer.
struct Carried<'a> {
    transfer: super::link::Transfer,
    num_bytes: &'a mut u64,
}

impl Drop for Carried<'_> {
    fn drop(&mut self) {
        *self.num_bytes += self.transfer.num_sent();
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        let network = self.network;
        let attempt = &mut self.attempt;
        attempt.ended_at = network.clock.now();
        {
            let mut traffic = lock(&network.traffic);
            traffic.num_bytes += attempt.num_bytes;
            traffic.num_failures += u64::from(attempt.end == AttemptEnd::Failed);
            traffic.num_dropped += u64::from(attempt.end == AttemptEnd::Dropped);
        }
        if let Some(attempts) = &network.attempts {
            let mut attempts = lock(attempts);
            if attempts.len() < MAX_ATTEMPTS {
                attempts.push(attempt.clone());
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
