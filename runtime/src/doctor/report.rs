//! What an examination is asked for, and what it found.

use std::time::Duration;

use serde::Serialize;

/// Settings of an examination.
#[derive(Clone, Debug, PartialEq)]
pub struct DoctorOptions {
    /// Small ranges that are timed.
    pub num_timed_ranges: usize,
    /// Most requests that are sent.
    pub max_requests: usize,
    /// Most bytes of bodies that are read.
    pub max_bytes: u64,
    /// Longest wait for an answer, and for the next bytes of one.
    pub timeout: Duration,
    /// The site whose scripts are to read the index, for the checks of browsers.
    pub origin: String,
    /// Whether browsers must be able to read it: then what keeps them out is a failure.
    pub is_for_browsers: bool,
    /// Name of the one object that may be replaced, such as a manifest: caches must ask about it, and
    /// need not about others.
    pub mutable_object: Option<String>,
}

impl Default for DoctorOptions {
    /// 20 ranges; 80 requests and 16 MiB at most; 10 s.
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

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// As it should be.
    Ok,
    /// Canter works, but slower, or a browser does not.
    Warning,
    /// Not as it must be.
    Failed,
    /// Could not be found out.
    Skipped,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Its stable name.
    pub name: &'static str,
    /// How it ended.
    pub status: CheckStatus,
    /// What was seen.
    pub seen: String,
    /// What to change, if something should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The change as lines of a configuration, where there are any.
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

/// How fast the store is from here.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// Small ranges that were timed.
    pub num_ranges: usize,
    /// Bytes of each.
    pub num_range_bytes: u64,
    /// Half of the ranges began to arrive within this many milliseconds.
    pub p50_ms: f64,
    /// 95 % of them did.
    pub p95_ms: f64,
    /// Bytes per second of one longer range, once it had begun.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The object that was read, without the query of its URL, which may be a signature.
    pub url: String,
    /// Its length in bytes, if the store tells.
    pub object_len: Option<u64>,
    /// The checks, in the order to read them.
    pub checks: Vec<Check>,
    /// How fast it was, if ranges could be read.
    pub timing: Option<Timing>,
    /// Requests that were sent.
    pub num_requests: usize,
    /// Bytes of bodies that were read.
    pub num_bytes: u64,
}

impl Report {
    /// Whether Canter can use the store: no check failed.
    pub fn is_fit(&self) -> bool {
        self.failed().next().is_none()
    }

    /// The names of the checks that failed.
    pub fn failed(&self) -> impl Iterator<Item = &'static str> {
        self.checks
            .iter()
            .filter(|check| check.status == CheckStatus::Failed)
            .map(|check| check.name)
    }
}
