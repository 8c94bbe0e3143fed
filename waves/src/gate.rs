//! The budget of one search: counts its requests, and refuses those that exceed it.

use canter_protocol::Budget;

/// Message of a read that was given up at the deadline.
pub const TIME_IS_UP: &str =
    "the bytes had not come when the time was up; raise deadline_ms or narrow the query";

/// The used part of one search's budget. The host watches the deadline.
#[derive(Debug, Default)]
pub struct Gate {
    budget: Budget,
    num_requests: u64,
    num_bytes: u64,
    is_timed_out: bool,
    /// The first limit that refused a request. The answer may still be complete without that request, for example if
    /// it was a hedge.
    refused: Option<&'static str>,
    /// The first limit because of which a read lacks its bytes.
    exhausted: Option<String>,
    /// Maximum CPU time in milliseconds, and the time used before this search.
    cpu: Option<(u64, u64)>,
}

impl Gate {
    /// Returns an unused gate.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// Limits the CPU time, of which `cpu_ms` were used before this search.
    pub fn limit_cpu(&mut self, max_cpu_ms: u64, cpu_ms: u64) {
        self.cpu = Some((max_cpu_ms, cpu_ms));
    }

    /// Returns whether the CPU time is limited.
    pub fn limits_cpu(&self) -> bool {
        self.cpu.is_some()
    }

    /// Admits more computation, after `cpu_ms` of CPU time so far: 80 % of the limit are for splits, 90 % include
    /// documents, and the rest is for the answer.
    ///
    /// # Errors
    /// If the share is used up, with a message.
    pub fn admit_cpu(&mut self, cpu_ms: u64, is_document: bool) -> Result<(), String> {
        let Some((max, before)) = self.cpu else {
            return Ok(());
        };
        let percent = if is_document { 90 } else { 80 };
        let taken = cpu_ms.saturating_sub(before);
        match taken.saturating_mul(100) < max.saturating_mul(percent) {
            true => Ok(()),
            false => self.exhaust("max_cpu_ms", max),
        }
    }

    /// Counts one request for `len` bytes; `None` is a read to the end of an object.
    ///
    /// # Errors
    /// If the request may not be sent, with a message.
    pub fn admit(&mut self, len: Option<u64>) -> Result<(), String> {
        let len = len.unwrap_or(0);
        let after = self.num_bytes.saturating_add(len);
        if let Some(max) = self.budget.max_bytes
            && (after > max || self.num_bytes >= max)
        {
            return self.refuse("max_bytes", max);
        }
        if let Some(max) = self.budget.max_requests
            && self.num_requests >= max
        {
            return self.refuse("max_requests", max);
        }
        self.num_requests = self.num_requests.saturating_add(1);
        self.num_bytes = after;
        Ok(())
    }

    /// Counts bytes from the cache.
    ///
    /// # Errors
    /// If they may not be used, with a message.
    pub fn admit_cached(&mut self, len: u64) -> Result<(), String> {
        let after = self.num_bytes.saturating_add(len);
        match self.budget.max_bytes {
            Some(max) if after > max => self.exhaust("max_bytes", max),
            _ => {
                self.num_bytes = after;
                Ok(())
            }
        }
    }

    /// Admits wave number `wave_ord`, from 0.
    ///
    /// # Errors
    /// If it exceeds the maximum, with a message.
    pub fn admit_wave(&mut self, wave_ord: u64) -> Result<(), String> {
        match self.budget.max_waves {
            Some(max) if wave_ord >= max => self.exhaust("max_waves", max),
            _ => Ok(()),
        }
    }

    /// Counts the bytes of an answer whose length was unknown when it was requested.
    pub fn count_open_ended(&mut self, num_bytes: u64) {
        self.num_bytes = self.num_bytes.saturating_add(num_bytes);
    }

    /// Returns the share of the remaining budget that each of `num_leaves` leaves may use.
    pub fn share_of(&self, num_leaves: u64, waves_before: u64) -> Budget {
        let share = |max: Option<u64>, used: u64| {
            let left = max?.saturating_sub(used);
            Some(left / num_leaves.max(1))
        };
        let max_waves = self.budget.max_waves;
        Budget {
            max_requests: share(self.budget.max_requests, self.num_requests),
            max_bytes: share(self.budget.max_bytes, self.num_bytes),
            max_waves: max_waves.map(|max| max.saturating_sub(waves_before)),
            deadline_ms: None,
        }
    }

    /// Counts the share of a leaf that runs elsewhere as used, until it is taken back.
    pub fn lend(&mut self, share: Budget) {
        let lend = |used: &mut u64, share: Option<u64>| {
            *used = used.saturating_add(share.unwrap_or(0));
        };
        lend(&mut self.num_requests, share.max_requests);
        lend(&mut self.num_bytes, share.max_bytes);
    }

    /// Takes a share back, of which these numbers of requests and bytes were used.
    pub fn take_back(&mut self, share: Budget, (num_requests, num_bytes): (u64, u64)) {
        let take_back = |used: &mut u64, share: Option<u64>, really: u64| {
            *used = used
                .saturating_add(really)
                .saturating_sub(share.unwrap_or(0));
        };
        take_back(&mut self.num_requests, share.max_requests, num_requests);
        take_back(&mut self.num_bytes, share.max_bytes, num_bytes);
    }

    /// Records that a read lacks its bytes because a request was refused.
    pub fn note_exhausted(&mut self) {
        if let Some(limit) = self.refused {
            self.exhausted.get_or_insert_with(|| limit.to_owned());
        }
    }

    /// Records that a leaf elsewhere has reached a limit.
    pub fn note_exhausted_elsewhere(&mut self, limit: String) {
        self.exhausted.get_or_insert(limit);
    }

    /// Records that reads were given up because the time was up.
    pub fn note_timed_out(&mut self) {
        self.is_timed_out = true;
    }

    /// Returns whether reads were given up because the time was up.
    pub fn is_timed_out(&self) -> bool {
        self.is_timed_out
    }

    /// Returns the limit that was reached first, by name.
    pub fn exhausted(&self) -> Option<&str> {
        self.exhausted.as_deref()
    }

    /// Returns the number of requests so far.
    pub fn num_requests(&self) -> u64 {
        self.num_requests
    }

    fn refuse(&mut self, limit: &'static str, max: u64) -> Result<(), String> {
        self.refused.get_or_insert(limit);
        Err(used_up(limit, max))
    }

    fn exhaust(&mut self, limit: &'static str, max: u64) -> Result<(), String> {
        self.exhausted.get_or_insert_with(|| limit.to_owned());
        Err(used_up(limit, max))
    }
}

fn used_up(limit: &str, max: u64) -> String {
    format!("the search has used up its {limit} of {max}; raise it or narrow the query")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_was_lent_is_used_until_it_comes_back() {
        let mut gate = Gate::new(Budget {
            max_requests: Some(9),
            max_waves: Some(5),
            ..Budget::default()
        });
        let is_admitted = |gate: &mut Gate| gate.admit(Some(10)).is_ok();
        assert!(is_admitted(&mut gate));
        let share = gate.share_of(2, 1);
        let expect = Budget {
            max_requests: Some(4),
            max_waves: Some(4),
            ..Budget::default()
        };
        assert_eq!(share, expect);
        gate.lend(share);
        // One before, four lent, four left.
        assert!((0..4).all(|_| is_admitted(&mut gate)));
        assert!(!is_admitted(&mut gate));
        gate.take_back(share, (1, 1000));
        assert!((0..3).all(|_| is_admitted(&mut gate)));
        assert!(!is_admitted(&mut gate));
    }

    #[test]
    fn the_time_of_the_processor_is_kept_for_splits_then_documents_then_the_answer() {
        let mut gate = Gate::default();
        assert!(gate.admit_cpu(u64::MAX, false).is_ok(), "no limit");
        gate.limit_cpu(100, 50);
        assert!(gate.admit_cpu(129, false).is_ok());
        assert_eq!(gate.exhausted(), None);
        assert!(gate.admit_cpu(130, false).is_err());
        assert!(gate.admit_cpu(139, true).is_ok());
        assert!(gate.admit_cpu(140, true).is_err());
        assert_eq!(gate.exhausted(), Some("max_cpu_ms"));
    }
}
