//! The costs of waves: requests, shared requests, and hits of the cache.

use canter_protocol::ByteClass;
use serde::{Deserialize, Serialize};

/// One request that went to the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestRecord {
    /// Object name relative to the index's URI.
    pub object: String,
    /// First byte.
    pub offset: u64,
    /// Number of bytes in the answer; for a failed request, the number requested (0 if open-ended).
    pub length: u64,
    /// Class of the largest read in it (several reads may have been coalesced).
    pub class: ByteClass,
    /// Number of the guest's reads that it answers.
    pub num_reads: u32,
    /// Number of repetitions after a failure.
    pub num_retries: u32,
    /// Time at which a second request for the same range was sent because the first was slow, in microseconds since
    /// the search began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hedged_us: Option<u64>,
    /// Time at which it was issued, in microseconds since the search began.
    pub start_us: u64,
    /// Time at which its last byte had arrived, in microseconds since the search began.
    pub end_us: u64,
    /// Description of the failure, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// All requests that were issued together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveRecord {
    /// The requests, in the order of their objects and offsets.
    pub requests: Vec<RequestRecord>,
}

impl WaveRecord {
    /// Returns the number of bytes that arrived and were used.
    pub fn num_bytes(&self) -> u64 {
        let used = self.requests.iter().filter(|sent| sent.error.is_none());
        used.map(|sent| sent.length).sum()
    }
}

/// A count per [`ByteClass`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCount([u64; ByteClass::ALL.len()]);

impl ClassCount {
    /// Returns the count of one class.
    pub fn get(&self, class: ByteClass) -> u64 {
        self.0[class.ord()]
    }

    /// Returns the sum over all classes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds `count` to one class.
    pub fn add(&mut self, class: ByteClass, count: u64) {
        self.0[class.ord()] += count;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &ClassCount) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}

/// The cost of one wave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Costs {
    /// The requests that were sent. A wave without any does not count as one.
    pub wave: WaveRecord,
    /// Number of requests of other searches that were waited for, or whose bytes were in the cache meanwhile.
    pub num_shared_requests: u64,
    /// Reads and look-ups that the cache answered in full.
    pub num_cache_hits: ClassCount,
    /// Reads and look-ups that the cache could have answered but did not, or only in part.
    pub num_cache_misses: ClassCount,
    /// Number of bytes that came from the cache.
    pub num_cache_bytes: u64,
}
