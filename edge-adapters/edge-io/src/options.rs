//! Limits of a search, and options for the requests of its reads: plain data, with a default for
//! everything.

use canter_protocol::Budget;
use canter_stores::ranges::coalesce::CoalesceOptions;
use serde_json::{Map, Value};

/// Options of a host for each search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Maximum requests, bytes, waves and time. Requests to the API can only lower them.
    pub budget: Budget,
    /// Maximum processor time in milliseconds, on platforms that measure it. The guest then gets
    /// its data split by split, and splits beyond the limit are left out of the answer. A split is
    /// never interrupted, so the limit should be many times the time for one split.
    pub max_cpu_ms: Option<u64>,
    /// True if cached bytes also count towards the maximum number of bytes. This is meant for hosts
    /// that hold all of them in memory together.
    pub counts_cached_bytes: bool,
    /// Maximum number of concurrent requests.
    pub max_concurrent_requests: usize,
    /// Maximum age of a cached manifest that is used without a check; 0 checks it every time.
    pub manifest_ttl_ms: u64,
    /// Maximum number of retries of a request with a temporary error.
    pub max_retries: u32,
    /// Maximum number of retries in one search, which limits the load on a failing store.
    pub max_retries_in_all: u32,
    /// Conditions for merging two ranges into one request.
    pub coalesce: CoalesceOptions,
    /// Maximum length of a request. Longer ranges are fetched in concurrent parts.
    pub max_part_bytes: u64,
    /// Maximum length of a read to the end of an object.
    pub max_whole_object_bytes: u64,
    /// True if reads are extended to whole blocks of the cache.
    pub reads_blocks: bool,
    /// Limits of the guest, a JSON object that is passed on unchanged.
    pub guest_limits: Map<String, Value>,
    /// Query that every hit must match.
    pub forced_filter: Option<String>,
}

impl Default for Options {
    /// Defaults to 30 s, 64 concurrent requests, 3 retries of a request and 20 in total, parts of 8
    /// MiB, and whole objects of 64 MiB.
    fn default() -> Self {
        Self {
            budget: Budget {
                deadline_ms: Some(30_000),
                ..Budget::default()
            },
            max_cpu_ms: None,
            counts_cached_bytes: false,
            max_concurrent_requests: 64,
            manifest_ttl_ms: 0,
            max_retries: 3,
            max_retries_in_all: 20,
            coalesce: CoalesceOptions::default(),
            max_part_bytes: 8 << 20,
            max_whole_object_bytes: 64 << 20,
            reads_blocks: true,
            guest_limits: Map::new(),
            forced_filter: None,
        }
    }
}
