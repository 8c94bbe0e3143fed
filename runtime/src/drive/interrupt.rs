//! Interrupts of a query: its deadline has passed, or its caller has gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::SearchError;

/// Deadline and cancellation of one guest instance. Clones share the cancellation.
#[derive(Clone, Debug)]
pub struct Interrupt {
    deadline: Option<Instant>,
    time_limit: Duration,
    cancelled: Arc<AtomicBool>,
}

impl Interrupt {
    /// Returns an interrupt that fires `time_limit` after `started`; `Duration::MAX` never fires.
    pub fn after(started: Instant, time_limit: Duration) -> Self {
        Self {
            deadline: started.checked_add(time_limit),
            time_limit,
            cancelled: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Returns an interrupt with the same deadline and a separate cancellation.
    pub(crate) fn sibling(&self) -> Self {
        Self {
            cancelled: Arc::new(AtomicBool::new(false)),
            ..self.clone()
        }
    }

    /// Tells the instance that its answer is not needed any more.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the flag that a cancellation sets.
    #[cfg(feature = "native")]
    pub(crate) fn cancellation(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Returns whether the instance should stop now.
    pub fn is_due(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns an error if the instance should stop now.
    pub fn check(&self) -> Result<(), SearchError> {
        if self.is_due() {
            return Err(self.error());
        }
        Ok(())
    }

    /// Returns the error of an interrupted search.
    pub fn error(&self) -> SearchError {
        if self.cancelled.load(Ordering::Relaxed) {
            return SearchError::limit("the search was cancelled by its caller");
        }
        SearchError::limit(format!(
            "the search did not finish within its deadline of {} ms; raise deadline_ms or narrow the query",
            self.time_limit.as_millis()
        ))
    }
}
