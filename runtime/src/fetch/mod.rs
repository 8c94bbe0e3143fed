//! Fetching byte ranges: one trait, one implementation or decorator per file.
//!
//! ```text
//!   Retry ─→ ObjectStoreFetcher | HttpFetcher | MemoryFetcher
//! ```
//!
//! Coalescing is no decorator: it needs all ranges of a wave at once, so the driver applies the pure
//! function of [`coalesce`] before it fetches. Nothing here sends a HEAD request, and nothing asks
//! for an object's size: a short answer is found by counting the bytes that came.

pub mod coalesce;
mod fetcher;
mod http;
mod memory;
mod object_store;
mod recording;
mod retry;
mod uri;

pub use coalesce::CoalesceOptions;
pub use fetcher::{
    ByteRange, FetchError, FetchErrorKind, FetchedRange, MAX_WHOLE_OBJECT_BYTES, RangeFetcher,
};
pub use http::{HttpFetcher, HttpOptions};
pub use memory::MemoryFetcher;
pub use object_store::ObjectStoreFetcher;
pub use recording::RecordingFetcher;
pub use retry::{Retry, RetryOptions};
pub use uri::{OpenOptions, open_uri};
