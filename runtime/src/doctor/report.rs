//! Options and results of an examination.

use std::time::Duration;

use serde::Serialize;

/// Settings of an examination.
#[derive(Clone, Debug, PartialEq)]
pub struct DoctorOptions {
    /// Number of small ranges that are timed.
    pub num_timed_ranges: usize,
    /// Maximum number of requests.
    pub max_requests: usize,
    /// Maximum number of body bytes that are read.
    pub max_bytes: u64,
    /// Maximum time to wait for an answer, and for its next bytes.
    pub timeout: Duration,
    /// Origin of the scripts that will read the index, for the browser checks.
    pub origin: String,
    /// True if browsers must be able to read the index. If so, problems of browsers are failures.
    pub is_for_browsers: bool,
    /// Name of the only object that may be replaced, such as a manifest. Caches must revalidate
    /// this object, but not others.
    pub mutable_object: Option<String>,
}

impl Default for DoctorOptions {
    /// Defaults to 20 ranges, at most 80 requests and 16 MiB, and 10 s.
    fn default() -> Self {
        Self {
            num_timed_ranges: 20,
            max_requests: 80,
            max_bytes: 16 << 20,
            timeout: Duration::from_secs(10),
            origin: "https://canter.example".to_owned(),
            is_for_browsers: false,
            mutable_object: None,
        }
    }
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// No problem.
    Ok,
    /// Canter works, but more slowly, or a browser does not work.
    Warning,
    /// A requirement is not met.
    Failed,
    /// The check was not possible.
    Skipped,
}

/// Single check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name.
    pub name: &'static str,
    /// Result.
    pub status: CheckStatus,
    /// Observation.
    pub seen: String,
    /// Change that fixes the problem, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The change as lines of a configuration, if available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<String>,
}

impl Check {
    fn new(name: &'static str, status: CheckStatus, seen: impl Into<String>) -> Self {
        Self {
            name,
            status,
            seen: seen.into(),
            change: None,
            example: None,
        }
    }

    pub(super) fn ok(name: &'static str, seen: impl Into<String>) -> Self {
        Self::new(name, CheckStatus::Ok, seen)
    }

    pub(super) fn skipped(name: &'static str, why: impl Into<String>) -> Self {
        Self::new(name, CheckStatus::Skipped, why)
    }

    pub(super) fn warning(name: &'static str, seen: impl Into<String>, change: &str) -> Self {
        Self {
            change: Some(change.to_owned()),
            ..Self::new(name, CheckStatus::Warning, seen)
        }
    }

    pub(super) fn failed(name: &'static str, seen: impl Into<String>, change: &str) -> Self {
        Self {
            change: Some(change.to_owned()),
            ..Self::new(name, CheckStatus::Failed, seen)
        }
    }

    pub(super) fn with_example(self, example: Option<String>) -> Self {
        Self { example, ..self }
    }
}

/// Speed of the store from here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Number of small ranges that were timed.
    pub num_ranges: usize,
    /// Length of each small range.
    pub num_range_bytes: u64,
    /// Median time in milliseconds until a range begins to arrive.
    pub p50_ms: f64,
    /// 95th percentile of this time in milliseconds.
    pub p95_ms: f64,
    /// Bytes per second of one longer range, from its first byte on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
}

/// Results of an examination.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Object that was read, without the query of its URL, which may contain a signature.
    pub url: String,
    /// Length of the object in bytes, if the store reports it.
    pub object_len: Option<u64>,
    /// Checks in reading order.
    pub checks: Vec<Check>,
    /// Speed, if ranges could be read.
    pub timing: Option<Timing>,
    /// Number of requests that were sent.
    pub num_requests: usize,
    /// Number of body bytes that were read.
    pub num_bytes: u64,
}

impl Report {
    /// Returns whether Canter can use the store, that is, whether no check failed.
    pub fn is_fit(&self) -> bool {
        self.failed().next().is_none()
    }

    /// Returns the names of the failed checks.
    pub fn failed(&self) -> impl Iterator<Item = &'static str> {
        self.checks
            .iter()
            .filter(|check| check.status == CheckStatus::Failed)
            .map(|check| check.name)
    }
}
