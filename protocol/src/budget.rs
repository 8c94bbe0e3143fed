//! Limits of a search.

use serde::Deserialize;

/// Limits of one search; `None` is no limit. When a limit is reached, the search continues with the data it has, and
/// its answer has `budget_exhausted` and names the skipped splits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Maximum number of requests to the store, including retries and hedges.
    pub max_requests: Option<u64>,
    /// Maximum number of bytes read.
    pub max_bytes: Option<u64>,
    /// Maximum number of waves: dependent rounds of requests.
    pub max_waves: Option<u64>,
    /// Time from the request to its answer, in milliseconds. Reads are given up a little earlier, to leave time
    /// for an answer with the data that has arrived.
    pub deadline_ms: Option<u64>,
}

impl Budget {
    /// Returns the lower of each limit: of a host, and of a request.
    pub fn lowered_to(self, asked: Self) -> Self {
        let lower = |host: Option<u64>, asked: Option<u64>| match (host, asked) {
            (Some(host), Some(asked)) => Some(host.min(asked)),
            (host, asked) => host.or(asked),
        };
        Self {
            max_requests: lower(self.max_requests, asked.max_requests),
            max_bytes: lower(self.max_bytes, asked.max_bytes),
            max_waves: lower(self.max_waves, asked.max_waves),
            deadline_ms: lower(self.deadline_ms, asked.deadline_ms),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_lowers_limits_and_never_raises_them() {
        let host = Budget {
            max_requests: Some(10),
            max_bytes: Some(1000),
            max_waves: None,
            deadline_ms: Some(30_000),
        };
        let asked = Budget {
            max_requests: Some(50),
            max_bytes: Some(7),
            max_waves: Some(3),
            deadline_ms: None,
        };
        let expect = Budget {
            max_requests: Some(10),
            max_bytes: Some(7),
            max_waves: Some(3),
            deadline_ms: Some(30_000),
        };
        assert_eq!(host.lowered_to(asked), expect);
    }
}
