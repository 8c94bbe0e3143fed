//! A search request, divided into the host's keys and the guest's.

use serde_json::{Map, Value};

use crate::{Limits, SearchError};

/// The guest's key for the value of `now`.
pub(crate) const NOW: &str = "now_ms";

/// A divided search request.
pub(crate) struct Request {
    /// The guest's part, as JSON.
    pub(crate) guest: String,
    pub(crate) limits: Limits,
    pub(crate) wants_profile: bool,
}

impl Request {
    /// Returns the request with another key for the guest.
    pub(crate) fn with_guest_key(&self, key: &str, value: Value) -> Result<Self, SearchError> {
        let mut guest: Map<String, Value> = serde_json::from_str(&self.guest)
            .map_err(|error| SearchError::internal(format!("the guest's request: {error}")))?;
        guest.insert(key.to_owned(), value);
        Ok(Self {
            guest: serialize(&guest)?,
            limits: self.limits.clone(),
            wants_profile: self.wants_profile,
        })
    }

    /// Returns the guest's limits as JSON, with a mark if the cache may keep partial results.
    pub(crate) fn guest_limits(&self, keeps_partial_results: bool) -> String {
        let mut limits = self.limits.guest.clone();
        if keeps_partial_results {
            limits
                .entry("partial_result_cache")
                .or_insert(Value::Bool(true));
        }
        Value::Object(limits).to_string()
    }
}

/// Takes `profile` and `budget` out of a request; the rest is the guest's. Adds `now_ms`, in milliseconds since 1970,
/// where aggregations may refer to `now`.
pub(crate) fn split(request: &Value, limits: &Limits, now_ms: u64) -> Result<Request, SearchError> {
    let Value::Object(request) = request else {
        return Err(SearchError::invalid(
            "the search request is not a JSON object",
        ));
    };
    let mut guest = request.clone();
    let wants_profile = match guest.shift_remove("profile") {
        None => false,
        Some(Value::Bool(wants_profile)) => wants_profile,
        Some(other) => {
            return Err(SearchError::invalid(format!(
                "profile is true or false, and not {other}"
            )));
        }
    };
    let limits = match guest.shift_remove("budget") {
        None => limits.clone(),
        Some(budget) => limits.lowered_by(&budget)?,
    };
    if guest.contains_key("aggs") || guest.contains_key("aggregations") {
        guest.entry(NOW).or_insert(now_ms.into());
    }
    Ok(Request {
        guest: serialize(&guest)?,
        limits,
        wants_profile,
    })
}

fn serialize(request: &Map<String, Value>) -> Result<String, SearchError> {
    serde_json::to_string(request)
        .map_err(|error| SearchError::invalid(format!("the search request is not JSON: {error}")))
}
