//! Budget of one search: counts its requests, and refuses those that exceed the budget.

use canter_protocol::Budget;

/// Message of a read that was cancelled at the deadline.
pub(crate) const TIME_IS_UP: &str =
    "the bytes had not come when the time was up; raise deadline_ms or narrow the query";

/// Usage of the budget by one search.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    budget: Budget,
    num_requests: u64,
    num_bytes: u64,
    /// First limit that refused a request.
    refused: Option<&'static str>,
    /// First limit because of which a read did not get its bytes.
    exhausted: Option<&'static str>,
    pub(crate) is_timed_out: bool,
    /// Maximum processor time in milliseconds, and the usage before this search.
    max_cpu_ms: Option<u64>,
    cpu_ms_before: u64,
}

impl Gate {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }

    /// Limits the processor time, of which `cpu_ms` were used before this search.
    pub(crate) fn limit_cpu(&mut self, max_cpu_ms: u64, cpu_ms: u64) {
        self.max_cpu_ms = Some(max_cpu_ms);
        self.cpu_ms_before = cpu_ms;
    }

    pub(crate) fn limits_cpu(&self) -> bool {
        self.max_cpu_ms.is_some()
    }

    /// Returns an error if too little processor time is left for more splits or documents: of the
    /// limit, 80 % is for splits, 90 % for splits and documents, and the rest for the answer.
    pub(crate) fn admit_cpu(&mut self, cpu_ms: u64, is_document: bool) -> Result<(), String> {
        let Some(max) = self.max_cpu_ms else {
            return Ok(());
        };
        let percent = if is_document { 90 } else { 80 };
        let taken = cpu_ms.saturating_sub(self.cpu_ms_before);
        match taken.saturating_mul(100) < max.saturating_mul(percent) {
            true => Ok(()),
            false => {
                self.exhausted.get_or_insert("max_cpu_ms");
                Err(used_up("max_cpu_ms", max))
            }
        }
    }

    pub(crate) fn num_requests(&self) -> u64 {
        self.num_requests
    }

    /// Counts one request for `len` bytes, or returns why it must not be sent.
    pub(crate) fn admit(&mut self, len: Option<u64>) -> Result<(), String> {
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
        self.num_requests += 1;
        self.num_bytes = after;
        Ok(())
    }

    /// Counts bytes from the cache, or returns why they must not be used.
    pub(crate) fn admit_cached(&mut self, len: u64) -> Result<(), String> {
        let after = self.num_bytes.saturating_add(len);
        match self.budget.max_bytes {
            Some(max) if after > max => {
                self.exhausted.get_or_insert("max_bytes");
                Err(used_up("max_bytes", max))
            }
            _ => {
                self.num_bytes = after;
                Ok(())
            }
        }
    }

    /// Returns an error if wave number `wave_ord` (from 0) exceeds the maximum.
    pub(crate) fn admit_wave(&mut self, wave_ord: u64) -> Result<(), String> {
        match self.budget.max_waves {
            Some(max) if wave_ord >= max => {
                self.exhausted.get_or_insert("max_waves");
                Err(used_up("max_waves", max))
            }
            _ => Ok(()),
        }
    }

    fn refuse(&mut self, limit: &'static str, max: u64) -> Result<(), String> {
        self.refused.get_or_insert(limit);
        Err(used_up(limit, max))
    }

    /// Counts the bytes of an answer whose length was not known in advance.
    pub(crate) fn count_open_ended(&mut self, num_bytes: usize) {
        self.num_bytes = self.num_bytes.saturating_add(num_bytes as u64);
    }

    /// Records that a read did not get its bytes because a request was refused.
    pub(crate) fn note_exhausted(&mut self) {
        self.exhausted = self.exhausted.or(self.refused);
    }

    /// Returns the name of the limit that was reached first.
    pub(crate) fn exhausted(&self) -> Option<&'static str> {
        self.exhausted
    }
}

/// Returns the message about a limit that was reached.
fn used_up(limit: &str, max: u64) -> String {
    format!("the search has used up its {limit} of {max}; raise it or narrow the query")
}
