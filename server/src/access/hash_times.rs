//! Hashing times of secrets. Only the last few count, so that one delayed hash has no lasting effect.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of remembered hashes: the maximum number that waits for one key.
const NUM_KEPT: usize = super::gate::MAX_SECRETS_PER_KEY as usize;

/// The times of the last hashes.
#[derive(Default)]
pub(super) struct HashTimes {
    last: Mutex<VecDeque<Duration>>,
}

impl HashTimes {
    pub(super) fn add(&self, time: Duration) {
        let mut last = self.last();
        last.truncate(NUM_KEPT - 1);
        last.push_front(time);
    }

    /// Returns the longest of them.
    pub(super) fn slowest(&self) -> Duration {
        self.last().iter().max().copied().unwrap_or_default()
    }

    fn last(&self) -> MutexGuard<'_, VecDeque<Duration>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_that_was_held_up_is_forgotten_behind_a_few_others() {
        let times = HashTimes::default();
        assert_eq!(times.slowest(), Duration::ZERO);
        let (usual, held_up) = (Duration::from_millis(20), Duration::from_secs(9));
        times.add(held_up);
        for _ in 1..NUM_KEPT {
            times.add(usual);
            assert_eq!(times.slowest(), held_up);
        }
        times.add(usual);
        assert_eq!(times.slowest(), usual);
    }
}
