//! What a cache has done since it was made: plain data, and the counters behind it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

use crate::ByteClass;

/// The statistics of a cache, layer by layer, the fastest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CacheStats {
    /// One element for each layer.
    pub layers: Vec<LayerStats>,
}

/// The statistics of one layer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LayerStats {
    /// The layer's name: `memory` or `disk`.
    pub layer: &'static str,
    /// One element for each class, in the order of [`ByteClass::ALL`].
    pub classes: [ClassStats; ByteClass::ALL.len()],
}

/// What a layer has done for one class. All but `held_bytes` only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClassStats {
    /// Lookups that found everything they asked for.
    pub num_hits: u64,
    /// Lookups that lacked something.
    pub num_misses: u64,
    /// Bytes handed out, those of lookups that lacked something included.
    pub num_hit_bytes: u64,
    /// Bytes taken in.
    pub num_put_bytes: u64,
    /// Blocks and entries pushed out by others.
    pub num_evictions: u64,
    /// Blocks and entries that were damaged: each was a miss, and was removed.
    pub num_corrupt: u64,
    /// Puts that came to nothing: the queue was full, or the disk failed.
    pub num_dropped_puts: u64,
    /// Bytes in use now, where the layer knows without looking; classes with a common budget give
    /// it at the first of them.
    pub held_bytes: Option<u64>,
}

impl LayerStats {
    /// The statistics of one class.
    pub fn class(&self, class: ByteClass) -> ClassStats {
        self.classes[class.ord()]
    }
}

/// The counters of one layer, shared by threads.
#[derive(Debug, Default)]
pub struct Counters([ClassCounters; ByteClass::ALL.len()]);

/// The counters of one class.
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
    /// Those of one class.
    pub fn class(&self, class: ByteClass) -> &ClassCounters {
        &self.0[class.ord()]
    }

    /// What they say now, under the layer's name.
    pub fn snapshot(&self, layer: &'static str) -> LayerStats {
        LayerStats {
            layer,
            classes: ByteClass::ALL.map(|class| self.class(class).snapshot()),
        }
    }
}

impl ClassCounters {
    /// A lookup that wanted `wanted` bytes and found `found`.
    pub fn looked_up(&self, wanted: u64, found: u64) {
        match found >= wanted {
            true => self.hits.fetch_add(1, Relaxed),
            false => self.misses.fetch_add(1, Relaxed),
        };
        self.hit_bytes.fetch_add(found, Relaxed);
    }

    /// A lookup of an entry of unknown length.
    pub fn looked_up_entry(&self, found: Option<usize>) {
        let found = found.map(|len| len as u64);
        self.looked_up(found.unwrap_or(1), found.unwrap_or(0));
    }

    /// Bytes that were put.
    pub fn took_in(&self, num_bytes: u64) {
        self.put_bytes.fetch_add(num_bytes, Relaxed);
    }

    /// Blocks and entries that others pushed out.
    pub fn evicted(&self, num: u64) {
        self.evictions.fetch_add(num, Relaxed);
    }

    /// A damaged block or entry.
    pub fn corrupt(&self) {
        self.corrupt.fetch_add(1, Relaxed);
    }

    /// A put that came to nothing.
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
