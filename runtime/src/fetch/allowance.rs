//! A share of requests that may be spent on extra ones: a token bucket that requests fill.

use std::sync::{Mutex, PoisonError};

/// Each request earns a fraction of an extra one; what is not spent is saved up to a bound, so that a
/// burst of failures cannot multiply the load on a store that is failing.
#[derive(Debug)]
pub(super) struct Allowance {
    earned_per_request: f64,
    max: f64,
    held: Mutex<f64>,
}

impl Allowance {
    /// `percent` extra requests per 100, with at most `max` saved up and `held` to begin with.
    pub(super) fn new(percent: f64, max: f64, held: f64) -> Self {
        Self {
            earned_per_request: percent / 100.0,
            max,
            held: Mutex::new(held),
        }
    }

    /// Counts a request.
    pub(super) fn earn(&self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        *held = (*held + self.earned_per_request).min(self.max);
    }

    /// Spends one extra request, if there is one to spend.
    pub(super) fn spend(&self) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let has_one = *held >= 1.0;
        if has_one {
            *held -= 1.0;
        }
        has_one
    }

    /// What is saved up, from 0 (nothing) to 1 (as much as can be).
    pub(super) fn fill(&self) -> f64 {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        (*held / self.max).clamp(0.0, 1.0)
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
        assert!((499..=502).contains(&num_spent), "{num_spent}");
    }

    #[test]
    fn a_long_calm_does_not_save_up_a_storm() {
        let allowance = Allowance::new(5.0, 3.0, 0.0);
        (0..10_000).for_each(|_| allowance.earn());
        let num_spent = (0..100).filter(|_| allowance.spend()).count();
        assert_eq!(num_spent, 3);
    }
}
