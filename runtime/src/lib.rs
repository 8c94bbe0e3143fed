//! Canter's host: drives a search session, fetches byte ranges, caches them, keeps the limits.
//!
//! The runtime handles objects, byte ranges and opaque cache keys. Splits, manifests and queries
//! belong to the guest, which runs either as a WebAssembly component (feature `wasm`) or linked as a
//! Rust library (feature `native`). With neither feature the crate still compiles, for a host that
//! provides its own [`engine::Engine`].
//!
//! ```text
//!   Searcher ── plan ─┬─ leaf ─┬─ root        one worker thread per guest instance
//!                     ├─ leaf ─┤
//!                     └─ leaf ─┘
//!      each session:  step ─→ demand ─→ cache ─→ join, coalesce ─→ fetch ─→ supplies ─→ step …
//! ```

// The laboratory depends on this crate, and some unit tests here search over its store all the same.
#[cfg(test)]
extern crate self as canter_runtime;

pub mod session;

pub mod cache;
pub mod clock;
#[cfg(feature = "doctor")]
pub mod doctor;
pub mod engine;
pub mod fetch;
#[cfg(test)]
#[path = "../../lab/src/lib.rs"]
pub mod lab;
pub mod observe;

mod drive;
mod io;
mod searcher;

pub use cache::RangeCache;
pub use canter_names::Api;
pub use canter_protocol::{Budget, ErrorKind, SearchError};
pub use canter_stores::parse_bytes;
pub use drive::interrupt::Interrupt;
pub use engine::Engine;
pub use fetch::RangeFetcher;
pub use io::ManifestOptions;
pub use observe::Metrics;
pub use observe::profile::{ClassCount, Profile, RequestRecord, Wave};
pub use searcher::{
    Caller, Explanation, HttpAnswer, InvalidMediaType, LeafAnswer, LeafRunner, Limits, MediaTypes,
    PlannedRead, SearchResponse, SearchText, Searcher, SearcherBuilder,
};
