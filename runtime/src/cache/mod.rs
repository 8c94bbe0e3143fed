//! Caches of fetched data: one trait, and one implementation per file.
//!
//! ```text
//!   TieredCache ─┬─ MemoryCache   microseconds, gone with the process
//!                └─ DiskCache     tens of microseconds, survives restarts, shared by processes
//! ```
//!
//! Immutable objects are kept in aligned blocks (`canter_stores::ranges`). The manifest, the only
//! mutable object, is kept as an opaque entry, which `io` writes with its ETag and replaces.

mod contract;
mod disk;
mod entries;
mod memory;
mod tiered;

#[cfg(test)]
mod conformance;

pub use canter_stores::CachedPiece;
pub use canter_stores::cache::{
    CacheOptions, CacheStats, ClassOptions, ClassStats, HeldFiles, LayerStats, MAX_BLOCK_LEN,
    MIN_BLOCK_LEN,
};
pub use contract::RangeCache;
pub use disk::DiskCache;
pub use entries::EntryCache;
pub use memory::MemoryCache;
pub use tiered::TieredCache;
