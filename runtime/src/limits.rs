//! Limits of one search: plain data, with a default for everything.

use canter_protocol::Budget;
use serde_json::{Map, Value};

use crate::SearchError;

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

    /// Returns these limits, lowered to the value of a request's key `budget`: an object with any of
    /// `max_requests`, `max_bytes`, `max_waves`, `deadline_ms`, `max_memory_bytes`.
    pub(crate) fn lowered_by(&self, budget: &Value) -> Result<Self, SearchError> {
        let Value::Object(budget) = budget else {
            return Err(SearchError::invalid(format!(
                "budget is an object such as {{\"max_requests\": 20}}, and not {budget}"
            )));
        };
        let mut limits = self.clone();
        for (name, value) in budget {
            let Some(value) = value.as_u64() else {
                return Err(SearchError::invalid(format!(
                    "budget: {name} is a whole number, and not {value}"
                )));
            };
            let lower = |limit: &mut Option<u64>| {
                *limit = Some(limit.map_or(value, |limit| limit.min(value)));
            };
            match name.as_str() {
                "max_requests" => lower(&mut limits.budget.max_requests),
                "max_bytes" => lower(&mut limits.budget.max_bytes),
                "max_waves" => lower(&mut limits.budget.max_waves),
                "deadline_ms" => lower(&mut limits.budget.deadline_ms),
                "max_memory_bytes" => {
                    let value = usize::try_from(value).unwrap_or(usize::MAX);
                    let limit = &mut limits.max_memory_bytes;
                    *limit = Some(limit.map_or(value, |limit| limit.min(value)));
                }
                _ => {
                    return Err(SearchError::invalid(format!(
                        "budget: {name:?} is not known; there are max_requests, max_bytes, \
                         max_waves, deadline_ms and max_memory_bytes"
                    )));
                }
            }
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_request_lowers_limits_and_never_raises_them() {
        let host = Limits {
            budget: Budget {
                max_requests: Some(10),
                deadline_ms: Some(1000),
                ..Budget::default()
            },
            ..Limits::default()
        };
        let asked = json!({"max_requests": 50, "max_bytes": 7, "deadline_ms": 10});
        let limits = host.lowered_by(&asked).unwrap();
        assert_eq!(limits.budget.max_requests, Some(10));
        assert_eq!(limits.budget.max_bytes, Some(7));
        assert_eq!(limits.budget.max_waves, None);
        assert_eq!(limits.budget.deadline_ms, Some(10));
    }

    #[test]
    fn an_unknown_or_odd_budget_is_refused_by_name() {
        for (budget, name) in [
            (json!({"max_requets": 1}), "max_requets"),
            (json!({"max_bytes": -1}), "max_bytes"),
            (json!({"max_waves": "3"}), "max_waves"),
            (json!(5), "budget"),
        ] {
            let error = Limits::default().lowered_by(&budget).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Invalid);
            assert!(error.message.contains(name), "{}", error.message);
        }
    }
}
