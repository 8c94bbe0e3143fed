//! Stopping a step from outside: a flag that the engine's loops check.
//!
//! A wasm host does not need it, because it can stop an instance anywhere. A host that links the guest as
//! a library cannot stop a thread; it sets the flag, and the step ends soon after.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{ErrorKind, SearchError};

/// A flag that a session checks while it computes; clones share it. A check costs one atomic load.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Creates an interrupt that fires when `flag` is set.
    pub fn new(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Returns whether the session is to stop.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// # Errors
    /// If the session is to stop.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        match self.is_set() {
            true => Err(SearchError::new(ErrorKind::Limit, MESSAGE)),
            false => Ok(()),
        }
    }

    /// As [`Interrupt::check`], for code inside tantivy. The flag tells the caller the cause.
    ///
    /// # Errors
    /// If the session is to stop.
    pub(crate) fn check_tantivy(&self) -> tantivy::Result<()> {
        match self.is_set() {
            true => Err(tantivy::TantivyError::InternalError(MESSAGE.to_owned())),
            false => Ok(()),
        }
    }
}

const MESSAGE: &str = "the search was stopped by its host";
