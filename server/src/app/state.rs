//! Shared state of all requests.

use std::sync::Arc;

use canter_runtime::{Caller, Limits, Metrics, Searcher};
use tokio::sync::Semaphore;

use crate::access::Gate;
use crate::http::{Bodies, Origins};
use crate::indexes::{Root, Writers};
use crate::requests::Tasks;
use crate::settings::CompatibleWith;

/// Shared state of all requests.
pub(super) struct App {
    pub(super) searcher: Arc<Searcher>,
    pub(super) limits: Limits,
    /// The caller of all requests, if no tokens are required.
    pub(super) caller: Caller,
    /// Check of tokens, if they are required.
    pub(super) gate: Option<Arc<Gate>>,
    /// Writers of documents, if the server is writable.
    pub(super) writers: Option<Arc<Writers>>,
    /// Root of the managed indexes, if there is one.
    pub(super) root: Option<Arc<Root>>,
    /// Origins of pages that may send requests.
    pub(super) origins: Origins,
    /// Product that the server claims to be.
    pub(super) compatible_with: CompatibleWith,
    pub(super) metrics: Arc<Metrics>,
    pub(super) bodies: Bodies,
    pub(super) tasks: Tasks,
    /// Permits for requests that run or wait for a guest.
    pub(super) line: Semaphore,
}
