//! Memory limit for the aggregations of one split.

use std::cell::Cell;

use crate::{Error, Result};

/// Memory limit for the aggregations of one split. It covers all memory that grows with buckets.
#[derive(Debug)]
pub(crate) struct Budget {
    max_bytes: u64,
    used: Cell<u64>,
}

impl Budget {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            used: Cell::new(0),
        }
    }

    /// Reserves memory before it is allocated.
    ///
    /// # Errors
    /// The limit would be exceeded.
    pub(crate) fn take(&self, num_bytes: usize) -> Result<()> {
        let used = self.used.get().saturating_add(num_bytes as u64);
        if used > self.max_bytes {
            return Err(Error::Limit(format!(
                "aggs: the buckets take more memory than the limit of {} bytes: ask for fewer, narrow the query, \
                 or raise the limit max_aggregation_bytes",
                self.max_bytes
            )));
        }
        self.used.set(used);
        Ok(())
    }
}

/// Size of a growing list in bytes, as far as it is reserved.
#[derive(Debug, Default)]
pub(crate) struct Taken(usize);

impl Taken {
    /// Reserves memory for growth to `num_bytes`.
    ///
    /// # Errors
    /// As [`Budget::take`].
    pub(crate) fn grow_to(&mut self, num_bytes: usize, budget: &Budget) -> Result<()> {
        if num_bytes > self.0 {
            budget.take(num_bytes - self.0)?;
            self.0 = num_bytes;
        }
        Ok(())
    }
}
