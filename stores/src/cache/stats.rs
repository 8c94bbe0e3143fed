//! Statistics of a cache since it was opened, and the counters behind them.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use canter_protocol::ByteClass;
use serde::Serialize;

/// Statistics of a cache by layer, the fastest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    /// One element for each layer.
    pub layers: Vec<LayerStats>,
}

/// Statistics of one layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerStats {
    /// Name of the layer: `memory` or `disk`.
    pub layer: &'static str,
    /// One element for each class, in the order of [`ByteClass::ALL`].
    pub classes: [ClassStats; ByteClass::ALL.len()],
}

/// Statistics of one layer for one class. All but `held_bytes` only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassStats {
    /// Number of lookups that found everything.
    pub num_hits: u64,
    /// Number of lookups that found a part or nothing.
    pub num_misses: u64,
    /// Number of bytes returned, including those of incomplete lookups.
    pub num_hit_bytes: u64,
    /// Number of bytes stored.
    pub num_put_bytes: u64,
    /// Number of blocks and entries evicted.
    pub num_evictions: u64,
    /// Number of damaged blocks and entries: each was a miss, and was removed.
    pub num_corrupt: u64,
    /// Number of dropped puts: the queue was full, or the disk failed.
    pub num_dropped_puts: u64,
    /// Number of bytes in use, if the layer tracks it. Classes that share a budget report it at the
    /// first of them.
    pub held_bytes: Option<u64>,
}

impl LayerStats {
    /// Returns the statistics of one class.
    pub fn class(&self, class: ByteClass) -> ClassStats {
        self.classes[class.ord()]
    }
}

/// Counters of one layer, shared between threads.
#[derive(Debug, Default)]
pub struct Counters([ClassCounters; ByteClass::ALL.len()]);

/// Counters of one class.
#[derive(Debug, Default)]
pub struct ClassCounters {
    hits: AtomicU64,
    misses: AtomicU64,
    hit_bytes: AtomicU64,
    put_bytes: AtomicU64,
    evictions: AtomicU64,
    corrupt: AtomicU64,
    dropped_puts: AtomicU64,
}

impl Counters {
    /// Returns the counters of one class.
    pub fn class(&self, class: ByteClass) -> &ClassCounters {
        &self.0[class.ord()]
    }

    /// Returns the current values, under the layer's name.
    pub fn snapshot(&self, layer: &'static str) -> LayerStats {
        LayerStats {
            layer,
            classes: ByteClass::ALL.map(|class| self.class(class).snapshot()),
        }
    }
}

impl ClassCounters {
    /// Records a lookup that wanted `wanted` bytes and found `found`.
    pub fn looked_up(&self, wanted: u64, found: u64) {
        match found >= wanted {
            true => self.hits.fetch_add(1, Relaxed),
            false => self.misses.fetch_add(1, Relaxed),
        };
        self.hit_bytes.fetch_add(found, Relaxed);
    }

    /// Records a lookup of an entry of unknown length.
    pub fn looked_up_entry(&self, found: Option<usize>) {
        let found = found.map(|len| len as u64);
        self.looked_up(found.unwrap_or(1), found.unwrap_or(0));
    }

    /// Records bytes that were stored.
    pub fn took_in(&self, num_bytes: u64) {
        self.put_bytes.fetch_add(num_bytes, Relaxed);
    }

    /// Records blocks and entries that were evicted.
    pub fn evicted(&self, num: u64) {
        self.evictions.fetch_add(num, Relaxed);
    }

    /// Records a damaged block or entry.
    pub fn corrupt(&self) {
        self.corrupt.fetch_add(1, Relaxed);
    }

    /// Records a dropped put.
    pub fn dropped_put(&self) {
        self.dropped_puts.fetch_add(1, Relaxed);
    }

    fn snapshot(&self) -> ClassStats {
        ClassStats {
            num_hits: self.hits.load(Relaxed),
            num_misses: self.misses.load(Relaxed),
            num_hit_bytes: self.hit_bytes.load(Relaxed),
            num_put_bytes: self.put_bytes.load(Relaxed),
            num_evictions: self.evictions.load(Relaxed),
            num_corrupt: self.corrupt.load(Relaxed),
            num_dropped_puts: self.dropped_puts.load(Relaxed),
            held_bytes: None,
        }
    }
}
