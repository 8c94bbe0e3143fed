//! Instances that are kept after their session for the next search: they need no setup, and their
//! memory is mapped.
//!
//! ```text
//!   start ──▶ a kept one or a fresh one ──▶ a session ──▶ kept, if it ended well and there is room
//! ```
//!
//! A guest keeps no data from one session to the next, except for compiled patterns. Instances that
//! trap are not kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::config::MAX_IDLE;
use super::instance::{Shared, WasmInstance};
use crate::SearchError;
use crate::engine::{EngineInstance, InstanceLimits};
use crate::session::{Budget, HostReport, Progress, SessionRequest, Supply};

/// Kept instances.
pub(in super::super) struct Idle {
    /// The most recently used instance is the last one.
    kept: Mutex<Vec<WasmInstance>>,
    /// Maximum total memory of the kept instances.
    max_bytes: u64,
}

impl Idle {
    pub(in super::super) fn new(max_bytes: usize) -> Self {
        Self {
            kept: Mutex::default(),
            max_bytes: max_bytes as u64,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<WasmInstance>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes and returns an instance that uses at most half of the memory limit, because its free
    /// memory is fragmented.
    fn take(&self, max_memory_bytes: usize) -> Option<WasmInstance> {
        let most = max_memory_bytes as u64 / 2;
        let mut kept = self.lock();
        let place = kept
            .iter()
            .rposition(|instance| instance.memory_bytes() <= most)?;
        Some(kept.remove(place))
    }

    /// Keeps an instance if there is room.
    fn keep(&self, instance: WasmInstance) {
        let mut kept = self.lock();
        let num_bytes: u64 = kept.iter().map(WasmInstance::memory_bytes).sum();
        let has_room = num_bytes.saturating_add(instance.memory_bytes()) <= self.max_bytes;
        if has_room && kept.len() < MAX_IDLE as usize {
            kept.push(instance);
        }
    }
}

/// Instance that is kept after its search.
pub(in super::super) struct LentInstance {
    /// `Some` until it is dropped.
    instance: Option<WasmInstance>,
    idle: Arc<Idle>,
}

impl LentInstance {
    pub(in super::super) fn start(
        shared: &Arc<Shared>,
        idle: &Arc<Idle>,
        limits: &InstanceLimits,
    ) -> Result<Self, SearchError> {
        limits.interrupt.check()?;
        let instance = match idle.take(shared.max_memory_bytes(limits)) {
            Some(mut instance) => {
                instance.begin(limits);
                instance
            }
            None => WasmInstance::start(Arc::clone(shared), limits)?,
        };
        Ok(Self {
            instance: Some(instance),
            idle: Arc::clone(idle),
        })
    }

    fn instance(&mut self) -> Result<&mut WasmInstance, SearchError> {
        let gone = || SearchError::internal("a call into an instance that was given back");
        self.instance.as_mut().ok_or_else(gone)
    }
}

impl EngineInstance for LentInstance {
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError> {
        self.instance()?.open(request)
    }

    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError> {
        self.instance()?.step(supplies, report)
    }
}

impl Drop for LentInstance {
    fn drop(&mut self) {
        if self.idle.max_bytes > 0
            && let Some(mut instance) = self.instance.take()
            && instance.end()
        {
            self.idle.keep(instance);
        }
    }
}
