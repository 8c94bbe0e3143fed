//! What one search may take and how its reads become requests: plain data, with a default for everything.

use canter_protocol::Budget;
use canter_stores::ranges::coalesce::CoalesceOptions;
use serde_json::{Map, Value};

/// What a host allows each search.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Most requests, bytes, waves and time. A request of the API can only lower them.
    pub budget: Budget,
    /// Most milliseconds of the processor, where the platform tells how many were taken. The guest is given what
    /// it asked for split by split then, and splits beyond the limit are left out of the answer. A split is never
    /// interrupted, so the limit should be many times what one takes.
    pub max_cpu_ms: Option<u64>,
    /// Whether bytes that the cache has count as well towards the most bytes: where those are in memory together.
    pub counts_cached_bytes: bool,
    /// Requests under way at once.
    pub max_concurrent_requests: usize,
    /// A cached manifest younger than this is used as it is; 0 asks each time whether it has changed.
    pub manifest_ttl_ms: u64,
    /// Repetitions of one request whose failure may pass.
    pub max_retries: u32,
    /// Repetitions in one search: a store that is down is not asked several times as often.
    pub max_retries_in_all: u32,
    /// When two ranges become one request.
    pub coalesce: CoalesceOptions,
    /// A longer range is fetched in parts, side by side.
    pub max_part_bytes: u64,
    /// Longest read to the end of an object.
    pub max_whole_object_bytes: u64,
    /// Whether reads are widened to whole blocks of the cache.
    pub reads_blocks: bool,
    /// The guest's own limits, a JSON object that is passed on as it is.
    pub guest_limits: Map<String, Value>,
    /// A query that every hit must match.
    pub forced_filter: Option<String>,
}

impl Default for Options {
    /// 30 s, 64 requests at once, 3 repetitions of a request and 20 in all, parts of 8 MiB, whole objects of
    /// 64 MiB.
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
