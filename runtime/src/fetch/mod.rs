//! Fetching of byte ranges: one trait, and one implementation or decorator per file.
//!
//! ```text
//!   Retry ─→ Hedge ─→ (the search's gate) ─→ ObjectStoreFetcher | HttpFetcher | MemoryFetcher
//! ```
//!
//! Coalescing is not a decorator, because it needs all ranges of a wave at once; `io` applies the
//! pure function in [`coalesce`] before it fetches. There are no HEAD requests, and no requests for
//! an object's length: incomplete answers are detected by counting the received bytes.

mod by_index;
mod fetcher;
#[cfg(feature = "remote")]
mod http;
mod http_options;
mod memory;
mod namespace;
mod object_store;
mod recording;
mod repeats;
mod uri;

pub(crate) use by_index::{ByIndex, OpenIndex, OpenIndexes};
pub use canter_protocol::FetchErrorKind;
pub use canter_stores::ranges::coalesce::{self, CoalesceOptions};
pub use canter_stores::{Settings, StoreFault};
pub use fetcher::{
    ByteRange, FetchError, FetchedRange, Hedged, MAX_WHOLE_OBJECT_BYTES, RangeFetcher,
};
#[cfg(feature = "remote")]
pub use http::HttpFetcher;
pub use http_options::HttpOptions;
pub use memory::MemoryFetcher;
pub(crate) use namespace::cache_namespace;
pub use object_store::ObjectStoreFetcher;
#[cfg(any(feature = "remote", test))]
pub(crate) use object_store::with_causes;
pub use recording::RecordingFetcher;
pub(crate) use repeats::{Hedge, HedgeState, Pace, RetryState};
pub use repeats::{HedgeOptions, Retry, RetryOptions};
pub(crate) use uri::open_store;
pub use uri::{OpenOptions, open_uri};
