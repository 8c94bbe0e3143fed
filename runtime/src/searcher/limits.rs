//! Limits of one search: plain data, with a default for everything.

use canter_protocol::Budget;
use serde_json::{Map, Value};

/// Limits of one search.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Requests, bytes, waves and time.
    pub budget: Budget,
    /// Maximum memory of one guest instance, in bytes; `None` leaves it at the engine's cap, which
    /// it can only lower. The native engine has no cap.
    pub max_memory_bytes: Option<usize>,
    /// The guest's own limits, a JSON object that is passed on unchanged.
    pub guest: Map<String, Value>,
}

impl Default for Limits {
    /// Defaults to 30 s, no other budget, and the guest's defaults.
    fn default() -> Self {
        Self {
            budget: Budget {
                deadline_ms: Some(30_000),
                ..Budget::default()
            },
            max_memory_bytes: None,
            guest: Map::new(),
        }
    }
}

impl Limits {
    /// Returns the default limits with another deadline.
    pub fn within_ms(deadline_ms: u64) -> Self {
        let mut limits = Self::default();
        limits.budget.deadline_ms = Some(deadline_ms);
        limits
    }

    /// Returns these limits, lowered to the budget in a request of the search API.
    pub(crate) fn lowered_to(&self, asked: Budget) -> Self {
        Self {
            budget: self.budget.lowered_to(asked),
            ..self.clone()
        }
    }
}
