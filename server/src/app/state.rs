//! What every request is answered with.

use std::sync::Arc;

use canter_runtime::{Caller, Limits, Metrics, Searcher};
use tokio::sync::Semaphore;

use crate::access::Gate;
use crate::http::{Bodies, Origins};
use crate::indexes::{Root, Writers};

/// What every request is answered with.
pub(super) struct App {
    pub(super) searcher: Arc<Searcher>,
    pub(super) limits: Limits,
    /// Who asks, where no tokens are asked for.
    pub(super) caller: Caller,
    /// Who may ask, where they are.
    pub(super) gate: Option<Arc<Gate>>,
    /// Who takes documents, if anybody does.
    pub(super) writers: Option<Arc<Writers>>,
    /// Where indexes may come and go, if anywhere.
    pub(super) root: Option<Arc<Root>>,
    /// Whose pages may ask.
    pub(super) origins: Origins,
    pub(super) metrics: Arc<Metrics>,
    pub(super) bodies: Bodies,
    /// A permit for each request that may run or wait for a guest.
    pub(super) line: Semaphore,
}
