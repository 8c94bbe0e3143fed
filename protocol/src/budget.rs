//! What a search may take.

use serde::Deserialize;

/// What one search may take; `None` is no limit. When a limit is reached the search goes on with what it has, and its
/// answer says `budget_exhausted` and names the splits that it skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Maximum number of requests to the store, with repetitions and hedges.
    pub max_requests: Option<u64>,
    /// Maximum number of bytes read.
    pub max_bytes: Option<u64>,
    /// Maximum number of waves: dependent rounds of requests.
    pub max_waves: Option<u64>,
    /// Time from the request to its answer, in milliseconds. Reads are given up a little before, so that what has
    /// arrived can still be answered with.
    pub deadline_ms: Option<u64>,
}

impl Budget {
    /// Returns the lower of each limit: what a host allows, and what a request asks for.
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
