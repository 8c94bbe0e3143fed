//! Caching what was fetched: one trait, one implementation per file.
//!
//! Only immutable objects are cached. The manifest is the one mutable object, so the driver never
//! passes a read of its class here.

mod contract;
mod memory;

pub use contract::{CachedPiece, RangeCache};
pub use memory::{BLOCK_LEN, MemoryCache};
