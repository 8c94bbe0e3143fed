//! Retries of work that may fail repeatedly: outcomes and the time of the next attempt.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use canter_index_builder::BuildError;

/// Pause after the first failure, in intervals; it doubles with each further one.
const FIRST_PAUSE: u32 = 2;

/// Attempts at one kind of work on one index.
#[derive(Clone, Debug, Default)]
pub(super) struct Attempts {
    /// Number of failures since the last success.
    pub(super) num_failures: u32,
    not_before: Option<Instant>,
}

/// A failed attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) problem: String,
    /// Time until the next attempt.
    pub(super) pause: Duration,
}

impl Attempts {
    /// Returns whether an attempt is due.
    pub(super) fn is_due(&self) -> bool {
        self.not_before.is_none_or(|at| Instant::now() >= at)
    }

    /// Runs the work. A panic counts as a failure, and affects only this index.
    ///
    /// # Errors
    /// The work failed. [`Attempts::is_due`] returns `false` until the pause is over.
    pub(super) fn make<T>(
        &mut self,
        interval: Duration,
        max_pause: Duration,
        work: impl FnOnce() -> Result<T, BuildError>,
    ) -> Result<T, Failure> {
        let problem = match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(done)) => {
                *self = Self::default();
                return Ok(done);
            }
            Ok(Err(error)) => error.with_causes(),
            Err(panic) => format!("internal: a panic: {}", message_of(&*panic)),
        };
        self.num_failures = self.num_failures.saturating_add(1);
        let doublings = (self.num_failures - 1).min(20);
        let pause = interval.saturating_mul(FIRST_PAUSE << doublings);
        let pause = pause.min(max_pause);
        self.not_before = Instant::now().checked_add(pause);
        Err(Failure { problem, pause })
    }
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(10);
    const MAX_PAUSE: Duration = Duration::from_secs(900);

    fn fail(attempts: &mut Attempts) -> Failure {
        let made = attempts.make::<()>(INTERVAL, MAX_PAUSE, || panic!("split {} is hostile", 7));
        made.unwrap_err()
    }

    #[test]
    fn a_panic_is_a_failure_and_pauses_double_up_to_a_bound() {
        let mut attempts = Attempts::default();
        let pauses: Vec<u64> = (0..9)
            .map(|_| fail(&mut attempts).pause.as_secs())
            .collect();
        assert_eq!(pauses, [20, 40, 80, 160, 320, 640, 900, 900, 900]);
        assert_eq!(attempts.num_failures, 9);
        assert!(!attempts.is_due());
        let failure = fail(&mut attempts);
        assert_eq!(failure.problem, "internal: a panic: split 7 is hostile");
        for _ in 0..100 {
            assert_eq!(fail(&mut attempts).pause, MAX_PAUSE);
        }
    }

    #[test]
    fn success_forgets_failures() {
        let mut attempts = Attempts::default();
        fail(&mut attempts);
        assert_eq!(attempts.make(INTERVAL, MAX_PAUSE, || Ok(3)), Ok(3));
        assert_eq!(attempts.num_failures, 0);
        assert!(attempts.is_due());
    }
}
