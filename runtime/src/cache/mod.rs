//! Caching what was fetched: one trait, one implementation per file.
//!
//! ```text
//!   TieredCache ─┬─ MemoryCache   microseconds, gone with the process
//!                └─ DiskCache     tens of microseconds, survives restarts, shared by processes
//! ```
//!
//! Immutable objects are kept in aligned blocks (`blocks.rs`). The manifest is the one mutable object:
//! it is kept as an opaque entry only, which `io` writes with its ETag and replaces.

mod blocks;
mod contract;
mod disk;
mod memory;
mod options;
mod stats;
mod tiered;

#[cfg(test)]
mod conformance;

pub use contract::{CachedPiece, RangeCache};
pub use disk::{DiskCache, HeldFiles};
pub use memory::MemoryCache;
pub use options::{CacheOptions, ClassOptions, MAX_BLOCK_LEN, MIN_BLOCK_LEN};
pub use stats::{CacheStats, ClassStats, LayerStats};
pub use tiered::TieredCache;
