//! The trait of every clock, and waiting with a deadline.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{BoxFuture, Either, select};

/// A source of time. Moments are durations since the clock's own beginning.
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Duration;

    /// Waits until `moment`; returns at once if it has passed.
    fn sleep_until(&self, moment: Duration) -> BoxFuture<'static, ()>;

    /// Returns the date: time since 1970; zero if the clock shows an earlier time.
    fn unix_time(&self) -> Duration {
        canter_stores::unix_time()
    }

    /// Announces work in real time (a guest that computes, a read from a disk): a clock that is
    /// advanced manually stands still until the guard is dropped.
    fn enter_busy(&self) -> BusyGuard {
        BusyGuard::none()
    }

    /// Adds computation that took `cpu` in real time to a clock that stood still meanwhile.
    fn spend(&self, _cpu: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Guard that keeps a virtual clock from advancing; see [`Clock::enter_busy`].
pub struct BusyGuard {
    leave: Option<Box<dyn FnOnce() + Send>>,
}

impl BusyGuard {
    /// Returns a guard for a clock that cannot be stopped.
    pub fn none() -> Self {
        Self { leave: None }
    }

    /// Returns a guard that calls `leave` when it is dropped.
    pub fn new(leave: impl FnOnce() + Send + 'static) -> Self {
        Self {
            leave: Some(Box::new(leave)),
        }
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        if let Some(leave) = self.leave.take() {
            leave();
        }
    }
}

/// Error of a wait whose deadline passed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elapsed;

/// Waits for `future`, at most until `deadline` (`None`: without a limit).
pub async fn timeout_at<F: Future>(
    clock: &dyn Clock,
    deadline: Option<Duration>,
    future: F,
) -> Result<F::Output, Elapsed> {
    let Some(deadline) = deadline else {
        return Ok(future.await);
    };
    match select(pin!(future), clock.sleep_until(deadline)).await {
        Either::Left((output, _)) => Ok(output),
        Either::Right(((), _)) => Err(Elapsed),
    }
}
