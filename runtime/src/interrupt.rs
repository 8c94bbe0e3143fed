//! When a query must stop: its deadline has passed, or nobody waits for it any more.

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
    /// An interrupt that fires `time_limit` after `started`; `Duration::MAX` never fires.
    pub fn after(started: Instant, time_limit: Duration) -> Self {
        Self {
            deadline: started.checked_add(time_limit),
            time_limit,
            cancelled: Arc::new(AtomicBool::new(false)),
        }
    }

    /// The same deadline with a cancellation of its own.
    pub(crate) fn sibling(&self) -> Self {
        Self {
            cancelled: Arc::new(AtomicBool::new(false)),
            ..self.clone()
        }
    }

    /// Tells the instance that nobody waits for its answer.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// The flag that a cancellation sets.
    #[cfg(feature = "native")]
    pub(crate) fn cancellation(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.cancelled)
    }

    /// Whether the instance should stop now.
    pub fn is_due(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// An error if the instance should stop now.
    pub fn check(&self) -> Result<(), SearchError> {
        if self.is_due() {
            return Err(self.error());
        }
        Ok(())
    }

    /// The error that a search which was interrupted ends with.
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
