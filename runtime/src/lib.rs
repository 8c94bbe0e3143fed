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

mod error;
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

mod driver;
mod interrupt;
mod io;
mod limits;
mod profile;
mod searcher;
mod worker;

pub use cache::RangeCache;
pub use canter_names::Api;
pub use canter_protocol::{Budget, ErrorKind, SearchError};
pub use canter_stores::parse_bytes;
pub use engine::Engine;
pub use fetch::RangeFetcher;
pub use interrupt::Interrupt;
pub use io::ManifestOptions;
pub use limits::Limits;
pub use observe::Metrics;
pub use profile::{ClassCount, Profile, RequestRecord, Wave};
pub use searcher::{
    Caller, Explanation, HttpAnswer, InvalidMediaType, LeafAnswer, LeafRunner, MediaTypes,
    PlannedRead, SearchResponse, SearchText, Searcher, SearcherBuilder,
};
