//! The guest linked as a Rust library: without sandbox and memory limit, and with the fastest
//! start.

use super::{Engine, EngineInstance, InstanceLimits};
use crate::session::{Budget, HostReport, Progress, SessionRequest, Supply};
use crate::{Interrupt, SearchError};

/// Default maximum number of instances. Instances only hold their session, so this merely limits
/// the number of threads.
const MAX_INSTANCES: usize = 256;

/// The guest as a Rust library. A step ends soon after it is cancelled, because the guest checks
/// the flag while it computes. The deadline itself is only checked between steps; the caller that
/// waits for a step cancels it.
#[derive(Clone, Copy, Debug)]
pub struct NativeEngine {
    max_instances: usize,
}

impl Default for NativeEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl NativeEngine {
    /// Returns the engine.
    pub fn new() -> Self {
        Self::with_max_instances(MAX_INSTANCES)
    }

    /// Returns the engine with at most `max_instances` concurrent instances, but at least one.
    pub fn with_max_instances(max_instances: usize) -> Self {
        Self {
            max_instances: max_instances.max(1),
        }
    }

    /// Returns the version of the linked guest, derived from its sources. Hosts with the same
    /// version can read each other's leaf requests and partial results.
    pub fn guest_version() -> String {
        canter_guest::version()
    }
}

impl Engine for NativeEngine {
    fn start(&self, limits: &InstanceLimits) -> Result<Box<dyn EngineInstance>, SearchError> {
        Ok(Box::new(NativeInstance {
            interrupt: limits.interrupt.clone(),
            session: None,
        }))
    }

    fn max_instances(&self) -> usize {
        self.max_instances
    }

    fn name(&self) -> &'static str {
        "native"
    }
}

struct NativeInstance {
    interrupt: Interrupt,
    session: Option<canter_guest::Session>,
}

impl EngineInstance for NativeInstance {
    fn open(&mut self, request: SessionRequest) -> Result<Budget, SearchError> {
        self.session = None;
        let session = match request {
            SessionRequest::Http {
                request,
                settings,
                max_leaves,
            } => canter_guest::Session::http(&request, &settings, max_leaves),
            SessionRequest::Leaf(request) => canter_guest::Session::leaf(&request),
            SessionRequest::Root { root, partials } => {
                canter_guest::Session::root(&root, &partials)
            }
        };
        let mut session = session?;
        session.set_interrupt(canter_guest::session::Interrupt::new(
            self.interrupt.cancellation(),
        ));
        let budget = session.budget();
        self.session = Some(session);
        Ok(budget)
    }

    fn step(&mut self, supplies: Vec<Supply>, report: HostReport) -> Result<Progress, SearchError> {
        self.interrupt.check()?;
        let session = self
            .session
            .as_mut()
            .ok_or_else(|| SearchError::internal("a step without an open session"))?;
        session.step(supplies, report)
    }
}
