//! Interfaces of an engine and of one of its instances.

use crate::session::{Budget, HostReport, Progress, SessionRequest, Supply};
use crate::{Interrupt, SearchError};

/// Starts instances of the guest.
pub trait Engine: Send + Sync + 'static {
    /// Returns an instance for a query or a part of it, without data of other queries. It stops at
    /// its limits, as soon as the engine can.
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError>;

    /// Returns the maximum number of concurrent instances.
    fn max_instances(&self) -> usize;

    /// Returns the memory of all instances in bytes, if the engine measures it.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the engine's name in messages: `wasm`, `native`.
    fn name(&self) -> &'static str;
}

/// Limits of an instance.
#[derive(Clone, Debug)]
pub struct InstanceLimits {
    /// Interrupt that stops it.
    pub interrupt: Interrupt,
    /// Maximum memory in bytes, if this is less than the engine's limit. The native engine does not
    /// limit memory.
    pub max_memory_bytes: Option<usize>,
}

/// Instance that runs one session at a time, on the thread that started it. Dropping it releases
/// it.
pub trait EngineInstance {
    /// Opens a session, and returns the budget in its request, which the host must enforce. Drops a
    /// session that was open before.
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError>;

    /// Resumes the open session with new supplies (none the first time) and with the host's report
    /// on the search so far. After `Done` or an error, the session has ended.
    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError>;
}
