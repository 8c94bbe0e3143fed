//! Allowance of extra requests as a share of all requests: a token bucket that requests fill.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Each request earns a fraction of an extra one. Unspent ones are saved up to a limit, so that a
/// burst of failures cannot multiply the load on a failing store.
#[derive(Debug)]
pub(super) struct Allowance {
    earned_per_request: f64,
    max: f64,
    purse: Mutex<Purse>,
}

#[derive(Debug)]
struct Purse {
    held: f64,
    /// Part of the advance that is not earned yet.
    owed: f64,
}

impl Allowance {
    /// Creates an allowance of `percent` extra requests per 100, with at most `max` saved.
    /// `advance` can be spent immediately and must be earned before anything else is saved, so
    /// there are never more extra requests than `advance` or than their share, whichever is more.
    pub(super) fn new(percent: f64, max: f64, advance: f64) -> Self {
        Self {
            earned_per_request: percent / 100.0,
            max,
            purse: Mutex::new(Purse {
                held: advance,
                owed: advance,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Purse> {
        self.purse.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request.
    pub(super) fn earn(&self) {
        let mut purse = self.lock();
        match purse.owed > 0.0 {
            true => purse.owed -= self.earned_per_request,
            false => purse.held = (purse.held + self.earned_per_request).min(self.max),
        }
    }

    /// Spends one extra request, if available.
    pub(super) fn spend(&self) -> bool {
        let mut purse = self.lock();
        let has_one = purse.held >= 1.0;
        if has_one {
            purse.held -= 1.0;
        }
        has_one
    }

    /// Returns the saved share, from 0 (none) to 1 (the maximum). It is one half until the advance
    /// is earned: the advance is meant to be spent, and its rate of use is not known yet.
    pub(super) fn fill(&self) -> f64 {
        let purse = self.lock();
        match purse.owed > 0.0 {
            true => 0.5,
            false => (purse.held / self.max).clamp(0.0, 1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_requests_stay_within_their_share() {
        let allowance = Allowance::new(5.0, 3.0, 1.0);
        let mut num_spent = 0;
        for _ in 0..10_000 {
            allowance.earn();
            num_spent += u64::from(allowance.spend());
        }
        assert!((498..=500).contains(&num_spent), "{num_spent}");
    }

    #[test]
    fn what_is_advanced_is_earned_first() {
        let allowance = Allowance::new(5.0, 30.0, 3.0);
        assert_eq!((0..10).filter(|_| allowance.spend()).count(), 3);
        for num_requests in 1..1000 {
            allowance.earn();
            if allowance.spend() {
                assert!(num_requests >= 80, "the fourth after {num_requests}");
                return;
            }
        }
        panic!("nothing is earned after the advance");
    }

    #[test]
    fn what_is_saved_up_is_told_once_the_advance_is_earned() {
        let allowance = Allowance::new(50.0, 4.0, 1.0);
        allowance.earn();
        assert_eq!(allowance.fill(), 0.5);
        allowance.earn();
        assert_eq!(allowance.fill(), 0.25);
        (0..100).for_each(|_| allowance.earn());
        assert_eq!(allowance.fill(), 1.0);
    }

    #[test]
    fn a_long_calm_does_not_save_up_a_storm() {
        let allowance = Allowance::new(5.0, 3.0, 0.0);
        (0..10_000).for_each(|_| allowance.earn());
        let num_spent = (0..100).filter(|_| allowance.spend()).count();
        assert_eq!(num_spent, 3);
    }
}
