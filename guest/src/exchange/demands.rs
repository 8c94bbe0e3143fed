//! The boundary between the guest and its host: futures leave demands here, and supplies wake them.
//!
//! ```text
//!   future ──read──▶ ┌──────────┐ ──demand──▶ host
//!                    │ Exchange │
//!   future ◀─wake─── └──────────┘ ◀─supplies─
//! ```

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use canter_protocol::{
    ByteClass, CacheLookup, CacheStore, Demand, FetchErrorKind, HostReport, ReadRequest, Supply,
    SupplyResult,
};
use tantivy::directory::OwnedBytes;

use super::interrupt::Interrupt;
use super::shared::shared;
use crate::{ErrorKind, SearchError};

/// Shared by everything that reads within one session.
#[derive(Clone, Default)]
pub(crate) struct Exchange {
    state: Arc<Mutex<State>>,
    /// Prefix of the name of every object and cache key: selects one of the host's indexes.
    prefix: Arc<str>,
}

#[derive(Default)]
struct State {
    report: HostReport,
    interrupt: Interrupt,
    next_id: u64,
    demand: Demand,
    slots: BTreeMap<u64, Slot>,
    /// Manifests and heads by object and offset, if the session needs them more than once.
    kept: Option<BTreeMap<(String, u64), OwnedBytes>>,
    num_kept_bytes: usize,
}

/// Maximum number of bytes of heads and documents that a session keeps.
const MAX_KEPT_BYTES: usize = 16 << 20;

#[derive(Default)]
struct Slot {
    arrived: Option<SupplyResult>,
    waiting: Vec<Waker>,
}

/// A read that the host could not serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FetchFailure {
    pub(crate) kind: FetchErrorKind,
    pub(crate) message: String,
}

impl FetchFailure {
    /// Converts the failure into an error for the caller.
    pub(crate) fn into_search_error(self, what: &str) -> SearchError {
        let kind = match self.kind {
            FetchErrorKind::NotFound | FetchErrorKind::Truncated => ErrorKind::Data,
            FetchErrorKind::Denied | FetchErrorKind::Protocol | FetchErrorKind::Unavailable => {
                ErrorKind::Unavailable
            }
            FetchErrorKind::Budget => ErrorKind::Limit,
        };
        SearchError::new(kind, format!("{what}: {}", self.message))
    }
}

impl Exchange {
    /// Returns the same exchange for another index: its name is put before everything requested.
    pub(crate) fn of_index(&self, name: &str) -> Self {
        Self {
            state: Arc::clone(&self.state),
            prefix: format!("{name}/").into(),
        }
    }

    /// Returns the same exchange, with a prefix from [`Exchange::prefix`].
    pub(crate) fn with_prefix(&self, prefix: &str) -> Self {
        Self {
            state: Arc::clone(&self.state),
            prefix: prefix.into(),
        }
    }

    /// Returns the prefix of the names of objects and cache keys.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// Returns the name of the index; empty where the host knows only one.
    pub(crate) fn index_name(&self) -> &str {
        self.prefix.strip_suffix('/').unwrap_or(&self.prefix)
    }

    /// Returns the host's latest report on the search.
    pub(crate) fn report(&self) -> HostReport {
        self.lock().report.clone()
    }

    /// Returns the flag that tells the session to stop.
    pub(crate) fn interrupt(&self) -> Interrupt {
        self.lock().interrupt.clone()
    }

    pub(crate) fn set_interrupt(&self, interrupt: Interrupt) {
        self.lock().interrupt = interrupt;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a read to the next demand and returns its id.
    pub(crate) fn request(
        &self,
        object: &str,
        offset: u64,
        len: Option<u64>,
        class: ByteClass,
    ) -> u64 {
        let mut state = self.lock();
        let id = state.fresh_slot();
        state.demand.reads.push(ReadRequest {
            id,
            object: format!("{}{object}", self.prefix),
            offset,
            len,
            class,
        });
        id
    }

    /// Takes the result of a read or lookup; otherwise registers the task to be woken when it arrives.
    pub(crate) fn poll_take(&self, id: u64, context: &mut Context<'_>) -> Poll<SupplyResult> {
        let mut state = self.lock();
        let Some(slot) = state.slots.get_mut(&id) else {
            return Poll::Ready(SupplyResult::Failed {
                kind: FetchErrorKind::Protocol,
                message: format!("read {id} was taken twice"),
            });
        };
        match slot.arrived.take() {
            Some(result) => {
                state.slots.remove(&id);
                Poll::Ready(result)
            }
            None => {
                if !slot
                    .waiting
                    .iter()
                    .any(|waker| waker.will_wake(context.waker()))
                {
                    slot.waiting.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// Reads a range of an object.
    pub(crate) async fn read(
        &self,
        object: &str,
        offset: u64,
        len: Option<u64>,
        class: ByteClass,
    ) -> Result<OwnedBytes, FetchFailure> {
        let id = self.request(object, offset, len, class);
        match poll_fn(|context| self.poll_take(id, context)).await {
            SupplyResult::Bytes(bytes) => Ok(shared(bytes)),
            SupplyResult::Failed { kind, message } => Err(FetchFailure { kind, message }),
            SupplyResult::Miss => Err(FetchFailure {
                kind: FetchErrorKind::Protocol,
                message: "the host answered a read as a cache lookup".to_owned(),
            }),
        }
    }

    /// Keeps manifests and heads from now on: several searches of one session see the same index, and read it once.
    pub(crate) fn keep_reads(&self) {
        self.lock().kept.get_or_insert_default();
    }

    /// Returns what was kept of an object.
    pub(crate) fn kept(&self, object: &str, offset: u64) -> Option<OwnedBytes> {
        let key = (format!("{}{object}", self.prefix), offset);
        self.lock().kept.as_ref()?.get(&key).cloned()
    }

    /// Keeps bytes of an object, which are sound, if this session keeps any; `always` or as long as there is room.
    pub(crate) fn keep(&self, object: &str, offset: u64, bytes: &OwnedBytes, always: bool) {
        let key = (format!("{}{object}", self.prefix), offset);
        let mut state = self.lock();
        if state.kept.is_some()
            && (always || state.has_room(bytes.len()))
            && let Some(kept) = &mut state.kept
        {
            kept.insert(key, bytes.clone());
        }
    }

    /// Reserves room for bytes that the session keeps. Returns whether there was any.
    pub(crate) fn has_room(&self, num_bytes: usize) -> bool {
        self.lock().has_room(num_bytes)
    }

    /// Asks the host's cache. A failure counts as a miss.
    pub(crate) async fn look_up(&self, key: &str, class: ByteClass) -> Option<OwnedBytes> {
        let key = format!("{}{key}", self.prefix);
        let id = {
            let mut state = self.lock();
            let id = state.fresh_slot();
            state.demand.lookups.push(CacheLookup { id, key, class });
            id
        };
        match poll_fn(|context| self.poll_take(id, context)).await {
            SupplyResult::Bytes(bytes) => Some(shared(bytes)),
            SupplyResult::Miss | SupplyResult::Failed { .. } => None,
        }
    }

    /// Offers the host's cache an entry.
    pub(crate) fn store(&self, key: &str, bytes: Vec<u8>, class: ByteClass) {
        let key = format!("{}{key}", self.prefix);
        self.lock().demand.stores.push(CacheStore {
            key,
            bytes: bytes.into(),
            class,
        });
    }

    /// Waits until the host has taken what was offered to its cache: a session that is over hands
    /// nothing out any more.
    pub(crate) async fn hand_over_stores(&self) {
        if !self.lock().demand.stores.is_empty() {
            self.yield_to_host().await;
        }
    }

    /// Yields the pending demand, even if it is empty, and continues in the next step with the
    /// host's latest report.
    pub(crate) async fn yield_to_host(&self) {
        let mut has_yielded = false;
        poll_fn(|context| {
            if has_yielded {
                return Poll::Ready(());
            }
            has_yielded = true;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Hands supplies to the tasks that wait for them. Unknown ids are ignored.
    pub(crate) fn accept(&self, supplies: Vec<Supply>, report: HostReport) {
        let mut wakers = Vec::new();
        {
            let mut state = self.lock();
            state.report = report;
            for supply in supplies {
                if let Some(slot) = state.slots.get_mut(&supply.id) {
                    slot.arrived = Some(supply.outcome);
                    wakers.append(&mut slot.waiting);
                }
            }
        }
        for waker in wakers {
            waker.wake();
        }
    }

    /// Takes everything requested since the last call.
    pub(crate) fn take_demand(&self) -> Demand {
        std::mem::take(&mut self.lock().demand)
    }
}

impl State {
    /// Reserves room for bytes that the session keeps. Returns whether there was any.
    fn has_room(&mut self, num_bytes: usize) -> bool {
        let kept = self.num_kept_bytes.saturating_add(num_bytes);
        let has_room = kept <= MAX_KEPT_BYTES;
        if has_room {
            self.num_kept_bytes = kept;
        }
        has_room
    }

    fn fresh_slot(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.slots.insert(id, Slot::default());
        id
    }
}
