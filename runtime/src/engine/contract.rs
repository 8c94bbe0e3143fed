//! The traits of an engine and of one instance of it.

use crate::session::{Budget, HostReport, Progress, SessionRequest, Supply};
use crate::{Interrupt, SearchError};

/// Starts instances of the guest.
pub trait Engine: Send + Sync + 'static {
    /// An instance for (a part of) one query, in which nothing of another is left. It stops when the limits say so, as
    /// promptly as the engine can.
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError>;

    /// The most instances that may exist at once.
    fn max_instances(&self) -> usize;

    /// Memory of all instances together, in bytes, if the engine knows.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// The engine's name in messages: `wasm`, `native`.
    fn name(&self) -> &'static str;
}

/// What one instance may take.
#[derive(Clone, Debug)]
pub struct InstanceLimits {
    /// When it must stop.
    pub interrupt: Interrupt,
    /// Most memory in bytes, if that is less than the engine allows. The native engine has no cap.
    pub max_memory_bytes: Option<usize>,
}

/// One instance: it runs one session at a time, on the thread that started it, and is free when it is dropped.
pub trait EngineInstance {
    /// Opens a session, and says what its request asks the host to keep to. A session that was open
    /// before is dropped.
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError>;

    /// Resumes the open session with what has arrived (nothing the first time) and with what the host
    /// has to say of the search so far. After `Done` or an error the session is over.
    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError>;
}
