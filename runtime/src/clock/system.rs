//! The system's clock, through tokio's timers.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use super::Clock;

/// Real time. Waiting needs a tokio runtime with timers.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    beginning: Instant,
}

impl SystemClock {
    /// Creates a clock that begins now.
    pub fn new() -> Self {
        Self {
            beginning: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.beginning.elapsed()
    }

    fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()> {
        match self.beginning.checked_add(moment) {
            Some(instant) => Box::pin(tokio::time::sleep_until(instant.into())),
            // Later than the platform can represent: never.
            None => Box::pin(std::future::pending()),
        }
    }
}
