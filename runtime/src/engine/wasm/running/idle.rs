//! Instances whose session is over, kept for the next search: there is nothing to set up, and their memory is mapped.
//!
//! ```text
//!   start ──▶ one that is kept, or a fresh one ──▶ a session ──▶ kept, if it ended well and there is room
//! ```
//!
//! A guest keeps nothing of what it has read from one session for another, only patterns that it has compiled. What traps is
//! not kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::engine::Shared;
use super::instance::WasmInstance;
use crate::SearchError;
use crate::engine::{EngineInstance, InstanceLimits};
use crate::session::{Budget, HostReport, Progress, SessionRequest, Supply};

/// Most instances that are kept.
pub(in super::super) const MAX_IDLE: u32 = 16;

/// The instances that are kept.
pub(in super::super) struct Idle {
    /// The one that was used last is the last.
    kept: Mutex<Vec<WasmInstance>>,
    /// Most memory of all of them.
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

    /// One that has at most half of so much memory: what was let go of in it lies in pieces.
    fn take(&self, max_memory_bytes: usize) -> Option<WasmInstance> {
        let most = max_memory_bytes as u64 / 2;
        let mut kept = self.lock();
        let place = kept
            .iter()
            .rposition(|instance| instance.memory_bytes() <= most)?;
        Some(kept.remove(place))
    }

    /// Keeps one if there is room.
    fn keep(&self, instance: WasmInstance) {
        let mut kept = self.lock();
        let num_bytes: u64 = kept.iter().map(WasmInstance::memory_bytes).sum();
        let has_room = num_bytes.saturating_add(instance.memory_bytes()) <= self.max_bytes;
        if has_room && kept.len() < MAX_IDLE as usize {
            kept.push(instance);
        }
    }
}

/// An instance that is kept when its search is over.
pub(in super::super) struct LentInstance {
    /// Until it is dropped.
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
