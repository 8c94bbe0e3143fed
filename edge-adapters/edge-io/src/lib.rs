//! A host for places without threads and without tokio: it links the guest as a Rust library and drives
//! its sessions, for the adapters of WASI and of Fastly Compute.
//!
//! ```text
//!   HttpRequest ─→ Host ─→ Session::http ─→ step ⇄ wave ─→ HttpResponse
//!                                                  │
//!     cache ─→ align ─→ coalesce ─→ cut ─→ budget ─→ flights (all at once) ─→ checks ─→ supplies
//! ```
//!
//! What an adapter brings is a [`Platform`] (a clock, and requests that are under way side by side) and a
//! [`Cache`]. Which requests a wave becomes, what an answer must look like and how blocks are kept is
//! `canter-stores`, which the runtime uses too. What the runtime has and this has not: several searches
//! in one process that share their traffic, leaf sessions in parallel, hedging, dry runs.

mod fetch_error;
mod options;

mod cache;
mod platform;
mod reception;

mod flights;
mod gate;
mod portions;
mod reads;
mod search;
mod wave;

mod host;
mod settings;

pub use cache::{BlobCache, BlobStore, Cache, FolderCache};
pub use fetch_error::FetchError;
pub use host::{Answer, Host};
pub use options::Options;
pub use platform::{Call, Landed, Outcome, Platform};
pub use reception::Reception;
pub use search::Counts;
pub use settings::{parse_bytes, parse_indexes, parse_url};

#[cfg(test)]
mod tests;
