//! Host for environments without threads and without tokio: links the guest as a Rust library and
//! drives its sessions, for the adapters of WASI and of Fastly Compute.
//!
//! ```text
//!   HttpRequest ─→ Host ─→ Session::http ─→ step ⇄ wave ─→ HttpResponse
//!                                                  │
//!     cache ─→ align ─→ coalesce ─→ cut ─→ budget ─→ flights (all at once) ─→ checks ─→ supplies
//! ```
//!
//! An adapter provides a [`Platform`] (a clock and concurrent requests) and a [`Cache`]. `canter-waves` plans the requests
//! of a wave, `canter-stores` checks answers and stores blocks; the runtime uses both, too. Unlike the runtime, this host
//! has no concurrent searches with shared requests, no parallel leaf sessions, no hedging and no dry runs.

mod options;

mod cache;
mod platform;
mod reception;

mod flights;
mod portions;
mod search;
mod wave;

mod host;
mod settings;

pub use cache::{BlobCache, BlobStore, Cache, FolderCache};
pub use canter_waves::FetchError;
pub use host::{Answer, Host};
pub use options::Options;
pub use platform::{Call, Landed, Outcome, Platform};
pub use reception::Reception;
pub use search::Counts;
pub use settings::{parse_bytes, parse_indexes, parse_url};

#[cfg(test)]
mod tests;
