//! The indexer function: an object that arrives in a bucket becomes splits of an index.
//!
//! ```text
//!   event.rs ──▶ object.rs ──▶ ingest (build, upload, publish) ──▶ report
//!   which objects  their bytes
//! ```
//!
//! Each object is an ingest of its own, so that an event that comes twice finds its splits published: a
//! split is named by its bytes, and the same object gives the same bytes. Several instances may publish
//! to one index at once, by compare and swap.

mod config;
mod event;
mod function;
mod object;

pub use config::IndexerConfig;
#[cfg(test)]
pub(crate) use config::VARIABLES;
pub use function::IndexerFunction;
